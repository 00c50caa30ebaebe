#!/bin/sh
# stdio.sh: the three standard streams belong to the command, untouched.
. "$(dirname "$0")/lib.sh"

i=0
while [ $i -lt 2000 ]; do
    echo "line $i of something long enough to fill a pipe more than once"
    i=$((i + 1))
done >"$dir/data"
"$HOLDFAST" run a cat <"$dir/data" >"$dir/copy"
check "stdin to stdout, whole" cmp -s "$dir/data" "$dir/copy"
cat "$dir/data" | "$HOLDFAST" run a cat | cat >"$dir/copy"
check "through pipes as well" cmp -s "$dir/data" "$dir/copy"
"$HOLDFAST" run a -c 'echo out; echo err >&2' >"$dir/o" 2>"$dir/e"
check "stdout is only the command's" file_is "$dir/o" out
check "stderr too" file_is "$dir/e" err
"$HOLDFAST" run a cat <&- >"$dir/o" 2>"$dir/e"
check "a closed stdin reads as empty" file_is "$dir/o" ""
"$HOLDFAST" run a true >&- 2>&- <&-
check "all of them closed" test $? -eq 0
"$HOLDFAST" acquire b >&- 2>"$dir/err"
check "a ticket that cannot be printed" test $? -eq 70
check "is told of" err_has '^holdfast: standard output: cannot be written: '
check "and its lock is free" free b
"$HOLDFAST" run a yes 2>/dev/null | head -1 >"$dir/o"
check "a closed pipe ends the command" file_is "$dir/o" y
wait_for "and frees the lock" free a
ours=$("$HOLDFAST" run --url memory: a ls /proc/self/fd | wc -l)
usual=$(ls /proc/self/fd | wc -l)
check "one descriptor more than usual, the status pipe" \
    test "$ours" -eq $((usual + 1))
# A bare chroot has no terminals to be had.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    # Without the terminal handed over, the read would stop the command.
    echo hello | timeout 60 script -qec \
        "$HOLDFAST run a sh -c 'read x; echo got \$x; exit 3'" /dev/null \
        >"$dir/out" 2>"$dir/err"
    check "the command can read from the terminal" out_has 'got hello'
    echo hello | timeout 60 script -qec \
        "$HOLDFAST run --foreground a sh -c 'read x; echo got \$x'" \
        /dev/null >"$dir/out" 2>"$dir/err"
    check "with --foreground too" out_has 'got hello'

    # A user at a terminal is told what is waited for, before it is free.
    : >"$dir/typed"
    background "$HOLDFAST" run t -- sh -c \
        'echo >"$dir/began"; until grep -q "t: waiting: held by" "$dir/typed"
         do sleep 0.05; done'
    need_file "$dir/began"
    timeout 90 script -qefc "$HOLDFAST run t true" "$dir/typed" >/dev/null 2>&1 \
        </dev/null
    check "at a terminal the holder is told of" test $? -eq 0
    finished_with 0 "which the holder has seen"
    : >"$dir/typed"
    background "$HOLDFAST" run --url "sqlite:$dir/t.db" --slots 1 t -- sh -c \
        'until grep -q -e "not built in" -e "waiting: all slots" "$dir/typed"
         do sleep 0.05; done'
    wait_quietly held --url "sqlite:$dir/t.db" t
    timeout 90 script -qefc \
        "$HOLDFAST run --url sqlite:$dir/t.db --slots 1 t true" "$dir/typed" \
        >/dev/null 2>&1 </dev/null
    check "as are slots" grep -q -e 'not built in' -e 'waiting: all slots' \
        "$dir/typed"
    kill "$job" 2>/dev/null
    background "$HOLDFAST" run t -- sh -c \
        'echo >"$dir/began2"; until test -s "$dir/over"; do sleep 0.05; done'
    need_file "$dir/began2"
    : >"$dir/typed"
    timeout 90 script -qefc "$HOLDFAST run -q -w 1500ms t true" "$dir/typed" \
        >/dev/null 2>&1 </dev/null
    refute "with -q nothing is said" grep -q waiting "$dir/typed"
    expect 75 "nor without a terminal" "$HOLDFAST" run -w 1500ms t true
    refute "where the end says it" err_has waiting
    echo >"$dir/over"
    finished_with 0 "and the holder ends"
fi
expect 0 "-- ends the options" "$HOLDFAST" run a -- echo -n -- -x
check "of ours, not of the command" out_has '^-- -x'
expect 0 "options of the command are its own" "$HOLDFAST" run a printf -- %s -n
check "all of them" file_is "$dir/out" -n
expect 0 "options behind NAME" "$HOLDFAST" run a -w 5 -- echo hello
check "are ours" file_is "$dir/out" hello
finish
