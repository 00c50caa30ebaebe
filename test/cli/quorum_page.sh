#!/bin/sh
# quorum_page.sh: the shell blocks of docs/quorum.md run as they stand, one after
# the other, on ports of our own.
. "$(dirname "$0")/lib.sh"
pages=$tests/../../docs

# Free ports in place of 7001 to 7006, and our binary in PATH.
mkdir "$dir/bin" "$dir/tree"
ln -s "$HOLDFAST" "$dir/bin/holdfast"
ln -s "$dir/bin" "$dir/tree/build"
PATH=$dir/bin:$PATH
export PATH
for i in 1 2 3 4 5 6; do
    redis_reserve
    eval "port_$i=$redis_port"
done
# script PAGE: its blocks, with our ports.
script() {
    echo 'set -eu'
    for i in 1 2 3 4 5 6; do eval "echo port_$i=\$port_$i"; done
    awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$1" |
        sed -e 's/"700$i"/"$(eval echo "\\$port_$i")"/' \
            -e 's/700\([1-6]\)/@\1@/g' \
            -e "s/@1@/$port_1/g; s/@2@/$port_2/g; s/@3@/$port_3/g" \
            -e "s/@4@/$port_4/g; s/@5@/$port_5/g; s/@6@/$port_6/g"
}
# stop: end what the blocks have started.
stop() {
    for file in "$@"; do
        [ -s "$file" ] || continue
        pid=$(cat "$file")
        started "$pid"
        redis_stop "$pid"
    done
}
cd "$dir/tree" || exit 1

script "$pages/quorum.md" >"$dir/script"
check 'there are blocks' test "$(wc -l <"$dir/script")" -gt 15
expect 0 'they run' sh "$dir/script"
stop node*/pid
check 'a fence was had' out_has '^my fence is [1-9]'
check 'the doctor was asked' out_has '^! hosts .*5 of 5 nodes are on 127.0.0.1'
check 'three were enough' out_has '^three of five are enough'
check 'the node that is away is told' out_has ': connect: Connection refused'
check 'the new one must wait' out_has ': votes in 3.*s'
check 'it goes on' out_has '^on with the new one'
finish
