#!/bin/sh
# setuid.sh: a program with more rights than its user listens to none of that
# user's variables.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
    skip "only root can make a program of another user's"
fi
# Not in $dir, which only its owner may enter.
bin=$(mktemp -d) || exit 1
trap 'rm -rf "$bin"; cleanup' EXIT
chmod 755 "$bin"
cp "$HOLDFAST" "$bin/plain"
cp "$HOLDFAST" "$bin/other"
chown nobody "$bin/other"
chmod 4755 "$bin/other"
cp "$(command -v id)" "$bin/id"
chown nobody "$bin/id"
chmod 4755 "$bin/id"
if [ "$("$bin/id" -u)" -eq 0 ]; then
    skip "the file system honours no set-user-id"
fi

# Both are told where the locks are; only the first may listen.
HOLDFAST_DIR=/nonexistent/dir
export HOLDFAST_DIR
expect 78 "a program of our own" "$bin/plain" status x
check "uses HOLDFAST_DIR" err_has /nonexistent/dir
"$bin/other" status x >"$dir/out" 2>"$dir/err"
refute "one of another user's does not" err_has /nonexistent/dir

mkdir "$bin/free"
chmod 777 "$bin/free"
for name in HOLDFAST_URL HOLDFAST_URL_FILE; do
    value=chosen://x
    [ $name = HOLDFAST_URL ] || value=/nonexistent/chosen
    expect 78 "$name for our own" env $name=$value "$bin/plain" status x
    check "$name is used" err_has chosen
    env $name=$value "$bin/other" status x >"$dir/out" 2>"$dir/err"
    refute "$name is not used by another's" err_has chosen
done
ticket=$("$bin/plain" acquire --url "file://$bin/free" x)
expect 64 "a ticket" env HOLDFAST_TICKET="$ticket" \
    "$bin/other" release --url "file://$bin/free" x
check "is not taken from a variable" err_has 'no ticket'
expect 0 "but by our own program" env HOLDFAST_TICKET="$ticket" \
    "$bin/plain" release --url "file://$bin/free" x
expect 64 "a token" env HOLDFAST_FENCE=7 \
    "$bin/other" guard --url memory: set x y
finish
