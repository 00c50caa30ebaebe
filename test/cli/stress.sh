#!/bin/sh
# stress.sh: stress finds nothing where nothing is wrong, finds what is planted,
# and writes a history that others can judge.
. "$(dirname "$0")/lib.sh"

# A server whose wall clock is ours to move: see lab/clock_shim.c.
HF_CLOCK_FILE=$dir/clock
export HF_CLOCK_FILE
# clock_set BYTE...: the offset in nanoseconds, eight octal bytes, low first.
clock_set() {
    for byte; do printf "\\$byte"; done |
        dd of="$HF_CLOCK_FILE" bs=8 conv=notrunc 2>/dev/null
}
dd if=/dev/zero of="$HF_CLOCK_FILE" bs=8 count=1 2>/dev/null
need_program redis-server
LD_PRELOAD=$CLOCK_SHIM
export LD_PRELOAD
redis_start
unset LD_PRELOAD
redis() { redis-cli -p "$redis_port" "$@" >/dev/null; }

stress() { "$HOLDFAST" stress --clients 3 --threads 2 --locks 2 "$@"; }

# ---- nothing is wrong ----

for url in file: "$redis" "$redis&format=string&fence=off"; do
    expect 0 "$url: no violation" stress --url "$url" --time 4s calm
    check "$url: says so" out_has '^ok: never two holders, no write lost'
    check "$url: it did something" out_has '^acquired [1-9][0-9]'
done
check "does not claim what it cannot see" out_has 'no tokens to judge'
expect 0 "memory: in one process" stress --clients 1 --time 2s \
    --url memory: calm
expect 0 "as JSON" stress --time 2s --url "$redis" --json calm
check "one line of JSON" out_has \
    '^{"url":"redis:.*"fenced":true,"acquired":[1-9].*"violations":0,"ok":true}$'

expect 0 "holders that pause" stress --url "$redis" --time 6s --lease 300ms \
    --pause-percent 10 --history "$dir/paused" calm
check "their writes are refused" out_has 'refused [1-9]'
check "they were paused" out_has 'pauses [1-9]'

# ---- the history ----

expect 0 "with a history" stress --url "$redis" --time 4s \
    --history "$dir/history" 'ca"lm'
number='[0-9][0-9]*'
line="^{\"c\":$number,\"call\":$number,\"ret\":$number,\"lock\":\"ca\\\\\"lm-[01]\""
line="$line,\"op\":\"[a-z]*\",\"token\":$number,\"ok\":\(true\|false\)"
line="$line\(,\"unknown\":true\)*}\$"
check "has lines" test -s "$dir/history"
refute "and nothing else" grep -q -v "$line" "$dir/history"
for op in acquire release write; do
    check "has every $op" grep -q "\"op\":\"$op\"" "$dir/history"
done
check "of every client" test "$(sed 's/,.*//' "$dir/history" | sort -u |
    wc -l)" -eq 6

# judge FILE: tokens unique; those of accepted writes never fall, in the order
# in which the writes returned, unless they overlap in time.
judge() {
    sed 's/[{}"]//g; s/[a-z]*://g' "$1" | sort -t, -k3,3n | awk -F, '
        $5 == "acquire" && $7 == "true" && seen[$4, $6]++ { bad++ }
        $5 == "write" && $7 == "true" {
            if ($6 < top[$4] && $2 > at[$4]) bad++
            if ($6 >= top[$4]) { top[$4] = $6; at[$4] = $3 }
        }
        END { exit bad > 0 }'
}
check "an outside judge agrees" judge "$dir/history"
check "with pauses, too" judge "$dir/paused"

# ---- what is planted is found ----

# The locks are deleted under their holders, again and again.
plant() {
    background "$HOLDFAST" stress --clients 4 --threads 2 --locks 1 \
        --time 60s --url "$1" planted >"$dir/out" 2>"$dir/err"
    rounds=0
    while [ $rounds -lt 150 ] && ! gone "$job"; do
        rounds=$((rounds + 1))
        redis del planted-0
        sleep 0.01
    done
    kill -TERM "$job"
    finished_with 1 "$1: a lock deleted under its holder"
    check "$1: is found" out_has '^VIOLATED: [1-9]'
}
plant "$redis"
check "two holders are shown" \
    out_has '^  planted-0: two holders: client .*token [1-9].* but client'
plant "$redis&format=string&fence=off"
check "a lost write is shown" \
    out_has '^  planted-0: a write is lost: client .* read .* writes over'

# Without its clock and its counter a server gives tokens again.
background "$HOLDFAST" stress --clients 4 --threads 2 --locks 1 --json \
    --time 60s --url "$redis" fallen >"$dir/out" 2>"$dir/err"
wait_for "stress has begun" redis-cli -e -p "$redis_port" \
    eval "return redis.call('exists', 'redisson_lock_token:{fallen-0}') == 1 \
and 1 or redis.error_reply('none')" 0
clock_set 0 0 372 65 235 374 377 377 # about an hour back
rounds=0
while [ $rounds -lt 100 ] && ! gone "$job"; do
    rounds=$((rounds + 1))
    redis del 'redisson_lock_token:{fallen-0}'
    sleep 0.01
done
kill -TERM "$job"
finished_with 1 "a counter and a clock set back"
check "equal or falling tokens are shown" out_has \
    '"violation":"fallen-0: token\(s fall: client\| [1-9][0-9]* was granted twice\)'
check "and counted" out_has '"violations":[1-9].*"ok":false}$'
clock_set 0 0 0 0 0 0 0 0

# ---- wrong use ----

expect 64 "memory: in many processes" stress --url memory: --time 1s
check "says why" err_has "one process's own"
expect 64 "no client" "$HOLDFAST" stress --clients 0
expect 64 "too many locks" "$HOLDFAST" stress --locks 65
expect 64 "a name too long" "$HOLDFAST" stress "$(printf '%0509d' 0)"
expect 78 "a history that cannot be written" stress --time 1s \
    --history "$dir/none/file"
expect 69 "nobody there" stress --time 3s --url redis://127.0.0.1:1
"$HOLDFAST" acquire --url "$redis" had-0 >/dev/null
"$HOLDFAST" acquire --url "$redis" had-1 >/dev/null
expect 75 "somebody else has them" stress --time 2s --url "$redis" had
check "which proves nothing" out_has '^nothing to judge: not one lock'
refute "and is not called ok" out_has '^ok'
expect 75 "as JSON" stress --time 2s --url "$redis" --json had
check "neither" out_has '"acquired":0,.*"violations":0,"ok":false}$'
redis set foreign-0 x
redis set foreign-1 x
expect 78 "something else under the names" stress --time 3s --url "$redis" \
    foreign

# ---- its end ----

background "$HOLDFAST" stress --clients 2 --time 600s ended >"$dir/out"
wait_for "it runs" held ended-0
kill -INT "$job"
finished_with 130 "ended by a signal"
finish
