#!/bin/sh
# fallback.sh: --fallback: without its store a command fails, waits, or runs
# under a lock of this host that says everywhere that it is no more than that.
. "$(dirname "$0")/lib.sh"
redis_start
value() { sed -n "s/^$1=//p" "$dir/out"; }
nowhere='redis://127.0.0.1:1?patience=300ms'

expect 69 "fail is the default" "$HOLDFAST" run --url "$nowhere" a true
expect 69 "and can be chosen" "$HOLDFAST" run --fallback fail --url "$nowhere" \
    a true

HOLDFAST_FENCE=77 expect 0 "local" "$HOLDFAST" run --fallback local \
    --url "$nowhere" a env
check "warns once" test "$(grep -c 'held on this host only' "$dir/err")" -eq 1
check "and says why" err_has "a: held on this host only: redis://127.0.0.1:1: connect"
check "the command is told" same "$(value HOLDFAST_GUARANTEE)" local
refute "there is no fence, not even another lock's" out_has '^HOLDFAST_FENCE='
expect 0 "several" "$HOLDFAST" run a --also b --fallback local \
    --url "$nowhere" true
check "warn once, too" test "$(grep -c 'held on this host only' "$dir/err")" \
    -eq 1
refute "with no empty line" grep -q '^holdfast: *$' "$dir/err"
expect 0 "quiet" "$HOLDFAST" run -q --fallback local --url "$nowhere" a true
check "says nothing" test ! -s "$dir/err"
expect 0 "verbose" "$HOLDFAST" run -v --fallback local --url "$nowhere" a true
check "warns once too" \
    test "$(grep -c 'held on this host only' "$dir/err")" -eq 1
check "tells the guarantee" err_has 'a: acquired, guarantee local'
expect 0 "events" "$HOLDFAST" run --json --fallback local --url "$nowhere" a true
for event in acquired held end; do
    check "$event tells it" err_has "\"event\":\"$event\".*\"guarantee\":\"local\""
done
expect 0 "by the URL" "$HOLDFAST" run --url "$nowhere&fallback=local" a env
check "is the same" same "$(value HOLDFAST_GUARANTEE)" local

mkfifo "$dir/gate"
background "$HOLDFAST" run -q --fallback local --url "$nowhere" a cat "$dir/gate"
wait_for "held on this host" held --fallback local --url "$nowhere" a
expect 75 "keeps others of this host out" "$HOLDFAST" run -n --fallback local \
    --url "$nowhere" a true
expect 0 "status" "$HOLDFAST" status --fallback local --url "$nowhere" a
check "says how far it reaches" out_has "pid $job .*on this host only"
expect 0 "status --json" "$HOLDFAST" status --json --fallback local \
    --url "$nowhere" a
check "says it too" out_has '"guarantee":"local"'
expect 0 "why" "$HOLDFAST" why --fallback local --url "$nowhere" a
check "says it in words" out_has 'known on this host only'
expect 69 "status without it" "$HOLDFAST" status --url "$nowhere" a
: >"$dir/gate"
finished_with 0 "its holder"
expect 1 "free" "$HOLDFAST" status --fallback local --url "$nowhere" a
check "on this host" out_has 'free on this host; the store could not be asked'

expect 0 "with a store" "$HOLDFAST" run --fallback local --url "$redis" a env
check "there is nothing to say" test ! -s "$dir/err"
check "the guarantee is the store's" same "$(value HOLDFAST_GUARANTEE)" store
check "and there is a fence" test "$(value HOLDFAST_FENCE)" -gt 1

redis-cli -p "$redis_port" replicaof 127.0.0.1 1 >"$dir/out"
expect 0 "a store that refuses" "$HOLDFAST" run --fallback local \
    --url "$redis_url?patience=3s" a true
check "is told by its own words" err_has 'a: held on this host only: .*is a replica of'
redis-cli -p "$redis_port" replicaof no one >"$dir/out"

# A store that comes back.
expect 69 "wait ends with -w" "$HOLDFAST" run -w 500ms --fallback wait \
    --url "$nowhere" a true
kill "$redis_pid"
wait_quietly gone "$redis_pid"
background "$HOLDFAST" run -w 60 --fallback wait --url "$redis" a \
    -c 'echo $HOLDFAST_GUARANTEE' >"$dir/waited" 2>"$dir/warned"
running=$job
background "$HOLDFAST" once -w 60 --fallback wait --url "$redis" b \
    -c 'echo ran' >"$dir/once"
once=$job
wait_for "run says that it waits" grep -q 'a: waiting: redis:.*connect' \
    "$dir/warned"
sleep 1
refute "both wait longer than patience" gone "$running"
refute "for the store" gone "$once"
check "the store is back" redis_run
job=$running
finished_with 0 "run goes on when it is back"
check "with the store's guarantee" file_is "$dir/waited" store
check "and has said it once" test "$(wc -l <"$dir/warned")" -eq 1
job=$once
finished_with 0 "once goes on, too"
check "and has run" file_is "$dir/once" ran
finish
