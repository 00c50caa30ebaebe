#!/bin/sh
# hold.sh: --max-hold ends a command in time, --min-hold keeps the lock after it
# without a process that sleeps, --renew and --backoff are heeded.
. "$(dirname "$0")/lib.sh"

expect 124 "--max-hold" "$HOLDFAST" run --max-hold 1s a sleep 600
check "says so" err_has 'held for 1s'
expect 124 "--max-hold, though the command exits with 0" "$HOLDFAST" run \
    --max-hold 1s a -- sh -c 'trap "exit 0" TERM; while :; do sleep 0.05
    done'
expect 124 "a command that ignores TERM is killed" "$HOLDFAST" run \
    --max-hold 1s --grace 200ms a -- sh -c \
    'trap "" TERM; while :; do sleep 0.05; done'
expect 124 "and descendants in other sessions with it" "$HOLDFAST" run \
    --max-hold 3s --grace 200ms a -- sh -c \
    'setsid sleep 600 & echo $! >"$dir/pid"; wait'
check "gone" gone "$(cat "$dir/pid")"
expect 3 "a command that is quicker" "$HOLDFAST" run --max-hold 10m a \
    -c 'exit 3'
check "free" free a

for url in file: redis; do
    if [ $url = redis ]; then
        redis_start
        url=$redis
    fi
    expect 3 "$url: --min-hold gives the status at once" \
        "$HOLDFAST" run --url "$url" --min-hold 20s b -c 'exit 3'
    expect 75 "$url: but the lock stays" \
        "$HOLDFAST" run --url "$url" -n b true
    expect 0 "$url: it can be seen" "$HOLDFAST" status --url "$url" --json b
    ttl=$(sed -n 's/.*"ttl_ms":\([0-9]*\).*/\1/p' "$dir/out")
    check "$url: for the rest of the time" \
        test "${ttl:-0}" -gt 0 -a "${ttl:-0}" -le 20000
    expect 0 "$url: broken" "$HOLDFAST" break --url "$url" -q --yes b

    expect 0 "$url: a short --min-hold" \
        "$HOLDFAST" run --url "$url" --min-hold 1s c true
    expect 0 "$url: is over by itself" \
        "$HOLDFAST" run --url "$url" -w 20 c true
    expect 0 "$url: a command longer than --min-hold and its lease" \
        "$HOLDFAST" run --url "$url" --min-hold 100ms --lease 5s c \
        sleep 6
    check "$url: is free at once" free --url "$url" c
    expect 127 "$url: what cannot be run" \
        "$HOLDFAST" run --url "$url" --min-hold 20s c no-such-command-x
    check "$url: keeps nothing" free --url "$url" c
done

# A lease of five minutes is renewed after a hundred seconds by itself.
# --min-hold renews in its own way.
for extra in --verbose --min-hold=1h; do
    background "$HOLDFAST" run --url "$redis" --lease 5m --renew 200ms -q \
        $extra often sleep 600
    wait_for "held" held --url "$redis" often
    expect 0 "why" "$HOLDFAST" why --for 20s --url "$redis" often
    check "--renew is heeded with $extra" out_has 'It is being renewed'
    kill "$job"
    finished_with 143 "its holder"
    "$HOLDFAST" break -q --url "$redis" --yes often
done
for url in file: "$redis"; do
    for backoff in none constant exponential:2ms:20ms:3 jitter:5ms; do
        background "$HOLDFAST" run --url "$url" taken sleep 600
        wait_for "$url: held" held --url "$url" taken
        holder=$job
        background "$HOLDFAST" run --url "$url" --backoff $backoff taken true
        kill "$holder"
        finished_with 0 "$url: gets it in the end, --backoff $backoff"
    done
    "$HOLDFAST" acquire --url "$url" --backoff constant:10ms w >/dev/null
    expect 75 "$url: a wait has its end with pauses, too" "$HOLDFAST" acquire \
        --url "$url" -w 3s --backoff constant:10ms w
done
finish
