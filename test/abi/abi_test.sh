#!/bin/sh
# abi_test.sh: programs of an older and of a newer version run with today's
# library, which exports nothing but versioned symbols.  `abi_test.sh newer`: the
# older program runs with a newer library, too, which takes longer to build.
# BUILD names the build folder, CC a compiler, CMAKE what it says.
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# check CLAIM COMMAND...
check() {
    claim=$1
    shift
    if "$@"; then
        echo "ok: $claim"
    else
        echo "FAILED: $claim"
        failed=1
    fi
}

# program NAME HEADERS LIBRARY FLAG...: compile it with other headers than the
# library's.
program() {
    name=$1 headers=$2 library=$3
    shift 3
    "$CC" -std=c11 -D_GNU_SOURCE -Wall -Werror -Wno-missing-field-initializers \
        "$@" -I"$headers" "$here/program.c" -o "$work/$name" \
        -L"$library" -lholdfast "-Wl,-rpath,$library"
}

# runs NAME: on both stores that need no server.
runs() {
    check "$1: it runs on memory:" "$work/$1" memory:abi
    mkdir "$work/$1-locks"
    check "$1: it runs on file:" "$work/$1" "file:$work/$1-locks"
}

# One more field at the end of each struct that begins with its size.
later_headers() {
    mkdir -p "$work/newer/holdfast"
    for header in "$source"/include/holdfast/*.h; do
        awk '
            /^struct hf_[a-z_]* \{$/ { sized = 0 }
            /^    uint32_t struct_size;/ { sized = 1; count++ }
            /^};$/ && sized { print "    int64_t hf_later;"; sized = 0 }
            { print }
            END { print count + 0 >"/dev/stderr" }' "$header" \
            >"$work/newer/holdfast/$(basename "$header")" 2>>"$work/counts"
    done
    [ "$(awk '{ n += $1 } END { print n }' "$work/counts")" -ge 24 ]
}

# The library with these headers.  Its own INIT macros leave the field out.
later_library() {
    mkdir "$work/tree"
    (cd "$source" && cp -R CMakeLists.txt README.md LICENSE api bench cli \
        cmake docs examples include lab src test "$work/tree") &&
        cp "$work/newer/holdfast"/*.h "$work/tree/include/holdfast" &&
        "$CMAKE" -S "$work/tree" -B "$work/library" -DHF_TESTS=OFF \
            -DHF_WERROR=OFF -DCMAKE_C_COMPILER="$CC" \
            -DCMAKE_C_FLAGS=-w -DCMAKE_BUILD_TYPE=Debug >"$work/log" 2>&1 &&
        "$CMAKE" --build "$work/library" --parallel 2 \
            --target holdfast_shared >>"$work/log" 2>&1 && return
    tail -5 "$work/log"
    return 1
}

check 'each sized struct gets a field' later_headers
if [ "${1:-}" = newer ]; then
    check 'a library of a later version builds' later_library
    check 'a program of the first release builds' \
        program first "$here/v0" "$work/library" -DFIRST
    runs first
    exit $failed
fi

check 'a program of the first release builds' \
    program first "$here/v0" "$BUILD" -DFIRST
check 'a program of a later version builds' \
    program later "$work/newer" "$BUILD" -DLATER
runs first
runs later

# What is exported has a version, and is in the list.
exports() {
    readelf -W --dyn-syms "$BUILD/libholdfast.so" |
        awk '$7 != "UND" && $7 != "ABS" && $5 ~ /GLOBAL|WEAK/ { print $8 }' |
        sort >"$work/has"
    sed -n 's/^hf_.*/&@@HOLDFAST_0/p' "$source/api/holdfast.symbols" |
        sort >"$work/wants"
    diff "$work/wants" "$work/has"
}
check 'each symbol is exported with its version, and no other' exports

exit $failed
