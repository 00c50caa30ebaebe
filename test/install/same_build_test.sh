#!/bin/sh
# same_build_test.sh: two builds of the same sources in two folders give the
# same library, command and modules, and nothing in them tells where they were
# built.  CMAKE and CC are those of the build that runs this.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
: "${CMAKE:=cmake}" "${CC:=cc}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# What is built: the library, the command, one module.
targets='holdfast_shared holdfast module-echo'
files='libholdfast.so holdfast test/module/libholdfast-echo.so'

# A copy of its own, for the sources' folder must not be the same either; and
# no cache that could hand the first build's objects to the second.
build_in() {
    mkdir -p "$1/tree"
    (cd "$source" && tar cf - CMakeLists.txt LICENSE api bench cli cmake docs \
        examples include lab src test tools) | (cd "$1/tree" && tar xf -)
    "$CMAKE" -S "$1/tree" -B "$1/out" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_C_COMPILER_LAUNCHER= -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_INSTALL_PREFIX=/usr >"$1/log" 2>&1
    # shellcheck disable=SC2086 # one target per word
    "$CMAKE" --build "$1/out" -j 2 --target $targets >"$1/log" 2>&1 || {
        tail -n 20 "$1/log"
        return 1
    }
}

one=$work/one
two=$work/another/folder/of/another/length
mkdir -p "$one" "$two"
build_in "$one"
build_in "$two"

for file in $files; do
    if strings -a "$one/out/$file" | grep -F "$work"; then
        failed=$((failed + 1))
        echo "FAILED: $file: tells where it was built"
    fi
    strip -o "$one/stripped" "$one/out/$file"
    strip -o "$two/stripped" "$two/out/$file"
    if ! cmp "$one/stripped" "$two/stripped"; then
        failed=$((failed + 1))
        echo "FAILED: $file: differs between the folders"
    fi
done
echo "$failed failed"
[ "$failed" -eq 0 ]
