#!/bin/sh
# json.sh: run --json tells everything as lines of JSON, and always ends with
# the event "end".
. "$(dirname "$0")/lib.sh"

# ends TEXT REASON CODE: the last line of $dir/err is that end.
ends() {
    check "$1: ends with $2" same \
        "$(tail -1 "$dir/err" | sed 's/\("exit":[0-9]*\).*/\1/')" \
        "{\"event\":\"end\",\"reason\":\"$2\",\"exit\":$3"
    check "$1: only once" test "$(grep -c '"event":"end"' "$dir/err")" -eq 1
    check "$1: nothing but JSON" \
        test "$(grep -c -v '^{"event":".*}$' "$dir/err")" -eq 0
}

expect 0 "a command" "$HOLDFAST" run --json a true
ends "a command" exit 0
check "acquired" err_has '"event":"acquired","lock":"a","fence":[1-9]'
check "started" err_has '"event":"started","lock":"a","pid":[1-9]'
expect 7 "a failing command" "$HOLDFAST" run --json a -c 'exit 7'
ends "a failing command" exit 7
expect 143 "a killed command" "$HOLDFAST" run --json a -c 'kill $$'
ends "a killed command" signal 143
expect 127 "no command" "$HOLDFAST" run --json a no-such-command-x
ends "no command" cannot-run 127
expect 124 "--max-hold" "$HOLDFAST" run --json --max-hold 1s a sleep 600
ends "--max-hold" max-hold 124
expect 78 "a bad URL" "$HOLDFAST" run --json --url gopher://x a true
ends "a bad URL" configuration 78
if has_redis; then
    expect 69 "no server" \
        "$HOLDFAST" run --json --url redis://127.0.0.1:1 a true
    ends "no server" unreachable 69
fi
expect 64 "wrong use" "$HOLDFAST" run --json a
ends "wrong use" usage 64

background "$HOLDFAST" run a sleep 600
wait_for "held" held a
expect 75 "busy" "$HOLDFAST" run --json -n a true
ends "busy" busy 75
expect 75 "timeout" "$HOLDFAST" run --json -w 3 a true
ends "timeout" timeout 75
expect 0 "skipped" "$HOLDFAST" run --json -n --skip-ok a true
ends "skipped" busy 0
kill "$job"
finished_with 143 "the holder"

"$HOLDFAST" run --json=3 a -c 'echo hello >&2; ls /proc/$$/fd' \
    3>"$dir/events" >"$dir/out" 2>"$dir/err"
check "--json=FD leaves stderr alone" file_is "$dir/err" hello
check "and goes there" grep -q '"event":"end"' "$dir/events"
refute "the command does not get it" out_has '^3$'
finish
