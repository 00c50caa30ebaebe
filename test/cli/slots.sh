#!/bin/sh
# slots.sh: with --slots N at most N commands run at a time, on a store that
# keeps permits and where slots are locks.
. "$(dirname "$0")/lib.sh"
redis_start

cat >"$dir/worker" <<'EOF'
echo "$HOLDFAST_FENCE" >"$dir/fence.$1"
echo $$ >"$dir/worker.$1"
until [ -e "$dir/end" ]; do sleep 0.05; done
EOF

for url in file: "$redis"; do
    HOLDFAST_URL=$url
    export HOLDFAST_URL
    rm -f "$dir"/worker.* "$dir"/fence.* "$dir/end"
    background "$HOLDFAST" run --slots 2 pool sh "$dir/worker" 1 2>"$dir/err1"
    first=$job
    need_file "$dir/worker.1"
    background "$HOLDFAST" run --slots 2 pool sh "$dir/worker" 2 2>"$dir/err2"
    second=$job
    need_file "$dir/worker.2"
    expect 75 "$url: no third one" "$HOLDFAST" run -n --slots 2 pool true
    check "$url: and why" err_has 'pool: not acquired: all slots are taken'
    if [ "$url" = "$redis" ]; then
        expect 0 "status" "$HOLDFAST" status pool
        check "tells of the slots" out_has ', 0 of 2 permits free'
        expect 0 "as JSON" "$HOLDFAST" status --json pool
        check "too" out_has '"permits":2,"available":0'
        expect 0 "why" "$HOLDFAST" why --for 10ms pool
        check "tells it" out_has '0 of its 2 permits are free'
        check "and that it is not broken" out_has '^What to do: wait for a permit to'
    fi
    expect 75 "$url: nor within a time" \
        "$HOLDFAST" run -w 3s --slots 2 pool true
    background "$HOLDFAST" run -w 20 --slots 2 pool sh -c 'exit 7' \
        2>"$dir/err3"
    third=$job
    check "$url: both have a fence" test -s "$dir/fence.1" -a -s "$dir/fence.2"
    touch "$dir/end"
    job=$third
    finished_with 7 "$url: the waiter has a slot when one is released"
    job=$first
    finished_with 0 "$url: the first"
    job=$second
    finished_with 0 "$url: the second"

    # A dead holder's slot comes back.
    rm -f "$dir/end" "$dir/worker.1"
    background "$HOLDFAST" run --lease 3s --slots 1 dead \
        sh "$dir/worker" 1 2>/dev/null
    need_file "$dir/worker.1"
    worker=$(cat "$dir/worker.1")
    kill -9 "$job"
    expect 0 "$url: the slot of the dead" "$HOLDFAST" run -w 20 --slots 1 \
        dead true
    check "$url: whose command is gone" gone "$worker"
done

# A name is a semaphore until that is broken; the holder of a slot is told.
rm -f "$dir/end" "$dir/worker.1"
background "$HOLDFAST" run --lease 9s --renew 300ms --slots 2 was \
    sh "$dir/worker" 1 2>"$dir/err1"
need_file "$dir/worker.1"
expect 78 "a lock of its name" "$HOLDFAST" run -n was true
expect 64 "broken only when it is meant" "$HOLDFAST" break was
check "and said what would be" err_has 'was: a semaphore .* 1 of its 2 permits'
expect 0 "broken" "$HOLDFAST" break --yes was
check "and said" out_has 'was: semaphore deleted, with 1 of its 2 permits out'
finished_with 80 "the holder of a slot"
expect 0 "a lock of its name now" "$HOLDFAST" run -n was true

# The number of slots is the one that was given last.
HOLDFAST_URL=$redis
expect 0 "more of them" "$HOLDFAST" run --slots 3 pool true
check "which is told" err_has 'there were 2 slots; now there are 3'
expect 0 "as many as before" "$HOLDFAST" run --slots 3 pool true
refute "which is not" err_has 'there were'
expect 0 "more than locks could be" "$HOLDFAST" run --slots 100 pool true

# A name of slots is no lock, also while nobody has one: that is told.
expect 78 "a lock of that name" "$HOLDFAST" run -n pool true
expect 1 "why, while all are free" "$HOLDFAST" why pool
check "says what it is" out_has 'It is a semaphore of 100 permits'

expect 64 "none" "$HOLDFAST" run --slots 0 pool true
expect 64 "with -s" "$HOLDFAST" run -s --slots 2 pool true
expect 64 "with --also" "$HOLDFAST" run --slots 2 pool --also b true
expect 64 "with --min-hold" "$HOLDFAST" run --slots 2 --min-hold 1 pool true
HOLDFAST_URL=file:
expect 78 "more locks than can be" "$HOLDFAST" run --slots 65 pool true
check "which are counted" err_has '65 permits: out of range: 1 to 64'
finish
