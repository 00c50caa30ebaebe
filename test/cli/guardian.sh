#!/bin/sh
# guardian.sh: when holdfast is killed with -9, no descendant of the command is
# left, not even in a session of its own, and nobody gets the lock before that.
. "$(dirname "$0")/lib.sh"

# A tree: the command, a child, one in its own session, one that is orphaned,
# one that ignores TERM.
cat >"$dir/tree" <<'EOF'
note='echo $$ >>$dir/pids; exec sleep 600'
sh -c "$note" &
setsid sh -c "$note" &
sh -c "setsid sh -c '$note' & exit"
sh -c "trap '' TERM HUP INT; $note" &
echo $$ >$dir/command
echo $$ >>$dir/pids
wait
EOF
parent_of() { sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status"; }
five() { [ "$(wc -l <"$dir/pids")" -eq 5 ]; }
all_gone() { for p in $(cat "$dir/pids"); do gone "$p" || return 1; done; }
tree_started() {
    wait_for "the tree stands" five
    for p in $(cat "$dir/pids"); do started "$p"; done
}

: >"$dir/pids"
background "$HOLDFAST" run a sh "$dir/tree"
tree_started
holder=$job
background "$HOLDFAST" run -v a -- sh -c 'for p in $(cat "$dir/pids"); do
    grep "^State:[[:space:]]*[^Z]" "/proc/$p/status" && echo "$p lives"
done >"$dir/overlap" 2>/dev/null; exit 0' 2>"$dir/err"
wait_for "somebody waits" err_has waiting:
kill -9 "$holder"
finished_with 0 "the waiter gets the lock"
check "and no process of the tree is left when it does" test ! -s "$dir/overlap"
check "all are gone" all_gone
check "the lock is free" free a

# The same when the whole process group of holdfast is killed.
: >"$dir/pids"
background setsid "$HOLDFAST" run a sh "$dir/tree"
tree_started
leader=$(parent_of "$(parent_of "$(cat "$dir/command")")")
check "it leads a group of its own" kill -9 -"$leader"
wait_for "all are gone" all_gone
wait_for "the lock is free" free a

# When the guardian is killed, its tree is ended and holdfast says so.
: >"$dir/pids"
background "$HOLDFAST" run a sh "$dir/tree" 2>"$dir/err"
tree_started
guardian=$(parent_of "$(cat "$dir/command")")
refute "the guardian is not holdfast itself" same "$guardian" "$job"
kill -9 "$guardian"
finished_with 70 "the guardian was killed"
check "all are gone" all_gone
check "it is said" err_has 'guardian process died'
check "the lock is free" free a

# Descendants that outlive the command are told of; or waited for.
: >"$dir/pids"
expect 0 "one goes on" "$HOLDFAST" run a -- sh -c \
    'setsid sleep 600 >/dev/null 2>&1 & echo $! >"$dir/pids"'
started "$(cat "$dir/pids")"
check "its pid is told" err_has "descendant pid $(cat "$dir/pids")"
refute "it lives" gone "$(cat "$dir/pids")"
check "the lock is free" free a

: >"$dir/pids"
background "$HOLDFAST" run --hold-until-idle a -- sh -c \
    'setsid sleep 600 >/dev/null 2>&1 & echo $$ >"$dir/command"
     echo $! >"$dir/pids"; exit 6'
need_file "$dir/pids"
started "$(cat "$dir/pids")"
wait_for "the command has ended" gone "$(cat "$dir/command")"
check "--hold-until-idle still holds" held a
kill "$(cat "$dir/pids")"
finished_with 6 "--hold-until-idle"
check "the lock is free" free a
finish
