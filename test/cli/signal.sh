#!/bin/sh
# signal.sh: signals reach the command and its children; while we wait for the
# lock they end the wait at once.
. "$(dirname "$0")/lib.sh"

# The command and its child note each signal they get.  They sleep in a
# subshell, which sh starts by fork: were it by vfork, as for a plain command, a
# TSTP that stops the new process before its exec would leave the shell in state
# D, not T.
cat >"$dir/noter" <<'EOF'
for s in INT TERM HUP QUIT USR1 USR2 WINCH CONT; do
    trap "echo $s >>$dir/parent.$s" $s
done
sh -c 'for s in INT TERM HUP QUIT USR1 USR2 WINCH CONT; do
    trap "echo $s >>$dir/child.$s" $s
done
echo $$ >$dir/child.pid
while :; do (exec sleep 0.05); done' &
echo $$ >$dir/parent.pid
while :; do (exec sleep 0.05); done
EOF
background "$HOLDFAST" run a sh "$dir/noter" 2>"$dir/err"
need_file "$dir/parent.pid"
need_file "$dir/child.pid"
started "$(cat "$dir/parent.pid")"
started "$(cat "$dir/child.pid")"
for s in INT TERM HUP QUIT USR1 USR2 WINCH CONT; do
    kill -$s "$job"
    wait_for "$s reaches the command" test -s "$dir/parent.$s"
    # A shell's background job ignores INT and QUIT: not ours to change.
    case $s in
    INT | QUIT) ;;
    *) wait_for "$s reaches its child" test -s "$dir/child.$s" ;;
    esac
done
refute "the command goes on" gone "$job"
check "and the lock is held" held a
kill -TSTP "$job"
stopped() { grep -q '^State:[[:space:]]*T' "/proc/$1/status"; }
wait_for "TSTP stops the command" stopped "$(cat "$dir/parent.pid")"
wait_for "TSTP stops its child" stopped "$(cat "$dir/child.pid")"
refute "but not us: the lock must be renewed" stopped "$job"
kill -CONT "$job"
goes_on() { ! stopped "$1"; }
wait_for "CONT lets it go on" goes_on "$(cat "$dir/parent.pid")"
kill -9 "$(cat "$dir/child.pid")" "$(cat "$dir/parent.pid")"
finished_with 137 "the command was killed"

for s in INT:130 TERM:143 HUP:129 USR1:138; do
    background "$HOLDFAST" run a -- sh -c 'echo $$ >$dir/pid; exec sleep 600'
    need_file "$dir/pid"
    rm "$dir/pid"
    kill -"${s%:*}" "$job"
    finished_with "${s#*:}" "a command that ${s%:*} ends"
    check "the lock is free again" free a
done

background "$HOLDFAST" run a sleep 600
holder=$job
wait_for "held" held a
for s in INT:130 TERM:143 HUP:129; do
    background "$HOLDFAST" run -v a -- touch "$dir/ran" 2>"$dir/waiter"
    wait_for "it waits" grep -q waiting: "$dir/waiter"
    kill -"${s%:*}" "$job"
    finished_with "${s#*:}" "${s%:*} ends the wait"
done
background "$HOLDFAST" acquire -v a 2>"$dir/waiter"
wait_for "acquire waits" grep -q waiting: "$dir/waiter"
kill -TERM "$job"
finished_with 143 "TERM ends the wait of acquire"
refute "nothing ran" test -e "$dir/ran"

# nohup: what is ignored stays ignored, for the command too.
kill "$holder"
wait_for "free" free a
(trap '' HUP; exec "$HOLDFAST" run a -- sh -c 'kill -HUP $$; exit 4') \
    >/dev/null 2>&1
check "an ignored HUP stays ignored" test $? -eq 4
expect 143 "other signals are as usual" "$HOLDFAST" run a -c 'kill $$; exit 4'
finish
