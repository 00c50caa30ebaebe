#!/bin/sh
# once.sh: once runs a command at most once per name or period, tells the others
# its result, and does not repeat a run that died unless it is told to.
. "$(dirname "$0")/lib.sh"
redis_start

# runs FILE: how many lines are in it; each run appends one.
runs() { if [ -f "$1" ]; then wc -l <"$1"; else echo 0; fi; }
value() { sed -n "s/^$1=//p" "$dir/out"; }

for url in file: "$redis"; do
    HOLDFAST_URL=$url
    export HOLDFAST_URL
    rm -f "$dir"/runs.*
    export log="$dir/runs.a"
    expect 3 "$url: the first" "$HOLDFAST" once a -c 'echo run >>$log; exit 3'
    expect 75 "$url: the second" "$HOLDFAST" once a -c 'echo run >>$log'
    check "$url: says when, where and how" \
        err_has 'a: not run: it was begun on .* pid [1-9].*, at 2.* [+-][0-9]\{4\}, .*status 3$'
    check "$url: is not run" test "$(runs "$log")" -eq 1
    expect 0 "$url: --skip-ok" "$HOLDFAST" once --skip-ok a true
    check "$url: which says nothing, for cron" test ! -s "$dir/err"
    expect 9 "$url: -E" "$HOLDFAST" once -E 9 a true
    expect 0 "$url: --losers wait" "$HOLDFAST" once --losers wait a false
    expect 3 "$url: --losers status" "$HOLDFAST" once --losers status a true
    expect 0 "$url: --retry runs what failed" "$HOLDFAST" once --retry a \
        -c 'echo run >>$log'
    expect 75 "$url: but not what succeeded" "$HOLDFAST" once --retry a true
    check "$url: twice in all" test "$(runs "$log")" -eq 2
    check "$url: the lock is free" free a

    expect 0 "$url: --per" "$HOLDFAST" once --per 1h hourly env
    check "$url: the period's begin" \
        test $(($(value HOLDFAST_ONCE_PERIOD) % 3600)) -eq 0
    check "$url: is not long ago" \
        test $(($(date +%s) - $(value HOLDFAST_ONCE_PERIOD))) -lt 7200
    check "$url: the fence" test "$(value HOLDFAST_FENCE)" -gt 1
    check "$url: the lock" same "$(value HOLDFAST_LOCK)" hourly
    promised=store
    [ "$url" != file: ] || promised=host
    check "$url: the guarantee" same "$(value HOLDFAST_GUARANTEE)" $promised
    expect 0 "$url: no period" "$HOLDFAST" once no-period env
    refute "$url: none is told" out_has '^HOLDFAST_ONCE_PERIOD'
    export log="$dir/runs.second"
    wait_for "$url: a new period runs it again" sh -c \
        '"$HOLDFAST" once -q --per 1s sec -c "echo run >>\$log"
         [ "$(wc -l <"$log")" -ge 2 ]'
    export log="$dir/runs.kept"
    wait_for "$url: --keep forgets it in the end" sh -c \
        '"$HOLDFAST" once -q --keep 1s kept -c "echo run >>\$log"
         [ "$(wc -l <"$log")" -ge 2 ]'
    expect 0 "$url: --min-hold" "$HOLDFAST" once --per 1s --min-hold 1h mh true
    sleep 1.1
    expect 75 "$url: outlasts the period" \
        "$HOLDFAST" once --per 1s --min-hold 1h mh true

    expect 127 "$url: what cannot be run" "$HOLDFAST" once e no-such-command-x
    expect 0 "$url: does not count as run" "$HOLDFAST" once e true
    expect 3 "$url: what failed" "$HOLDFAST" once e3 -c 'exit 3'
    expect 127 "$url: cannot be run again" \
        "$HOLDFAST" once --retry e3 no-such-command-x
    expect 3 "$url: and stays as it was" \
        "$HOLDFAST" once --losers status e3 true
    expect 143 "$url: a signal" "$HOLDFAST" once sig -c 'kill $$'
    expect 143 "$url: is told to the others" \
        "$HOLDFAST" once --losers status sig true
    expect 124 "$url: --max-hold" "$HOLDFAST" once --max-hold 1s mx sleep 600
    expect 124 "$url: is told too" "$HOLDFAST" once --losers status mx true

    # While it runs.
    mkfifo "$dir/gate"
    # Held is not enough: the record says that it runs a moment later.
    background "$HOLDFAST" once --lease 9s slow -c \
        'echo >"$dir/runs"; cat "$dir/gate" >"$dir/gone"; exit 4'
    wait_for "$url: it runs" test -s "$dir/runs"
    rm "$dir/runs"
    expect 75 "$url: skipped while it runs" "$HOLDFAST" once slow true
    check "$url: says so" err_has 'slow: not run: .* and still runs'
    expect 75 "$url: -w" "$HOLDFAST" once -w 3s slow true
    check "$url: says how long" \
        err_has 'slow: not run: it still runs after 3s: held by'
    first=$job
    background "$HOLDFAST" once --losers status slow true
    second=$job
    echo go >"$dir/gate"
    finished_with 4 "$url: the waiter gets its status"
    job=$first
    finished_with 4 "$url: as itself"
    rm "$dir/gate"

    # A run that dies.
    background "$HOLDFAST" once --lease 3s dies -c \
        'echo >"$dir/runs"; exec sleep 600'
    wait_for "$url: it runs" test -s "$dir/runs"
    rm "$dir/runs"
    kill -9 "$job"
    wait_for "$url: its lock ends" free dies
    for losers in skip wait status; do
        expect 75 "$url: what died, $losers" \
            "$HOLDFAST" once --losers $losers dies true
        check "$url: $losers: says it" \
            err_has 'begun on .* at 2.*died.*--retry runs it again'
    done
    expect 1 "$url: why" "$HOLDFAST" why dies
    check "$url: knows it" out_has 'died: once runs it again only with --retry'
    expect 5 "$url: --retry" "$HOLDFAST" once --retry dies -c 'exit 5'
    expect 5 "$url: and that counts" "$HOLDFAST" once --losers status dies true

    # What it printed.
    expect 6 "$url: --store-output" "$HOLDFAST" once --store-output out \
        -c 'echo one; echo two; exit 6'
    check "$url: is printed as ever" test "$(wc -l <"$dir/out")" -eq 2
    expect 6 "$url: for the others" "$HOLDFAST" once --losers status out false
    check "$url: it is printed again" file_is "$dir/out" "one
two"
    expect 75 "$url: a loser that skips" "$HOLDFAST" once out false
    check "$url: does not print it" test ! -s "$dir/out"
    expect 0 "$url: a long one" "$HOLDFAST" once --store-output long \
        -c 'head -c 300000 /dev/zero | tr "\0" x'
    check "$url: comes whole" test "$(wc -c <"$dir/out")" -eq 300000
    check "$url: says that it is cut" err_has 'only the first 60000 bytes'
    expect 0 "$url: the rest" "$HOLDFAST" once --losers status long false
    check "$url: is not stored" test "$(wc -c <"$dir/out")" -eq 60000
    "$HOLDFAST" once --store-output pipe -c 'yes' 2>"$dir/err" | head -1 \
        >"$dir/out"
    check "$url: a reader that closes its pipe ends it" file_is "$dir/out" y
    expect 141 "$url: by SIGPIPE" "$HOLDFAST" once --losers status -q pipe true

    # Eight at once.
    export log="$dir/runs.race"
    jobs=
    for i in 1 2 3 4 5 6 7 8; do
        background "$HOLDFAST" once --losers wait race -c 'echo run >>$log'
        jobs="$jobs $job"
    done
    for job in $jobs; do finished_with 0 "$url: one of eight"; done
    check "$url: one of eight runs it" test "$(runs "$log")" -eq 1
done

# A slow reader must not keep the lock from being renewed.
HOLDFAST_URL=$redis
mkfifo "$dir/slow"
"$HOLDFAST" once --lease 5s --store-output slow-reader \
    -c 'head -c 200000 /dev/zero' >"$dir/slow" 2>"$dir/err" &
job=$!
started $job
exec 7<"$dir/slow"
wait_for "it writes" held slow-reader
sleep 6
check "the lock is kept while nobody reads" held slow-reader
wc -c <&7 >"$dir/out"
exec 7<&-
finished_with 0 "and it ends well"
check "with all it wrote" test "$(cat "$dir/out")" -eq 200000

# A lock that is taken away, and one that is renewed as often as was asked.
background "$HOLDFAST" once -q --lease 9s --renew 300ms lost sleep 600
wait_for "it runs" held lost
expect 0 "taken away" "$HOLDFAST" break --yes lost
finished_with 80 "the lock was lost"
expect 80 "and that is its end" "$HOLDFAST" once --losers status lost true
background "$HOLDFAST" once -q --lease 5m --renew 200ms often sleep 600
wait_for "it runs" held often
expect 0 "why" "$HOLDFAST" why --for 20s often
check "--renew is heeded" out_has 'It is being renewed'
kill "$job"
finished_with 143 "the runner"

# A store that refuses the last write, and one whose clock was ahead.
export redis_port
expect 7 "a full store" "$HOLDFAST" once full \
    -c 'redis-cli -p $redis_port config set maxmemory 1; exit 7'
check "is told" err_has 'OOM'
check "and what follows" err_has 'full: its end may not have been recorded'
redis-cli -p $redis_port config set maxmemory 0 >"$dir/out"
printf 'v1 ended 0 1 9000000000000 9000000000000 1 h\n' | redis-cli -x \
    -p $redis_port hset 'holdfast_once:{ahead}' version 5 by b value >"$dir/out"
expect 0 "a record of a time to come" "$HOLDFAST" once --skip-ok --per 1h \
    ahead true
check "is told even with --skip-ok" err_has 'ahead: not run: .* in the future'

# Events.
expect 0 "events" "$HOLDFAST" once --json ev true
check "acquired" err_has '"event":"acquired","lock":"ev","fence":[1-9]'
check "held, with its guarantee" err_has '"event":"held".*"guarantee":"store"'
check "the end" err_has '"event":"end","reason":"exit","exit":0'
expect 75 "events of a loser" "$HOLDFAST" once --json ev true
check "what was found" \
    err_has '"event":"once","lock":"ev","outcome":"done","status":0,'
check "and why it ends" err_has '"event":"end","reason":"done","exit":75'

# Signals while it waits, and stores that are not there.
background "$HOLDFAST" once --lease 9s busy sleep 600
holder=$job
wait_for "it runs" held busy
background "$HOLDFAST" once --losers wait busy true
sleep 0.3
kill "$job"
finished_with 143 "a signal ends the wait"
kill "$holder"
job=$holder
finished_with 143 "the runner"
expect 69 "no server" "$HOLDFAST" once --url redis://127.0.0.1:1 a true
check "is told with the name, once" err_has '^holdfast: a: redis://127.0.0.1:1: '
expect 69 "no server, waited for" "$HOLDFAST" once -w 1 --fallback wait \
    --url redis://127.0.0.1:1 a true
finish
