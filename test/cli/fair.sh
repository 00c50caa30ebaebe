#!/bin/sh
# fair.sh: with --fair the store keeps a queue: first come, first served, and
# every client can see its length.
. "$(dirname "$0")/lib.sh"
redis_start
HOLDFAST_URL=$redis
export HOLDFAST_URL
export log="$dir/log"

background "$HOLDFAST" run line -c \
    'echo $$ >"$dir/holder"; until [ -e "$dir/end" ]; do sleep 0.05; done' \
    2>"$dir/err"
holder=$job
need_file "$dir/holder"
queued() { "$HOLDFAST" status --json line | grep -q "\"queued\":$1"; }
jobs=
for i in 1 2 3; do
    background "$HOLDFAST" run --fair line -c "echo $i >>\$log" 2>"$dir/err$i"
    jobs="$jobs $job"
    wait_for "number $i queues" queued $i
done
expect 0 "status" "$HOLDFAST" status line
check "tells how many queue" out_has ', 3 queued'
expect 0 "why" "$HOLDFAST" why line
check "tells it, too" out_has '^3 queue for it'
expect 75 "a command that does not wait takes no place" \
    "$HOLDFAST" run -n --fair line true
check "and leaves none" queued 3

touch "$dir/end"
job=$holder
finished_with 0 "the holder"
for job in $jobs; do finished_with 0 "one of the queue"; done
check "first come, first served" same "$(tr '\n' ' ' <"$log")" '1 2 3 '
check "nothing is left" free line
check "nobody queues" queued 0
expect 64 "several locks" "$HOLDFAST" run --fair --also other line true
check "are refused" err_has 'several locks'

# A ticket can be waited for in order.
expect 0 "acquire --fair" "$HOLDFAST" acquire --fair --lease 1m ticket
ticket=$(cat "$dir/out")
expect 75 "it is taken" "$HOLDFAST" run -n ticket true
expect 0 "until it is released" "$HOLDFAST" release ticket "$ticket"

# A waiter that queued and left has not changed the holder's fence.
expect 0 "the fence that is told is the holder's" "$HOLDFAST" run --fair f -c '
    "$HOLDFAST" run --fair -w 3 f true
    "$HOLDFAST" status f | grep -q "fence $HOLDFAST_FENCE," &&
        "$HOLDFAST" list | grep -q "^f .* $HOLDFAST_FENCE "'

# Where there is no queue it is refused, never quietly unfair.
HOLDFAST_URL=file:
expect 78 "file: keeps no queue" "$HOLDFAST" run --fair line true
check "and says so" err_has 'keeps no queue'
expect 78 "nor for an election" "$HOLDFAST" elect --fair line true
finish
