#!/bin/sh
# exit.sh: every exit code of the command has its cause, and no other.
. "$(dirname "$0")/lib.sh"

expect 0 "the command's own 0" "$HOLDFAST" run a true
expect 7 "the command's own 7" "$HOLDFAST" run a -- sh -c 'exit 7'
expect 255 "the command's own 255" "$HOLDFAST" run a -c 'exit 255'
expect 143 "128+15 for TERM" "$HOLDFAST" run a -c 'kill $$'
expect 137 "128+9 for KILL" "$HOLDFAST" run a -c 'kill -9 $$'
expect 127 "a command that is not there" "$HOLDFAST" run a no-such-command-x
check "names the command" err_has 'no-such-command-x: cannot be run'
expect 126 "a command that is no program" "$HOLDFAST" run a -- "$dir"
expect 126 "a file without x" "$HOLDFAST" run a -- /etc/passwd
check "the lock is free after it all" free a

background "$HOLDFAST" run --label keeper a sleep 600
# The kernel's lock comes first, and then the record that says whose it is.
known() { "$HOLDFAST" status a | grep -q keeper; }
wait_for "held, and known" known
expect 75 "busy with -n" "$HOLDFAST" run -n a true
check "says who holds it" err_has "a: not acquired: held by .*pid $job"
check "and how it calls itself" err_has 'keeper'
expect 75 "busy with -w" "$HOLDFAST" run -w 3 a true
check "says how long it waited" err_has 'not acquired after 3s'
expect 75 "-w 0 is -n" "$HOLDFAST" run -w 0 a true
expect 33 "-E" "$HOLDFAST" run -n -E 33 a true
expect 0 "-E 0" "$HOLDFAST" run -n -E 0 a true
expect 0 "--skip-ok" "$HOLDFAST" run -n --skip-ok a -- touch "$dir/ran"
refute "--skip-ok ran nothing" test -e "$dir/ran"
expect 75 "acquire of a busy lock" "$HOLDFAST" acquire -n a
expect 9 "acquire -E" "$HOLDFAST" acquire -n -E 9 a
expect 0 "another name is free" "$HOLDFAST" run -n b true
kill "$job"
finished_with 143 "TERM is passed on"

expect 78 "an unknown scheme" "$HOLDFAST" run --url gopher://x a true
expect 78 "an unknown option in the URL" \
    "$HOLDFAST" run --url 'file:?wibble=1' a true
expect 78 "a port out of range" \
    "$HOLDFAST" run --url redis://127.0.0.1:99999 a true
if has_redis; then
    expect 69 "a server that is not there" \
        "$HOLDFAST" run --url redis://127.0.0.1:1 a -- touch "$dir/ran"
fi
refute "nothing ran without a lock" test -e "$dir/ran"
# The name is printed once: the library's error texts do not begin with it.
named_once() {
    err_has "^holdfast: $1: " && [ "$(grep -o "$1: " "$dir/err" | wc -l)" -eq 1 ]
}
for words in run acquire status release; do
    has_redis || break
    set -- zebra
    if [ $words = run ]; then set -- zebra true; fi
    if [ $words = release ]; then set -- zebra hf2:no:ticket; fi
    "$HOLDFAST" $words --url redis://127.0.0.1:1 "$@" 2>"$dir/err"
    check "$words names the lock once" named_once zebra
done
if has_redis; then
    expect 69 "status of a server that is not there" \
        "$HOLDFAST" status --url redis://127.0.0.1:1 a
    expect 69 "acquire from a server that is not there" \
        "$HOLDFAST" acquire --url redis://127.0.0.1:1 a
fi
expect 78 "-F on a store without kernel locks" \
    "$HOLDFAST" run -F --url memory: a true

mkdir "$dir/closed"
chmod 500 "$dir/closed"
if [ "$(id -u)" -ne 0 ]; then
    expect 77 "a directory that cannot be written" \
        "$HOLDFAST" run --url "file:$dir/closed" a true
elif command -v setpriv >/dev/null; then
    chmod 755 "$dir"
    mkdir "$dir/bin"
    cp "$HOLDFAST" "$dir/bin/holdfast"
    chmod 755 "$dir/bin" "$dir/bin/holdfast"
    expect 77 "a directory that cannot be written" \
        setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$dir/bin/holdfast" run --url "file:$dir/closed" a true
fi
finish
