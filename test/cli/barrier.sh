#!/bin/sh
# barrier.sh: barriers from the shell: all parties pass together, and a party
# that is gone is not counted.
. "$(dirname "$0")/lib.sh"
redis_start
HOLDFAST_URL=$redis
export HOLDFAST_URL

# waiting NAME N: the store counts N waiting parties there.
waiting() { same "$(redis-cli -p "$redis_port" zcard "{$1}:hf_waiting")" "$2"; }

# party NAME PARTIES FILE [COMMAND...]: in the background; pid in $job.
party() {
    name=$1 parties=$2 file=$3
    shift 3
    [ $# -eq 0 ] || set -- -- "$@"
    background "$HOLDFAST" barrier "$name" "$parties" "$@" >"$file" 2>&1
}

expect 0 "alone" "$HOLDFAST" barrier solo 1
check "has index 0" file_is "$dir/out" 0
expect 0 "as an object" "$HOLDFAST" barrier --json solo 1
check "with its generation" out_has \
    '^{"barrier":"solo","generation":[0-9]*,"index":0}$'

party a 3 "$dir/1"
one=$job
wait_for "one waits" waiting a 1
party a 3 "$dir/2"
two=$job
wait_for "two wait" waiting a 2
expect 0 "the third" "$HOLDFAST" barrier a 3
check "has the highest index" file_is "$dir/out" 2
expect 0 "lets the first go" wait $one
expect 0 "and the second" wait $two
check "each has an index of its own" same "$(cat "$dir/1" "$dir/2" | sort |
    tr '\n' ' ')" '0 1 '

# The command gets the numbers, and its status is ours.
party a 2 "$dir/1" sh -c \
    'echo "$HOLDFAST_BARRIER $HOLDFAST_GENERATION $HOLDFAST_INDEX"; exit 7'
one=$job
wait_for "one waits" waiting a 1
HOLDFAST_SENTINEL_PASSWORD=secret expect 0 "the second" "$HOLDFAST" barrier a 2 -- \
    sh -c 'echo "$HOLDFAST_BARRIER $HOLDFAST_GENERATION
$HOLDFAST_INDEX${HOLDFAST_SENTINEL_PASSWORD-}"'
cp "$dir/out" "$dir/2"
expect 7 "the first ends with its command" wait $one
check "both are of one generation" same "$(cut -d' ' -f1,2 "$dir/1")" \
    "$(head -n 1 "$dir/2")"
check "the index is told, the password is not" same "$(tail -n 1 "$dir/2")" 1
# The command gets no secret, in whichever variable it was given.
redis-cli -p "$redis_port" config set requirepass secret-word >/dev/null
HOLDFAST_URL="redis://:secret-word@127.0.0.1:$redis_port" \
    HOLDFAST_TICKET=secret-ticket HOLDFAST_PASSWORD=secret-word \
    HOLDFAST_SENTINEL_PASSWORD=secret-watchword \
    expect 0 "a URL with a password" "$HOLDFAST" barrier solo 1 -- env
check "the command is told where" out_has \
    "^HOLDFAST_URL=redis://127.0.0.1:$redis_port"
refute "and gets no secret" out_has secret-
REDISCLI_AUTH=secret-word redis-cli -p "$redis_port" config set requirepass '' \
    >/dev/null
expect 127 "a command that is not there" "$HOLDFAST" barrier solo 1 -- "$dir/no"
expect 126 "one that cannot be run" "$HOLDFAST" barrier solo 1 -- "$dir"

expect 75 "-n" "$HOLDFAST" barrier -n b 2
check "says how many are missing" err_has 'b: not all are there: .*missing'
expect 75 "-w" "$HOLDFAST" barrier -w 3s b 2 -- touch "$dir/ran"
refute "the command is not run" test -e "$dir/ran"
wait_for "and nobody waits" waiting b 0

party b 2 "$dir/1"
one=$job
wait_for "one waits" waiting b 1
kill -TERM $one
expect 143 "a signal ends the wait" wait $one
check "it is taken off at once" waiting b 0

# A party that is killed is taken off by the store.
party b 2 "$dir/1"
one=$job
wait_for "one waits" waiting b 1
kill -9 $one
wait $one 2>/dev/null
wait_for "within its lease" waiting b 0
party b 2 "$dir/2"
two=$job
wait_for "another waits alone" waiting b 1
refute "and does not go on" gone $two
expect 0 "with a living one" "$HOLDFAST" barrier b 2
expect 0 "it does" wait $two

party c 2 "$dir/1"
one=$job
wait_for "one waits" waiting c 1
expect 78 "another number of parties" "$HOLDFAST" barrier c 3
check "is a conflict" err_has 'others wait there for 2 parties'
expect 78 "status of a barrier" "$HOLDFAST" status c
check "says what it is" err_has 'a barrier: 1 waiting'
expect 0 "the right one" "$HOLDFAST" barrier c 2
expect 0 "goes on" wait $one

expect 64 "nothing" "$HOLDFAST" barrier
check "both are asked for" err_has 'NAME and PARTIES are missing'
expect 64 "no number" "$HOLDFAST" barrier a
check "is asked for" err_has 'PARTIES is missing'
for bad in 0 1001 x ''; do
    expect 64 "parties '$bad'" "$HOLDFAST" barrier a "$bad"
    check "'$bad' is none" err_has 'not a number of parties'
done
expect 64 "-n and -w" "$HOLDFAST" barrier -n a 2 -w 3
expect 64 "--json and a command" "$HOLDFAST" barrier --json a 1 -- true
check "exclude each other" err_has 'json cannot be used with COMMAND'
expect 78 "on this host" "$HOLDFAST" barrier --url file: a 1
check "and where there are some" err_has 'use memory:, redis:'
finish
