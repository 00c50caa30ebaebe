#!/bin/sh
# redlock_stress.sh: stress over a quorum of real servers: with all of them,
# with one that is killed or stopped under it, and without a majority.
. "$(dirname "$0")/lib.sh"

need_program redis-server
for name in a b c; do
    redis_start
    eval "$name=\$redis_port ${name}_pid=\$redis_pid"
done
url=redlock://127.0.0.1:$a,127.0.0.1:$b,127.0.0.1:$c
stress() {
    "$HOLDFAST" stress --clients 2 --threads 2 --locks 2 --lease 2s \
        --url "$url" "$@"
}
lines_of() { [ "$(grep -c "127.0.0.1:$1" "$dir/err")" -ge 1 ]; }
number() { redis-cli -p "$1" hlen "$2"; }

# ---- nodes that were not declared new ----
expect 69 'new nodes are not trusted' stress --time 300ms early
check 'nothing was acquired' err_has 'not one lock was acquired'

# ---- all of them ----
"$HOLDFAST" init --quiet --force "$url" || fail 'init'
expect 0 'no violation' stress --time 4s calm
check 'says so' out_has '^ok: never two holders, no write lost'
check 'it did something' out_has '^acquired [1-9][0-9]'
expect 0 'as JSON' stress --time 2s --json calm
check 'with tokens' out_has '^{"url":"redlock:.*"fenced":true,"acquired":[1-9]'
expect 0 'holders that pause' stress --time 6s --lease 500ms \
    --pause-percent 20 --history "$dir/paused" calm
check 'they were paused' out_has 'pauses [1-9]'
check 'their writes are refused' out_has 'refused [1-9]'
refute 'no write has no token' grep -q '"write","token":0' "$dir/paused"
for port in $a $b $c; do
    check "$port: nothing is left" same "$(number "$port" calm-0)" 0
done

# ---- one is stopped, then killed, under it ----
background "$HOLDFAST" stress --clients 2 --threads 2 --locks 2 --lease 500ms \
    --time 10m --url "$url" rough >"$dir/out" 2>"$dir/err"
wait_for 'it has begun' held --url "$url" rough-0
kill -STOP "$a_pid"
sleep 0.7
kill -CONT "$a_pid"
sleep 0.3
kill -9 "$b_pid"
wait_quietly gone "$b_pid"
sleep 0.7
kill -TERM "$job"
finished_with 143 'ended by a signal, no violation'
check 'says so' out_has '^ok: never two holders, no write lost'
refute 'it is not left without locks' out_has '^acquired 0'

# ---- two are gone ----
kill -9 "$c_pid"
wait_quietly gone "$c_pid"
expect 69 'a minority' stress --time 3s calm
check 'says how many' err_has '1 of 3 nodes can be reached'
check 'one line for one' lines_of "$b"
check 'one line for the other' lines_of "$c"
expect 69 'one lock' "$HOLDFAST" run -n --url "$url" job -- true
check 'says how many' err_has '1 of 3 nodes can be reached'
check 'one line for one' lines_of "$b"
check 'one line for the other' lines_of "$c"
check 'nothing is held' same "$(number "$a" job)" 0
finish
