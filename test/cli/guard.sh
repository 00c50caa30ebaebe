#!/bin/sh
# guard.sh: guarded files and values from the shell; a holder that was stopped
# past its lease is refused with 80.
. "$(dirname "$0")/lib.sh"
redis_start
unset HOLDFAST_FENCE
cd "$dir" || exit 1

# guard_file TOKEN TEXT: replace $dir/f.
guard_file() { echo "$2" | "$HOLDFAST" guard file f --fence "$1"; }
expect 0 "a new file" guard_file 5 five
check "is written" file_is f five
expect 80 "a lower fence" guard_file 4 four
check "is refused and says why" \
    err_has 'guard: f: token 4 is refused: the resource has already seen token 5'
check "nothing changed" file_is f five
expect 0 "touch" "$HOLDFAST" guard file-touch f --fence 9
expect 80 "shuts out an earlier holder" guard_file 8 eight
expect 0 "the highest fence" "$HOLDFAST" guard file-token f
check "is told" file_is "$dir/out" 9
HOLDFAST_FENCE=10 expect 0 "the fence of the environment" \
    sh -c 'echo ten | "$HOLDFAST" guard file f'
check "is good" file_is f ten
echo rubbish >f.guard
expect 78 "a guard that is none" guard_file 11 eleven
check "nothing changed" file_is f ten

for bad in 0 -1 9223372036854775808 1e3 x ''; do
    expect 64 "fence '$bad'" "$HOLDFAST" guard file-touch f "--fence=$bad"
    check "fence '$bad' is named" err_has 'no.* token: '
done
expect 64 "no fence at all" "$HOLDFAST" guard touch k --url "$redis"
check "is asked for" err_has 'no token: give it by --fence'
expect 64 "under a lock of this host" "$HOLDFAST" run --fallback local \
    --url 'redis://127.0.0.1:1?patience=300ms' k "$HOLDFAST" guard file-touch f
check "there is none" err_has 'no token: this hold is of this host only'
expect 64 "no action" "$HOLDFAST" guard wibble
expect 64 "too few words" "$HOLDFAST" guard set k --fence 1
check "are asked for" err_has 'set takes KEY VALUE'

# Stopped past its lease, between the grant and the write.
HOLDFAST_URL=$redis
export HOLDFAST_URL
first=$("$HOLDFAST" acquire --json --lease 1s stock |
    sed 's/.*"fence":\([0-9]*\).*/\1/')
(
    sh -c 'kill -STOP $PPID'
    "$HOLDFAST" guard set shelf first --fence "$first" 2>"$dir/paused.err"
    echo $? >"$dir/paused.rc"
) &
paused=$!
started $paused
wait_for "it is stopped" grep -q '^State:[[:space:]]*T' /proc/$paused/status
expect 0 "the next holder writes" "$HOLDFAST" run -w 20 stock -- sh -c \
    '"$HOLDFAST" guard touch shelf && "$HOLDFAST" guard set shelf second'
kill -CONT $paused
need_file "$dir/paused.rc"
check "the paused one is refused" file_is "$dir/paused.rc" 80
expect 0 "get" "$HOLDFAST" guard get shelf
check "the second one's word stands" file_is "$dir/out" second
expect 0 "token" "$HOLDFAST" guard token shelf
check "is the second one's" test "$(cat "$dir/out")" -gt "$first"

expect 0 "a value from stdin" sh -c \
    'printf "a\nb" | "$HOLDFAST" guard set in - --fence 3'
check "is all of it" same "$(redis-cli -p "$redis_port" get in)" "$(printf 'a\nb')"
expect 0 "with an end" "$HOLDFAST" guard set in x --fence 3 --ttl 1h
check "it has one" test "$(redis-cli -p "$redis_port" pttl in)" -gt 1000
expect 80 "delete too late" "$HOLDFAST" guard delete in --fence 2
expect 0 "delete" "$HOLDFAST" guard delete in --fence 3
expect 1 "get what is not there" "$HOLDFAST" guard get in
redis-cli -p "$redis_port" rpush list 1 >/dev/null
expect 78 "something else" "$HOLDFAST" guard set list x --fence 3

expect 0 "lua" "$HOLDFAST" guard lua
script="$(cat "$dir/out")
return redis.call('INCR', KEYS[1])"
run_lua() {
    redis-cli -e -p "$redis_port" eval "$script" 2 '{n}' 'holdfast_guard:{n}' \
        "$1"
}
expect 0 "a script behind the prelude" run_lua 7
check "has run" file_is "$dir/out" 1
run_lua 6 >"$dir/out" 2>&1
check "with a stale token it says so" out_has 'STALE 6 7'
check "and has not run" same "$(redis-cli -p "$redis_port" get '{n}')" 1

for statement in create check token claim still verify; do
    for dialect in postgres mariadb sqlite; do
        expect 0 "sql $dialect $statement" \
            "$HOLDFAST" guard sql $dialect $statement
        check "$dialect $statement is one statement" \
            test "$(tr -cd ';' <"$dir/out")" = ';'
    done
done
expect 64 "no such dialect" "$HOLDFAST" guard sql oracle create
check "those that are" err_has 'postgres|mariadb|sqlite'
expect 64 "no such statement" "$HOLDFAST" guard sql sqlite drop

HOLDFAST_URL=file:
expect 78 "a store without guarded values" "$HOLDFAST" guard touch k --fence 1
check "says so, and what there is" \
    err_has 'keeps no guarded values; .*holdfast guard file PATH'
finish
