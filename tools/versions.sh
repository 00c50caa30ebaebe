#!/bin/sh
# versions.sh BUILD: run the redis tests on every server that is at hand:
# redis-server and valkey-server from PATH, what tools/servers.sh has fetched
# (./dev versions calls it), and the programs named in HF_SERVERS (separated by
# blanks).
set -u

build=$1
tests='^(contract-(redis|sentinel|cluster)|redis_.*|replay_test)$'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=
count=0

servers() {
    command -v redis-server
    command -v valkey-server
    if [ -d "$build/servers" ]; then sh tools/servers.sh "$build/servers"; fi
    # shellcheck disable=SC2086 # one path per word
    if [ -n "${HF_SERVERS:-}" ]; then printf '%s\n' $HF_SERVERS; fi
}

# The tests start `redis-server`; this decides which one that is.  Their clusters
# are made with what Redis 7.0 brought.
run_on() {
    case $2 in
    *v=[0-6].*) without=cluster ;;
    *) without='^$' ;;
    esac
    ln -sf "$1" "$work/redis-server"
    PATH="$work:$PATH" ctest --test-dir "$build" -R "$tests" -E "$without" \
        --no-tests=error --output-on-failure
}

echo "hiredis $(pkg-config --modversion hiredis 2>/dev/null || echo none)"
servers >"$work/list"
while read -r server; do
    version=$("$server" --version) || exit 1
    echo "== $server: $version"
    if ! run_on "$server" "$version" </dev/null; then failed="$failed $server"; fi
    count=$((count + 1))
done <"$work/list"

if [ "$count" -eq 0 ]; then
    echo 'versions.sh: no server found: install redis-server' >&2
    exit 1
fi
if [ -n "$failed" ]; then
    echo "failed on:$failed" >&2
    exit 1
fi
echo "passed on $count servers"
