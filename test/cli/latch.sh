#!/bin/sh
# latch.sh: latches from the shell: counted once each, waited for, deleted.
. "$(dirname "$0")/lib.sh"
redis_start
HOLDFAST_URL=$redis
export HOLDFAST_URL

# listens NAME: a waiter listens for the latch.
listens() {
    redis-cli -p "$redis_port" pubsub numsub \
        "redisson_countdownlatch__channel__{$1}" | grep -qx 1
}

expect 1 "status of a latch that is not set" "$HOLDFAST" latch status a
check "is 0" file_is "$dir/out" 0
expect 0 "wait for it" "$HOLDFAST" latch wait a
expect 1 "count it" "$HOLDFAST" latch down a
check "says that nothing was counted" err_has 'a: it was never set, or has'
expect 0 "set it" "$HOLDFAST" latch set a 2
check "prints nothing" file_is "$dir/out" ''
expect 75 "set it again" "$HOLDFAST" latch set a 5
check "says how many are left" err_has 'a: it is set already, with 2 left to count'
expect 75 "-q set it again" "$HOLDFAST" latch set -q a 5
check "says nothing" file_is "$dir/err" ''
expect 0 "status" "$HOLDFAST" latch status a
check "is what was set" file_is "$dir/out" 2
check "Java would see it" same "$(redis-cli -p "$redis_port" get a)" 2

expect 75 "wait -n" "$HOLDFAST" latch wait -n a
check "says how many are left" err_has 'a: not open: .*latch: 2 left to count'
expect 75 "wait -w" "$HOLDFAST" latch wait -w 3s a
background "$HOLDFAST" latch wait -w 60 a
waiter=$job
wait_for "it waits" listens a
expect 0 "down" "$HOLDFAST" latch down a
check "prints how many are left" file_is "$dir/out" 1
expect 0 "down --json" "$HOLDFAST" latch down --json a
check "as an object" file_is "$dir/out" '{"latch":"a","left":0}'
expect 0 "the waiter goes on" wait $waiter

expect 0 "set b" "$HOLDFAST" latch set b 1
background "$HOLDFAST" latch wait b 2>"$dir/waiter"
waiter=$job
wait_for "it waits" listens b
expect 0 "delete" "$HOLDFAST" latch delete b
expect 80 "the waiter is told" wait $waiter
check "and why" grep -q 'it was deleted while it was waited for' "$dir/waiter"
expect 1 "delete again" "$HOLDFAST" latch delete b
expect 0 "it is open" "$HOLDFAST" latch wait -n b

expect 0 "set c" "$HOLDFAST" latch set c 1
background "$HOLDFAST" latch wait c
waiter=$job
wait_for "it waits" listens c
kill -TERM $waiter
expect 143 "a signal ends the wait" wait $waiter
expect 0 "and changes nothing" "$HOLDFAST" latch status c
check "one is left" file_is "$dir/out" 1

redis-cli -p "$redis_port" rpush list 1 >/dev/null
expect 78 "something else" "$HOLDFAST" latch set list 1
check "is named" err_has 'list: .*something that is no latch is stored there'
expect 0 "set d" "$HOLDFAST" latch set d 1
expect 78 "a latch is no lock" "$HOLDFAST" run -n d true
expect 78 "nor a semaphore" "$HOLDFAST" run -n --slots 2 d true
check "and it is told what it is" err_has 'in use as a latch$'
expect 0 "it stays as it was" "$HOLDFAST" latch status d
check "one is left" file_is "$dir/out" 1
expect 78 "on this host" "$HOLDFAST" latch set --url file: a 1
check "there are none" err_has 'a: a latch: file:'
expect 69 "without a server" \
    "$HOLDFAST" latch wait --url 'redis://127.0.0.1:1?patience=200ms' a

expect 64 "no action" "$HOLDFAST" latch
check "is asked for" err_has 'ACTION is missing'
expect 64 "no name" "$HOLDFAST" latch down
expect 64 "another action" "$HOLDFAST" latch wibble a
check "is not known" err_has 'wibble: no such action'
expect 64 "no count" "$HOLDFAST" latch set a
check "is asked for" err_has 'set takes NAME and COUNT'
expect 64 "a count too many" "$HOLDFAST" latch down a 1
for bad in 0 -1 1x 1000000001 ''; do
    expect 64 "count '$bad'" "$HOLDFAST" latch set -- a "$bad"
done
expect 64 "-w where nothing is waited for" "$HOLDFAST" latch down -w 3 a
expect 64 "--json with wait" "$HOLDFAST" latch --json wait a
expect 64 "--json with delete" "$HOLDFAST" latch --json delete a
expect 64 "--json with set" "$HOLDFAST" latch --json set a 1
check "which print nothing" err_has 'json is for down and status only'
expect 64 "-n and -w" "$HOLDFAST" latch wait -n -w 3 a
expect 0 "set one" "$HOLDFAST" latch set named 2
for look in status why; do
    expect 78 "$look of a latch" "$HOLDFAST" $look named
    check "$look says what it is" err_has 'a latch: 2 left to count'
done
expect 0 "--help" "$HOLDFAST" latch --help
check "has the actions" out_has 'set|down|wait|status|delete'
finish
