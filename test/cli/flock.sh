#!/bin/sh
# flock.sh: on a file, holdfast and flock(1) exclude each other, and flock's
# letters mean what they mean there.
. "$(dirname "$0")/lib.sh"
need_program flock
file=$dir/the-lock

background flock -F "$file" sleep 600
wait_for "flock has it" sh -c "! flock -n '$file' true"
expect 75 "flock keeps us out" "$HOLDFAST" run -n "$file" true
expect 75 "for a while, too" "$HOLDFAST" run -w 3 "$file" true
expect 75 "and readers" "$HOLDFAST" run -n -s "$file" true
expect 0 "status sees it" "$HOLDFAST" status "$file"
kill "$job"
wait_for "flock is gone" gone "$job"

background "$HOLDFAST" run "$file" sleep 600
wait_for "we have it" held "$file"
expect 1 "we keep flock out" flock -n "$file" true
expect 1 "for a while, too" flock -w 0.1 "$file" true
kill "$job"
finished_with 143 "ours"
expect 0 "flock gets it afterwards" flock -n "$file" true

background flock -F -s "$file" sleep 600
wait_for "a reader has it" sh -c "! flock -n '$file' true"
expect 0 "our reader is let in beside it" "$HOLDFAST" run -n -s "$file" true
expect 75 "our writer is not" "$HOLDFAST" run -n -x "$file" true
expect 75 "-e is -x" "$HOLDFAST" run -n -e "$file" true
kill "$job"
wait_for "the reader is gone" gone "$job"

background "$HOLDFAST" run -s "$file" sleep 600
wait_for "our reader has it" held "$file"
expect 0 "flock's reader is let in" flock -n -s "$file" true
expect 1 "flock's writer is not" flock -n "$file" true
expect 0 "nor is our second reader kept out" \
    "$HOLDFAST" run -n --shared "$file" true
kill "$job"
finished_with 143 "our reader"

expect 5 "-c runs a shell's string" "$HOLDFAST" run "$file" -c 'true; exit 5'
expect 5 "-c may stand in front" "$HOLDFAST" run -c 'exit 5' "$file"
expect 0 "letters can be joined" "$HOLDFAST" run -nxo "$file" true
expect 0 "-w5 without a blank" "$HOLDFAST" run -w5 "$file" true
expect 0 "--timeout is --wait" "$HOLDFAST" run --timeout=5 "$file" true
expect 0 "--nb is -n" "$HOLDFAST" run --nb "$file" true
expect 0 "--verbose" "$HOLDFAST" run --verbose "$file" true
check "says something" err_has 'running pid'

# -F: the command holds the lock itself, in the same process.
background "$HOLDFAST" run -F "$file" -- sh -c 'echo $$ >"$dir/self"
    exec sleep 600'
need_file "$dir/self"
check "-F is the same process" file_is "$dir/self" "$job"
expect 1 "-F holds the lock" flock -n "$file" true
kill "$job"
finished_with 143 "-F"
expect 0 "-F lets go at its end" flock -n "$file" true
background "$HOLDFAST" run -F -s "$file" -- sleep 600
wait_for "-F -s has it" held "$file"
expect 0 "-F shares it, too" flock -n -s "$file" true
expect 1 "-F keeps flock's writer out" flock -n -x "$file" true
kill "$job"
finished_with 143 "-F -s"
expect 3 "-F gives the status" "$HOLDFAST" run -F "$file" -c 'exit 3'
expect 127 "-F cannot run it" "$HOLDFAST" run -F "$file" no-such-command-x

# -o: without -F a daemon left behind does not keep the lock, unlike flock's.
expect 0 "a daemon is left behind" "$HOLDFAST" run "$file" -- sh -c \
    'sleep 600 >/dev/null 2>&1 & echo $! >"$dir/daemon"'
started "$(cat "$dir/daemon")"
check "it is told of" err_has "pid $(cat "$dir/daemon") goes on"
expect 0 "and does not keep the lock" flock -n "$file" true
finish
