#!/bin/sh
# server.sh: how these tests start their servers: each on a port of its own, and
# it is there when that very process answers.
. "$(dirname "$0")/lib.sh"

pid_at() {
    redis-cli -p "$1" info server | tr -d '\r' | sed -n 's/^process_id://p'
}

# Both write to one directory, as most tests do.
redis_start --unixsocket "$dir/s"
a=$redis_port a_pid=$redis_pid
check 'the first one answers itself' same "$(pid_at "$a")" "$a_pid"
redis_start
b=$redis_port b_pid=$redis_pid
refute 'the second one has another port' same "$a" "$b"
check 'and answers there itself' same "$(pid_at "$b")" "$b_pid"

redis_port=$a
refute 'a port that is in use is not had' redis_run 2>"$dir/refused"
check 'for that reason' grep -q 'Address already in use' "$dir/refused"
redis_stop "$a_pid"
check 'a server comes back' redis_run
check 'as another process' same "$(pid_at "$a")" "$redis_pid"
redis_stop "$redis_pid"
check 'with a password' redis_run --requirepass secret
check 'it is there' same "$(pid_at "$a")" ''

# ---- nothing outlives the test ----
TMPDIR=$dir sh -c '. "$0/lib.sh"; redis_start; echo "$redis_pid" >"$1"; kill -9 $$' \
    "$tests" "$dir/pid" >/dev/null 2>&1
need_file "$dir/pid"
wait_for 'not even one that is killed' gone "$(cat "$dir/pid")"
finish
