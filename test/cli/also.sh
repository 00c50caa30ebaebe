#!/bin/sh
# also.sh: several locks around one command: all of them or none.
. "$(dirname "$0")/lib.sh"

value() { sed -n "s/^$1=//p" "$dir/out"; }

suite() {
    export HOLDFAST_URL="$1"
    expect 0 "three locks ($1)" "$HOLDFAST" run b --also a --also c -- \
        sh -c 'for l in a b c; do
                   "$HOLDFAST" run -n "$l" true; echo "$l $?"
               done'
    for l in a b c; do check "$l is held" out_has "^$l 75\$"; done
    for l in a b c; do
        expect 0 "$l is free again" "$HOLDFAST" run -n $l true
    done
}

suite file:
expect 0 "the environment" "$HOLDFAST" run b --also a --also c env
check "HOLDFAST_LOCK is the first" same "$(value HOLDFAST_LOCK)" b
check "HOLDFAST_LOCKS has all" same "$("$HOLDFAST" run b --also a -- \
    sh -c 'printf %s "$HOLDFAST_LOCKS" | tr "\n" ,')" b,a
check "HOLDFAST_FENCES has a token each" \
    out_has '^HOLDFAST_FENCES=[0-9]* [0-9]* [0-9]*$'
check "of which HOLDFAST_FENCE is the first" \
    same "$(value HOLDFAST_FENCE)" "$(value HOLDFAST_FENCES | cut -d' ' -f1)"
expect 0 "without --also" "$HOLDFAST" run b env
check "HOLDFAST_LOCKS has one" same "$(value HOLDFAST_LOCKS)" b
check "as HOLDFAST_FENCES" same "$(value HOLDFAST_FENCES)" \
    "$(value HOLDFAST_FENCE)"

# One of them taken: nothing is run, nothing is held.
mkfifo "$dir/go"
"$HOLDFAST" run c -c 'echo up >"$dir/up"; read -r x <"$dir/go"' &
started $!
wait_for "somebody holds c" test -s "$dir/up"
expect 75 "-n fails" "$HOLDFAST" run -n a --also b --also c echo ran
refute "runs nothing" out_has ran
check "and names the lock and its holder" err_has "^holdfast: c: not acquired: held by .*pid"
expect 75 "a time-out" "$HOLDFAST" run -w 3s a --also c echo ran
expect 75 "one that says so" "$HOLDFAST" run -v -w 3s a --also c echo ran
check "names what it waits for" err_has "c: waiting: held by"
expect 0 "a is free" "$HOLDFAST" run -n a true
expect 0 "b is free" "$HOLDFAST" run -n b true
"$HOLDFAST" run a --also c -- touch "$dir/got" &
waiter=$!
started $waiter
sleep 0.3
expect 0 "a is free while another waits for both" "$HOLDFAST" run -n a true
refute "the waiting command has not run" test -e "$dir/got"
echo >"$dir/go"
wait_for "it runs in the end" test -e "$dir/got"
wait $waiter
check "and succeeds" test $? -eq 0

redis_start
suite "$redis"
expect 0 "events" "$HOLDFAST" run --json=1 a --also b true
check "tell of each lock" out_has '"event":"also","lock":"b","fence":[1-9]'
expect 80 "one that is lost" "$HOLDFAST" run --lease 9s \
    --renew 300ms a --also b -- \
    sh -c '"$HOLDFAST" break b --yes; sleep 30'
expect 0 "the other is free then" "$HOLDFAST" run -n a true

expect 64 "a name twice" "$HOLDFAST" run a --also b --also b true
expect 64 "the first name again" "$HOLDFAST" run a --also a true
expect 64 "an empty name" "$HOLDFAST" run a --also '' true
expect 64 "with --min-hold" "$HOLDFAST" run --min-hold 1s a --also b true
expect 64 "with -F" "$HOLDFAST" run -F a --also b true
set -- a
while [ $# -le 128 ]; do set -- "$@" --also "n$#"; done
expect 64 "too many" "$HOLDFAST" run "$@" -- true
finish
