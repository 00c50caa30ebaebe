# picture.awk: the events of picture.sh as an SVG of 800 by 470.
# A lane for each: client A, the lock, client B, the file.
NR == 1 { start = $1 }
{ at[$2] = ($1 - start) / 1000; value[$2] = $3 }
$2 == "a-held" { renewed[++renewals] = at[$2] }

function x(seconds) { return 112 + seconds * 660 / last }
function text(left, y, class, words, anchor) {
    printf "<text x=\"%.1f\" y=\"%d\" class=\"%s\" text-anchor=\"%s\">%s</text>\n",
        left, y, class, anchor ? anchor : "start", words
}
function bar(from, to, y, class) {
    printf "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"26\" rx=\"4\" class=\"%s\"/>\n",
        x(from), y, x(to) - x(from), class
}
function rule(seconds, y1, y2, class) {
    printf "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" class=\"%s\"/>\n",
        x(seconds), x(seconds), y1, y2, class
}
function cross(seconds, y) {
    printf "<path d=\"M%.1f %dl12 12m0 -12l-12 12\" class=\"cross\"/>\n",
        x(seconds) - 6, y - 6
}
function tick(seconds, y) {
    printf "<path d=\"M%.1f %dl5 6l9 -11\" class=\"done\"/>\n", x(seconds) - 6, y
}
function seconds_of(event) { return sprintf("%.2f s", at[event]) }

END {
    last = int(at["b-exit"] * 2 + 1) / 2
    # The last answer that client A had says how long its hold is valid.
    lost = at["lost"] = at["a-held"] + value["a-held"] / 1000
    if (lost > at["b-has"]) {
        print "picture: the machine is too busy: try again" >"/dev/stderr"
        exit 1
    }
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 470\" width=\"800\" height=\"470\" role=\"img\" aria-labelledby=\"t\">"
    print "<title id=\"t\">Client A is paused past its lease. Its hold is lost before the lease ends, client B is granted the lock with a higher fence, and the late write of client A is refused.</title>"
    print "<style>"
    print "text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}"
    print ".h{font-size:17px;font-weight:600}.s{font-size:12px;fill:#59636e}.b{font-weight:600}"
    print ".r{fill:#b3261e;font-weight:600}.g{fill:#14692c;font-weight:600}.w{fill:#fff;font-weight:600}"
    print ".held{fill:#2da44e}.pause{fill:url(#p);stroke:#8c959f}.a{fill:#0969da}.bb{fill:#6f42c1}"
    print ".wait{fill:#eef1f4;stroke:#8c959f;stroke-dasharray:4 3}.lane{stroke:#d1d9e0}.axis{stroke:#8c959f}"
    print ".lost{stroke:#b3261e;stroke-width:2}.end{stroke:#59636e;stroke-dasharray:3 3}"
    print ".ok{stroke:#14692c;stroke-width:1.5}.no{stroke:#b3261e;stroke-width:1.5;stroke-dasharray:5 3}"
    print ".cross{stroke:#b3261e;stroke-width:3;fill:none}.done{stroke:#14692c;stroke-width:3;fill:none}"
    print "</style>"
    print "<defs><pattern id=\"p\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"8\" height=\"8\" fill=\"#eaeef2\"/><rect width=\"3\" height=\"8\" fill=\"#c8d1da\"/></pattern></defs>"
    print "<rect x=\"0.5\" y=\"0.5\" width=\"799\" height=\"469\" rx=\"8\" fill=\"#ffffff\" stroke=\"#d1d9e0\"/>"
    text(20, 32, "h", "A paused holder's late write is refused")
    text(20, 52, "s", "One real run: " version " on Redis, lease 3 s, " day ". Times in seconds.")

    for (y = 113; y <= 323; y += 70)
        printf "<line x1=\"112\" x2=\"780\" y1=\"%d\" y2=\"%d\" class=\"lane\"/>\n", y, y
    text(20, 118, "b", "client A")
    text(20, 188, "b", "the lock")
    text(20, 258, "b", "client B")
    text(20, 328, "b", "the file")

    # Client A: held, paused, awake again.
    bar(at["a-has"], at["a-paused"], 100, "held")
    bar(at["a-paused"], at["a-wakes"], 100, "pause")
    text(x(at["a-has"]), 90, "g", "HELD, fence " value["a-has"])
    text(x((at["a-paused"] + lost) / 2), 118, "b", "paused (SIGSTOP)", "middle")
    rule(lost, 94, 154, "lost")
    text(x(lost) - 7, 150, "r", "LOST by its own clock: " seconds_of("lost"), "end")
    text(x(at["a-wakes"]), 90, "r", "wakes up, writes", "middle")

    # The lock, as the server has it.
    bar(at["a-has"], at["b-has"], 170, "a")
    text(x(at["a-has"]) + 10, 188, "w", "A's lease")
    for (i = 2; i <= renewals; i++) rule(renewed[i], 126, 170, "ok")
    if (renewals > 1) text(x(renewed[2]) - 6, 152, "s", "renewed", "end")
    bar(at["b-has"], at["b-exit"], 170, "bb")
    text(x(at["b-has"]) + 10, 188, "w", "B's lease")
    text(x(at["b-has"]) + 4, 163, "s", "granted to B: " seconds_of("b-has"))

    # Client B: waits, holds.
    bar(at["b-asks"], at["b-has"], 240, "wait")
    text(x((at["b-asks"] + at["b-has"]) / 2), 258, "s", "waits for the lock", "middle")
    bar(at["b-has"], at["b-exit"], 240, "held")
    text(x(at["b-has"]), 232, "g", "HELD, fence " value["b-has"])

    # The file, which keeps the highest fence it has seen.
    rule(at["b-written"], 266, 312, "ok")
    tick(at["b-written"], 322)
    text(x(at["b-written"]) + 8, 350, "g", "B's write: done", "end")
    rule(at["a-refused"], 126, 216, "no")
    rule(at["a-refused"], 238, 312, "no")
    cross(at["a-refused"], 323)
    text(784, 350, "r", "A's write: refused,", "end")
    text(784, 368, "r", "its fence is too low", "end")

    printf "<line x1=\"112\" x2=\"780\" y1=\"400\" y2=\"400\" class=\"axis\"/>\n"
    for (t = 0; t <= last; t++) {
        rule(t, 396, 404, "axis")
        text(x(t), 422, "s", t " s", "middle")
    }
    text(20, 450, "s", "holdfast was paused with client A's command; when both woke up it ended the command: exit " value["a-exit"] ", lost.")
    print "</svg>"
}
