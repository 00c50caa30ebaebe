# lib.sh: what the tests of the command share; read by ". lib.sh".
#
# HOLDFAST is the binary under test.  Everything lives in one temporary
# directory; every process a test starts is ended by its pid.  Nothing here
# measures time: conditions are waited for, with a generous limit.

set -u
: "${HOLDFAST:?set HOLDFAST to the binary under test}"
case $HOLDFAST in
/*) ;;
*) HOLDFAST=$(pwd)/$HOLDFAST ;;
esac
unset HOLDFAST_URL HOLDFAST_URL_FILE HOLDFAST_PASSWORD HOLDFAST_TICKET
unset HOLDFAST_USER HOLDFAST_PASSWORD_FILE HOLDFAST_SENTINEL_PASSWORD
tests=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
HOLDFAST_DIR=$dir/locks
mkdir "$HOLDFAST_DIR"
export HOLDFAST HOLDFAST_DIR dir
passed=0 failed=0 finished=no started_pids=

# started PID: end it when the test ends.
started() { started_pids="$started_pids $1"; }

cleanup() {
    for pid in $started_pids; do
        kill -CONT "$pid" 2>/dev/null
        kill "$pid" 2>/dev/null
    done
    for pid in $started_pids; do
        wait_quietly gone "$pid" || kill -9 "$pid" 2>/dev/null
    done
    chmod -R u+rwx "$dir" 2>/dev/null
    rm -rf "$dir"
    [ $finished = yes ] || { echo "$0: did not come to its end"; exit 1; }
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

finish() {
    finished=yes
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
    exit
}

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
    [ ! -s "$dir/err" ] || sed 's/^/    stderr: /' "$dir/err"
}

# check TEXT COMMAND...: the command must succeed.
check() {
    text=$1
    shift
    if "$@"; then pass; else fail "$text"; fi
}

# refute TEXT COMMAND...: the command must fail.
refute() {
    text=$1
    shift
    if "$@"; then fail "$text"; else pass; fi
}

# expect CODE TEXT COMMAND...: it must exit with CODE; its output goes to
# $dir/out and $dir/err.
expect() {
    want=$1 text=$2
    shift 2
    "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    if [ "$got" -eq "$want" ]; then
        pass
    else
        fail "$text: exit $got, not $want"
    fi
}

out_has() { grep -q -e "$1" "$dir/out"; }
err_has() { grep -q -e "$1" "$dir/err"; }
same() { [ "$1" = "$2" ]; }
file_is() { [ "$(cat "$1" 2>/dev/null)" = "$2" ]; }

# wait_quietly COMMAND...: until it succeeds; 1 after 20 s.
wait_quietly() {
    rounds=0
    while ! "$@" >/dev/null 2>&1; do
        rounds=$((rounds + 1))
        [ $rounds -lt 1000 ] || return 1
        sleep 0.02
    done
}

# wait_for TEXT COMMAND...: the same, as a check.
wait_for() {
    text=$1
    shift
    if wait_quietly "$@"; then pass; else fail "$text: not within 20 s"; fi
}

# need_file FILE: it must come to exist, with something in it.
need_file() { wait_quietly test -s "$1" || fail "$1: was never written"; }

# gone PID: it has ended; a zombie nobody reaps counts as ended.
gone() {
    kill -0 "$1" 2>/dev/null || return 0
    grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

held() { "$HOLDFAST" status -q "$@" >/dev/null 2>&1; }
free() {
    "$HOLDFAST" status -q "$@" >/dev/null 2>&1
    [ $? -eq 1 ]
}

# background CMD...: start it with default signals, as a terminal would (sh
# ignores INT and QUIT in its background jobs); pid in $job.
background() {
    env --default-signal "$@" &
    job=$!
    started $job
}

# finished_with CODE TEXT: $job must end with CODE.
finished_with() {
    want=$1 text=$2
    wait_quietly gone "$job" || kill -9 "$job"
    wait "$job" 2>/dev/null
    got=$?
    if [ "$got" -eq "$want" ]; then
        pass
    else
        fail "$text: exit $got, not $want"
    fi
}

# redis_run OPTION...: a server on $redis_port; its URL in $redis, its pid in
# $redis_pid.  $redis_env is its environment, as for env(1); with $redis_tls it
# speaks TLS on the next port.  1: it cannot be started there.
redis_env=
redis_tls=
redis_run() {
    # shellcheck disable=SC2086 # one assignment per word
    env $redis_env redis-server --port "$redis_port" --bind 127.0.0.1 \
        ${redis_tls:+--tls-port $((redis_port + 1))} \
        --save '' --appendonly no --dir "$dir" "$@" >"$dir/redis.log" 2>&1 &
    redis_pid=$!
    started $redis_pid
    wait_quietly redis_is_up
    redis=redis://127.0.0.1:$redis_port
    ! gone "$redis_pid"
}

# redis_start OPTION...: the same on a free port, which is in $redis_port; none of
# those that the kernel gives to connections.  Ends
# the test if there is none.
redis_start() {
    if ! command -v redis-server >/dev/null; then
        echo "no redis-server: skipped"
        finish
    fi
    tries=0
    redis_port=$((20000 + $$ % 12000))
    while [ $tries -lt 50 ]; do
        tries=$((tries + 1))
        redis_port=$((redis_port + 7))
        redis-cli -p $redis_port ping >/dev/null 2>&1 && continue
        if redis_run "$@"; then return; fi
    done
    echo "redis-server cannot be started:"
    tail -n 5 "$dir/redis.log"
    exit 1
}
# redis_stop PID: end it, and wait until it has ended.
redis_stop() {
    kill "$1"
    wait_quietly gone "$1"
}
# By its own log: a ping might be answered by another test's server.
redis_is_up() {
    gone "$redis_pid" || grep -q 'Ready to accept' "$dir/redis.log"
}
