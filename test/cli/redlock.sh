#!/bin/sh
# redlock.sh: the commands over five real servers: what they do, and what they
# say when nodes are new, away or not enough.
. "$(dirname "$0")/lib.sh"

# The clocks of two are 60 ms ahead of the others', which is no harm: in
# nanoseconds 60000000 is 0x3938700.
printf '\000\207\223\003\000\000\000\000' >"$dir/clock"
for name in a b c d e; do
    mkdir "$dir/$name"
    redis_env=
    case $name in
    a | b) redis_env="LD_PRELOAD=$CLOCK_SHIM HF_CLOCK_FILE=$dir/clock" ;;
    esac
    redis_start --dir "$dir/$name"
    eval "$name=\$redis_port ${name}_pid=\$redis_pid"
done
hosts=127.0.0.1:$a,127.0.0.1:$b,127.0.0.1:$c,127.0.0.1:$d,127.0.0.1:$e
# While a majority is there, silence is the busy machine's, and not the nodes'.
url="redlock://$hosts?patience=20s&timeout=20s"
export HOLDFAST_URL="$url"
lines_of() { grep -c -e "$1" "$dir/$2"; }

# ---- nodes that were not declared new ----
background "$HOLDFAST" run job -- true 2>"$dir/waits"
says_why() { grep -q 'a lock waits .* s, one quarantine; .*init' "$dir/waits"; }
wait_for 'the first run says at once that it waits, and how to avoid it' says_why
check 'once' same "$(grep -c . "$dir/waits")" 1
kill "$job"
finished_with 143 'and can be ended'
expect 69 'without waiting' "$HOLDFAST" run -n job -- true
check 'it says how long' err_has '5 of 5 nodes are new .*a lock waits [23]. s'
check 'a line per node' same "$(lines_of ': may not vote for [23]' err)" 5
slow='quorum:memory:a?delay_ms=90|memory:b?delay_ms=90|memory:c?delay_ms=90'
expect 75 'a wait of 1 ms' "$HOLDFAST" run --url "$slow" -w 1ms job -- true
check 'blames neither a holder nor the nodes' err_has 'after 1ms: no time to ask'
expect 1 'status' "$HOLDFAST" status -q job
expect 1 'status' "$HOLDFAST" status job
check 'says until when' out_has 'no lock can be had for [23].*s: 0 of 5 nodes'
expect 1 'why' "$HOLDFAST" why job
check 'says what to do' out_has 'new ones are declared by holdfast init'
expect 1 'as JSON' "$HOLDFAST" why --json job
check 'the nodes are counted' out_has \
    '"nodes":5,"nodes_heard":5,"nodes_agree":5,"nodes_voting":0,"nodes_needed":3'

# ---- all five ----
"$HOLDFAST" init -q --force "$url"
expect 0 'run' "$HOLDFAST" run job -- sh -c 'echo "$HOLDFAST_FENCE"'
fence=$(cat "$dir/out")
check 'has a fence' test "$fence" -gt 0
check 'says nothing' test ! -s "$dir/err"
expect 0 'run' "$HOLDFAST" run job -- sh -c '"$HOLDFAST" status job
    "$HOLDFAST" why --for 10ms job; "$HOLDFAST" status --json job
    "$HOLDFAST" list; "$HOLDFAST" run -n job -- true; echo "code $?"
    echo "fence $HOLDFAST_FENCE"'
later=$(sed -n 's/^fence //p' "$dir/out")
check 'the fence rises' test "$later" -gt "$fence"
check 'status tells it' out_has "^job: held by .*, fence $later, .* of 5 nodes"
check 'so does why' out_has '^It is held on [345] of 5 nodes'
check 'so does JSON' out_has "\"fence\":$later,.*\"nodes\":5,\"nodes_heard\":5"
check 'list has it' out_has "^job .* $later "
check 'another waits' out_has '^code 75'
check 'and names the holder' err_has 'job: not acquired: held by .*pid'
# Not only on the fastest three, of which none could fail.  On a busy machine a
# node may be late, so this is tried again and again.
all_hold() {
    "$HOLDFAST" run job -- "$HOLDFAST" status job | grep -q ', on 5 of 5 nodes'
}
wait_for 'a new client takes it on all five' all_hold
# The node that answers first tells since when, by its own clock: the nodes are
# made late in turn.
expect 0 'held, and renewed by nobody' "$HOLDFAST" acquire --lease 25s job
ticket=$(cat "$dir/out")
background "$HOLDFAST" why --for 3s job >"$dir/out" 2>"$dir/err"
for late in "$a_pid $b_pid" "$c_pid $d_pid $e_pid" "$a_pid $b_pid"; do
    # shellcheck disable=SC2086 # words
    kill -STOP $late
    sleep 0.4
    # shellcheck disable=SC2086 # words
    kill -CONT $late
done
finished_with 0 'why'
refute 'a holder that stays is no other' out_has 'to another holder'
refute 'nor does it renew' out_has 'It is being renewed'
check 'what to do' out_has '^What to do: wait .*break job --yes$'
expect 0 'its end' "$HOLDFAST" release job "$ticket"
expect 0 'acquire' "$HOLDFAST" acquire --lease 20s job
ticket=$(cat "$dir/out")
expect 0 'held' "$HOLDFAST" status job
expect 0 'renew' "$HOLDFAST" renew --lease 25s job "$ticket"
expect 0 'release' "$HOLDFAST" release job "$ticket"
expect 80 'once only' "$HOLDFAST" release job "$ticket"
expect 0 'acquire' "$HOLDFAST" acquire job
expect 0 'break' "$HOLDFAST" break --yes job
expect 1 'free' "$HOLDFAST" status job
expect 78 'a lease beyond the longest' "$HOLDFAST" run --lease 1m job -- true
check 'says which that is' err_has 'longest lease of these nodes is 30000 ms'
check 'and what to do' err_has '--lease or lease= of at most that, or holdfast i'

# ---- what a quorum cannot do ----
expect 78 'once' "$HOLDFAST" once job -- true
check 'says what to use' err_has 'job: once: .*--url redis://HOST, or use run'
expect 78 'guard' "$HOLDFAST" guard set key value --fence 1
check 'says what to use' err_has 'key: guard: .*guard file, sql or lua'
expect 78 'readers' "$HOLDFAST" run -s job -- true
"$HOLDFAST" run job -- sh -c 'echo one | "$HOLDFAST" guard file "$dir/file"'
check 'the fence guards a file' file_is "$dir/file" one
expect 80 'from an older one' sh -c \
    'echo two | "$HOLDFAST" guard file "$dir/file" --fence '"$fence"
check 'it is as it was' file_is "$dir/file" one

# ---- two of five are away ----
redis_stop "$d_pid"
redis_stop "$e_pid"
expect 0 'three go on' "$HOLDFAST" run -w 20s job -- true
check 'and say nothing' test ! -s "$dir/err"
expect 1 'status' "$HOLDFAST" status job
check 'tells which nodes are away' same "$(lines_of ': connect: ' out)" 2
check 'and how many nodes answered' out_has '^job: free, .*, by 3 of 5 nodes'
ticket=$("$HOLDFAST" acquire job)
expect 0 'list' "$HOLDFAST" list
check 'has what the others have' out_has '^job '
check 'tells which nodes were not asked' same \
    "$(lines_of 'list: not asked: redis://.*: connect: ' err)" 2
expect 0 'or quietly' "$HOLDFAST" list -q
check 'does not' test ! -s "$dir/err"
expect 0 'release' "$HOLDFAST" release job "$ticket"
redis_port=$d
redis_run --dir "$dir/d" || fail 'cannot be restarted'
d_pid=$redis_pid
# A look ends when a majority has answered; this member may not have, yet.
looks_until_told() {
    "$HOLDFAST" run -w 20s job -- "$HOLDFAST" status job >"$dir/out" \
        2>"$dir/err" || return 1
    out_has "127.0.0.1:$d: may not vote for [0-9].*s: it"
}
wait_for 'one is back, empty: it does not vote' looks_until_told
check 'the others hold it' out_has ', on 3 of 5 nodes'
check 'and nobody is warned' test ! -s "$dir/err"

# ---- three of five are away ----
export HOLDFAST_URL="redlock://$hosts"
redis_stop "$d_pid"
redis_stop "$c_pid"
for command in 'run job -- true' 'acquire job' 'status job' 'why job' \
    'break --yes job' 'run -n job -- true'; do
    # shellcheck disable=SC2086 # words
    expect 69 "$command" "$HOLDFAST" $command
    check "$command: how many" err_has '2 of 5 nodes can be reached'
    check "$command: a line per node" same \
        "$(lines_of '^holdfast:   redis://.*: connect: ' err)" 3
done
expect 69 'list, without a majority' "$HOLDFAST" list
check 'says which nodes were not asked' same "$(lines_of 'list: not asked: ' err)" 3
check 'and that it may not be all' err_has '2 of 5 nodes .*, 3 are needed: locks'
redis-cli -p "$a" config set requirepass secret >/dev/null
expect 69 'another one refuses us' "$HOLDFAST" run job -- true
check 'says why' err_has "^holdfast:   redis://127.0.0.1:$a: .*NOAUTH"
redis-cli -p "$a" -a secret --no-auth-warning config set requirepass '' \
    >/dev/null

# ---- they are back, and a short quarantine is sat out ----
export HOLDFAST_URL="$url"
for name in c d e; do
    eval "redis_port=\$$name"
    redis_run --dir "$dir/$name" || fail 'cannot be restarted'
    eval "${name}_pid=\$redis_pid"
done
"$HOLDFAST" init -q --force --max-lease 12s "$url"
for name in c d e; do
    eval "redis_port=\$$name pid=\$${name}_pid"
    redis_stop "$pid"
    redis_run --dir "$dir/$name" || fail 'cannot be restarted'
done
# By its own limits: those above outlast the quarantine.
expect 69 'without waiting' "$HOLDFAST" run -n --url "${url%%\?*}" --lease 5s \
    job -- true
for verbose in 'run -v' 'run -v --fallback local'; do
    # shellcheck disable=SC2086 # words
    expect 0 "$verbose waits as long as run does" \
        "$HOLDFAST" $verbose -w 90s --lease 5s job -- true
    check "$verbose: has it" err_has 'job: acquired, guarantee store'
    for name in c d e; do
        eval "port=\$$name"
        redis-cli -p "$port" flushall >/dev/null
    done
done
expect 0 'so does acquire -v' "$HOLDFAST" acquire -v -w 90s --lease 5s job
check 'it said that it would' err_has 'a lock waits .* s, one quarantine'

# ---- two nodes ----
mkdir "$dir/one" "$dir/two"
two="quorum:file:$dir/one|file:$dir/two"
expect 0 'two nodes' "$HOLDFAST" init "$two"
expect 0 'can be had' "$HOLDFAST" run --url "$two" job -- true
check 'with a warning' err_has '2 nodes: no lock can be had while one of them'
check 'one' same "$(grep -c . "$dir/err")" 1
expect 0 'or quietly' "$HOLDFAST" run -q --url "$two" job -- true
check 'without' test ! -s "$dir/err"
finish
