#!/bin/sh
# examples.sh: every program of examples/ does what its first comment says, on
# this host and on a Redis server.
. "$(dirname "$0")/lib.sh"
need_program bash
redis_start
examples=$(dirname "$HOLDFAST")/examples
seen=

# example NAME: its path in $program; the end checks that none was left out.
example() {
    program=$examples/$1
    [ "$1" = mutex ] || seen="$seen $1.c"
}
line() { sed -n "${1}p" "$dir/out"; }
fence_of() { sed -n 's/^leading, fence //p' "$1"; }
has() { grep -q -e "$1" "$2"; }

# ---- cron: one job at a time ----------------------------------------------
example cron
cat >"$dir/job" <<'EOF2'
echo $$ >"$dir/job.pid"
trap 'exit 9' TERM
while [ ! -f "$dir/job.end" ]; do sleep 0.02; done
exit 3
EOF2
for url in file: "$redis"; do
    rm -f "$dir/job.end" "$dir/job.pid"
    background "$program" "$url" nightly sh "$dir/job"
    need_file "$dir/job.pid"
    expect 75 "cron $url: taken" "$program" "$url" nightly echo ran
    refute "cron $url: it does not run" out_has ran
    check "cron $url: and says why" err_has '^cron: .*held by'
    : >"$dir/job.end"
    finished_with 3 "cron $url: the job's status"
    expect 0 "cron $url: free again" "$program" "$url" nightly echo ran
    check "cron $url: it runs" out_has '^ran$'
    expect 127 "cron $url: no such job" "$program" "$url" nightly /no/job
    expect 0 "cron $url: which left nothing" "$program" "$url" nightly true
done
expect 64 "cron: usage" "$program"
check "cron: it says which" err_has '^cron: usage: cron URL NAME COMMAND'
expect 1 "cron: a bad URL" "$program" nowhere: nightly true

# The job ends when its lock is taken away: found by the next renewal.
rm -f "$dir/job.end" "$dir/job.pid"
background "$program" "$redis&lease=3s" nightly sh "$dir/job" 2>"$dir/cron.err"
need_file "$dir/job.pid"
expect 0 "cron: broken" "$HOLDFAST" break -q --url "$redis" --yes nightly
finished_with 9 "cron: the job is told"
check "cron: and so is the reader" has '^cron: .' "$dir/cron.err"

# ---- worker: each write under a valid hold, with its fence -----------------
example worker
for url in file: "$redis"; do
    expect 0 "worker $url" "$program" "$url" "$dir/work" 3
    check "worker $url: all steps" file_is "$dir/work" 'step 3'
    check "worker $url: the fence is in the guard" test -s "$dir/work.guard"
    rm -f "$dir/work" "$dir/work.guard" # another store, other fences
done
background "$program" "$redis&lease=3s" "$dir/work" 1000000 2>"$dir/work.err"
need_file "$dir/work"
expect 0 "worker: broken" "$HOLDFAST" break -q --url "$redis" --yes worker
finished_with 1 "worker: it stops"
check "worker: and says why" has '^worker: .' "$dir/work.err"
expect 0 "worker: the next one" "$program" "$redis" "$dir/work" 1
check "worker: begins anew" file_is "$dir/work" 'step 1'

# A worker that has been succeeded, and does not know it yet, is refused: its
# next renewal is far off.
background "$program" "$redis&lease=1h" "$dir/late" 1000000 2>"$dir/late.err"
need_file "$dir/late"
expect 0 "worker: broken" "$HOLDFAST" break -q --url "$redis" --yes worker
expect 0 "worker: a successor" "$program" "$redis" "$dir/late" 1
finished_with 1 "worker: the first one's write is refused"
check "worker: by the file" has '^worker: .*token' "$dir/late.err"
check "worker: which is the successor's" file_is "$dir/late" 'step 1'

# ---- elect: the second one sees the first, and follows it -------------------
example elect
for url in file: "$redis"; do
    rm -f "$dir/first" "$dir/second" "$dir/enter"
    mkfifo "$dir/enter"
    # sh gives its background jobs no input.
    background sh -c 'exec "$@" <>"$0"' "$dir/enter" \
        "$program" "$url" 10.0.0.1:80 >"$dir/first"
    first=$job
    need_file "$dir/first"
    background "$program" "$url" 10.0.0.2:80 >"$dir/second"
    second=$job
    wait_for "elect $url: the second sees the first" \
        has 'led by pid .* at 10\.0\.0\.1:80$' "$dir/second"
    refute "elect $url: and waits" has leading "$dir/second"
    echo >"$dir/enter"
    job=$first
    finished_with 0 "elect $url: the first resigned"
    job=$second
    finished_with 0 "elect $url: so did the second, in its turn"
    check "elect $url: fences rise" test \
        "$(fence_of "$dir/second")" -gt "$(fence_of "$dir/first")"
done

# ---- semaphore: never more than eight ---------------------------------------
example semaphore
for url in file: memory: "$redis"; do
    expect 0 "semaphore $url" "$program" "$url"
    check "semaphore $url: at most 8" \
        out_has '^20 done, at most [1-8] at a time$'
done

# ---- the others --------------------------------------------------------------
example multi
expect 0 "multi" "$program" "$redis" "$redis_url/1"
check "multi: two fences" out_has '^held, fences [1-9][0-9]* and [1-9]'
example idempotent
expect 0 "idempotent" "$program" order-1 "$redis"
served=$(line 1)
check "idempotent: served" out_has '^served: booked under [1-9]'
expect 0 "idempotent: again" "$program" order-1 "$redis"
check "idempotent: the same answer" same "again: ${served#served: }" "$(line 1)"
example optimistic
expect 0 "optimistic" "$program" "$redis"
expect 0 "optimistic: again" "$program" "$redis"
check "optimistic: counted" out_has '^visit 2, version '

# ---- mutex: in C++ ------------------------------------------------------------
missing=
if [ -x "$examples/mutex" ]; then
    example mutex
    for url in file: "$redis"; do
        expect 0 "mutex $url" "$program" "$url" 4
        check "mutex $url: no step is lost" out_has '^8 steps, fence [1-9]'
    done
    expect 1 "mutex: a bad URL" "$program" nowhere: 1
    check "mutex: it says why" err_has '^mutex: .'
else
    missing="$missing a C++ compiler"
fi
seen="$seen mutex.cpp"

# ---- the server, on each loop ------------------------------------------------
# dial PORT: connect, and print what the server says.
dial() {
    bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" && cat <&3' "$1" 2>/dev/null
}
# loop_check NAME: 20 connections, from two at a time, get 20 rising numbers.
loop_check() {
    example "$1"
    expect 64 "$1: usage" "$program"
    expect 1 "$1: a bad URL" "$program" nowhere: 1
    for url in file: "$redis"; do
        redis_reserve
        background "$program" "$url" "$redis_port" 21
        wait_for "$1 $url: it answers" dial "$redis_port"
        for _ in 1 2 3 4 5 6 7 8 9 10; do dial "$redis_port"; done \
            >"$dir/other" &
        other=$!
        for _ in 1 2 3 4 5 6 7 8 9 10; do dial "$redis_port"; done >"$dir/mine"
        wait $other
        finished_with 0 "$1 $url: it ends after the last"
        check "$1 $url: numbers rise" sort -c -n -u "$dir/mine"
        check "$1 $url: for the other caller, too" sort -c -n -u "$dir/other"
        check "$1 $url: each number once" same 20 \
            "$(sort -u "$dir/mine" "$dir/other" | grep -c '^[1-9][0-9]*$')"
        check "$1 $url: nothing is held" free --url "$url" number
    done
}
loop_check server
for loop in uv event; do
    if [ -x "$examples/$loop" ]; then
        loop_check $loop
    else
        missing="$missing lib$loop"
        seen="$seen $loop.c"
    fi
done

# ---- oversell: six ways to sell, three of which sell too much -----------------
example oversell
expect 64 "oversell: usage" "$program"
expect 1 "oversell: a bad URL" "$program" nowhere:
check "oversell: it says which" err_has '^oversell: nowhere:: '
expect 0 "oversell" "$program" "$redis"
oversold() { awk -v way="$1" 'index($0, way) == 1 { print $(NF-2), $(NF-1) }' "$dir/out"; }
for way in 'read, check, write' 'a mutex in each process' 'SET NX, and DEL too late'; do
    # shellcheck disable=SC2046 # two numbers
    set -- $(oversold "$way")
    check "oversell: $way: more than there are" test "${2:-0}" -gt 0
    check "oversell: $way: all of these are told" test "${1:-0}" -eq $((200 + ${2:-0}))
done
for way in 'a distributed lock' 'a version number' 'hf_stock_reserve()'; do
    check "oversell: $way: all and no more" same '200 0' "$(oversold "$way")"
done

# ---- and no other ------------------------------------------------------------
here=$(cd "$tests/../../examples" && echo *.c *.cpp | tr ' ' '\n' | LC_ALL=C sort |
    tr '\n' ' ' | sed 's/ $//')
# shellcheck disable=SC2086 # one name per word
check "every example was run" same "$here" \
    "$(printf '%s\n' $seen | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
for name in cron worker server elect semaphore; do
    check "$name.c is below 60 lines" test \
        "$(wc -l <"$tests/../../examples/$name.c")" -lt 60
done
[ -z "$missing" ] || skip "not found:$missing: ./dev test installs them"
finish
