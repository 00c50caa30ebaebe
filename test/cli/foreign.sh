#!/bin/sh
# foreign.sh: a number that Java made is left as it is, and is called a number.
. "$(dirname "$0")/lib.sh"
redis_start
HOLDFAST_URL=$redis
export HOLDFAST_URL

value() {
    redis-cli -p "$redis_port" get "$1"
}

lacks_latch() {
    ! err_has 'holdfast latch'
}

redis-cli -p "$redis_port" set sem 5 >"$dir/said"
expect 78 "status of a Java semaphore" "$HOLDFAST" status sem
check "calls it a number" err_has 'a number that another program made, 5'
check "and no latch to look at" lacks_latch
for action in 'down sem' 'wait -n sem' 'status sem' 'delete sem' 'set sem 3'; do
    # shellcheck disable=SC2086 # the words of an action
    expect 78 "latch $action" "$HOLDFAST" latch $action
done
check "says what it may be" err_has 'a semaphore or a latch of Redisson'
check "or have been" err_has 'or one of ours that was not used for 30 days'
expect 78 "run --slots" "$HOLDFAST" run --slots 2 sem -- touch "$dir/ran"
check "does not run" test ! -e "$dir/ran"
check "it is as it was" same "$(value sem)" 5

expect 75 "latch wait --foreign" "$HOLDFAST" latch wait -n --foreign sem
expect 0 "latch down --foreign" "$HOLDFAST" latch down --foreign sem
check "counts" same "$(value sem)" 4
expect 0 "run --slots --foreign" "$HOLDFAST" run --slots 4 --foreign sem -- true
expect 64 "run --foreign without --slots" "$HOLDFAST" run --foreign x -- true

# What is ours stays ours.
expect 0 "run --slots" "$HOLDFAST" run --slots 2 own -- true
redis-cli -p "$redis_port" del '{own}:hf' >"$dir/said"
expect 0 "30 days later" "$HOLDFAST" run --slots 2 own -- true
expect 0 "a latch" "$HOLDFAST" latch set l 2
expect 78 "its status" "$HOLDFAST" status l
check "is called a latch" err_has 'a latch: 2 left to count'
finish
