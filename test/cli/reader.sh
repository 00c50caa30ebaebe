#!/bin/sh
# reader.sh: a reader that does not read, and a guardian that is stopped: neither
# costs the lock, and no command is run when its lock is over.
. "$(dirname "$0")/lib.sh"

parent_of() { sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status"; }
# A pipe that is full: a process that writes to it waits until it is drained.
pipe_fill() {
    rm -f "$dir/pipe"
    mkfifo "$dir/pipe"
    exec 8<>"$dir/pipe"
    dd if=/dev/zero bs=4096 count=16 >&8 2>/dev/null
}
pipe_drain() {
    cat "$dir/pipe" >"$dir/drained" &
    drain=$!
    started $drain
    exec 8>&-
}

redis_start
HOLDFAST_URL=$redis
export HOLDFAST_URL

# ---- the command is not run when its lock is over ----
pipe_fill
background "$HOLDFAST" run -v --lease 3s late sh -c 'echo ran >"$dir/ran"' \
    2>"$dir/pipe"
wait_for 'the lock is taken, and nobody reads of it' held late
wait_for 'it ends with its lease' free late
pipe_drain
finished_with 80 'lost before the command was run'
check 'it was not run' test ! -e "$dir/ran"
wait_for 'it is said' grep -q -a 'late: lost' "$dir/drained"
kill $drain 2>/dev/null
exec 8>&-

# ---- events that nobody reads ----
pipe_fill
background "$HOLDFAST" run --json=9 --lease 20s --renew 50ms kept sh -c \
    'echo $$ >"$dir/pid"; exec sleep 600' 9>"$dir/pipe"
need_file "$dir/pid"
pid=$(cat "$dir/pid")
started "$pid"
renewed() { [ "$(redis-cli -p "$redis_port" info commandstats |
    sed -n 's/^cmdstat_evalsha:calls=\([0-9]*\).*/\1/p')" -gt 60 ]; }
wait_for 'it is renewed again and again' renewed
check 'the lock is kept' held kept
refute 'and so is the command' gone "$pid"
kill "$job"
wait_for 'a signal reaches it' gone "$pid"
pipe_drain
finished_with 143 'the command was ended by the signal'
kill $drain 2>/dev/null

# ---- a guardian that is stopped ----
rm -f "$dir/pid"
background "$HOLDFAST" run --lease 6s --renew 50ms stopped sh -c \
    'echo $$ >"$dir/pid"; trap "" USR1; while :; do sleep 0.2; done'
need_file "$dir/pid"
pid=$(cat "$dir/pid")
started "$pid"
guardian=$(parent_of "$pid")
kill -STOP "$guardian"
# Some hundred orders that it does not read.
i=0
while [ $i -lt 400 ]; do
    kill -USR1 "$job"
    i=$((i + 1))
done
before=$(redis-cli -p "$redis_port" info commandstats |
    sed -n 's/^cmdstat_evalsha:calls=\([0-9]*\).*/\1/p')
renewed_since() { [ "$(redis-cli -p "$redis_port" info commandstats |
    sed -n 's/^cmdstat_evalsha:calls=\([0-9]*\).*/\1/p')" -gt \
    $((before + 20)) ]; }
wait_for 'the lock is renewed meanwhile' renewed_since
check 'and held' held stopped
# Now holdfast is stopped as well: the orders that the guardian finds when it
# goes on are old, and the lease has ended.
kill -STOP "$guardian"
kill -STOP "$job"
wait_for 'the lease ends' free stopped
kill -CONT "$guardian"
wait_for 'the command is gone' gone "$pid"
kill -CONT "$job"
finished_with 80 'it was lost'

finish
