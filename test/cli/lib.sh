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
unset HOLDFAST_PROFILE HOLDFAST_REQUIRE HOLDFAST_HELD
# A configuration of this machine is none of ours.
HOLDFAST_CONFIG=/dev/null
export HOLDFAST_CONFIG
unset HOLDFAST_USER HOLDFAST_PASSWORD_FILE HOLDFAST_SENTINEL_PASSWORD
tests=$(cd "$(dirname "$0")" && pwd)
test_server=$(dirname "$HOLDFAST")/test/test-server
dir=$(mktemp -d) || exit 1
HOLDFAST_DIR=$dir/locks
mkdir "$HOLDFAST_DIR"
HOLDFAST_MODULE_PATH=$(dirname "$HOLDFAST")/module
export HOLDFAST HOLDFAST_DIR HOLDFAST_MODULE_PATH dir
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

# skip TEXT: end the test, for this machine lacks what it says; where CI is set,
# that is a failure.  77 is SKIP_RETURN_CODE in cmake/tests.cmake.
skip() {
    finished=yes
    if [ -n "${CI:-}" ]; then
        echo "cannot be skipped, CI is set: $*"
        exit 1
    fi
    [ $failed -eq 0 ] || exit 1
    echo "skipped: $*"
    exit 77
}
# need_program NAME: or the test is skipped.
need_program() {
    command -v "$1" >/dev/null && return
    skip "$1 is not installed: ./dev test installs it"
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

# wait_quietly COMMAND...: until it succeeds; 1 after 60 s.
wait_quietly() {
    rounds=0
    while ! "$@" >/dev/null 2>&1; do
        rounds=$((rounds + 1))
        [ $rounds -lt 3000 ] || return 1
        sleep 0.02
    done
}

# wait_for TEXT COMMAND...: the same, as a check.
wait_for() {
    text=$1
    shift
    if wait_quietly "$@"; then pass; else fail "$text: not within 60 s"; fi
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

# has_redis: is the redis backend in this build?  If so, it refuses the URL
# before it connects.
has_redis() {
    ! "$HOLDFAST" status --url redis://127.0.0.1/x a 2>&1 |
        grep -q 'not built in'
}
# need_redis: or the test is skipped; looked for once.
need_redis() {
    [ -z "${redis_is_there:-}" ] || return 0
    has_redis || skip 'this build is without the redis backend'
    need_program redis-server
    redis_is_there=yes
}

# redis_reserve: a port in $redis_port that no other test of this machine gets;
# with it come the next port, for TLS, and the one 10000 above, for a cluster.
redis_reserve() {
    need_redis
    redis_port=$("$test_server" port $$) || exit 1
}

# redis_run OPTION...: a server on $redis_port; its URL in $redis_url, and in
# $redis with times for a busy machine, on which two seconds without an answer
# mean nothing; its pid in $redis_pid.  $redis_env is its environment, as for
# env(1); with $redis_tls it speaks TLS on the next port.  It returns when that
# very process answers on that port; 1: it cannot be started there.
redis_env=
redis_tls=
redis_run() {
    # shellcheck disable=SC2046,SC2086 # one assignment per word
    redis_pid=$("$test_server" start ${redis_env:+$(printf -- '-e %s ' $redis_env)} \
        $$ "$redis_port" "$dir" \
        ${redis_tls:+--tls-port $((redis_port + 1))} "$@") || return 1
    started "$redis_pid"
    redis_url=redis://127.0.0.1:$redis_port
    redis="$redis_url?patience=20s&timeout=20s"
}

# redis_start OPTION...: the same on a port of its own, which is in $redis_port.
# Ends the test if there is none.
redis_start() {
    redis_reserve
    redis_run "$@" || exit 1
}
# sentinel_run DIRECTORY LINE...: a Sentinel on $redis_port, with these lines in
# its file.
sentinel_run() {
    sentinel_dir=$1
    shift
    printf '%s\n' "port $redis_port" 'bind 127.0.0.1' "dir $sentinel_dir" \
        "logfile redis-$redis_port.log" "$@" >"$sentinel_dir/conf"
    redis_pid=$("$test_server" start -s $$ "$redis_port" "$sentinel_dir") ||
        exit 1
    started "$redis_pid"
}
# redis_stop PID: end it, and wait until it has ended.
redis_stop() {
    kill "$1"
    wait_quietly gone "$1"
}
