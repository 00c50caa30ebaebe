#!/bin/sh
# hardening_test.sh: what a build protects itself with, read from the files it
# made: the library, the command, every module, and the objects they are made
# of.  BUILD names the build folder, CC the compiler that filled it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
: "${BUILD:=$here/../../build}" "${CC:=cc}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() {
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
    fi
}

has() {
    grep -qE "$1" "$2"
}

lacks() {
    ! grep -qE "$1" "$2"
}

# ---- linked files ----

linked() {
    readelf -W -h -l -d "$1" >"$work/elf"
    check "$1: relocations are read-only at run time" \
        has '^ *GNU_RELRO ' "$work/elf"
    check "$1: and all of them are resolved before it runs" \
        has '\((FLAGS|FLAGS_1)\).*(BIND_NOW|NOW)' "$work/elf"
    check "$1: no code is relocated" lacks '\(TEXTREL\)' "$work/elf"
    check "$1: the stack is not executable" \
        has '^ *GNU_STACK .* RW +0x' "$work/elf"
}

library=$BUILD/libholdfast.so
command=$BUILD/holdfast
for file in "$library" "$command" "$BUILD"/test/module/libholdfast-*.so; do
    check "$file is there" test -f "$file"
    linked "$file"
done

readelf -W -h -d "$command" >"$work/elf"
check "$command: its place in memory is random" \
    has '\(FLAGS_1\).* PIE' "$work/elf"

# The functions that the compiler calls for the two protections.
for file in "$library" "$command"; do
    readelf -W --dyn-syms "$file" >"$work/symbols"
    check "$file: functions guard their return addresses" \
        has ' UND +__stack_chk_fail' "$work/symbols"
    check "$file: calls of the C library know how large their targets are" \
        has ' UND +__[a-z]*(printf|cpy|move|recv|read|open|realpath)_chk' \
        "$work/symbols"
done

# ---- objects ----

find "$BUILD/CMakeFiles/holdfast_objects.dir" "$BUILD/CMakeFiles/holdfast.dir" \
    "$BUILD"/CMakeFiles/module-*.dir -name '*.o' | sort >"$work/objects"
count=$(wc -l <"$work/objects" | tr -d ' ')
check 'there are objects to look at' test "$count" -gt 100

# In how many objects does readelf print the word?
objects_with() {
    word=$1
    shift
    xargs readelf -W "$@" <"$work/objects" 2>/dev/null |
        awk -v word="$word" '
            /^File: / { seen = 0 }
            !seen && $0 ~ word { seen = 1; n++ }
            END { print n + 0 }'
}

every_object() {
    n=$(objects_with "$2" $3)
    [ "$n" -eq "$count" ] || echo "    $n of $count objects have it"
    check "every object: $1" test "$n" -eq "$count"
}

producer=--debug-dump=info\ --dwarf-depth=1
case $(uname -m) in
x86_64 | i?86)
    every_object 'jumps land only where they may' 'x86 feature:.*IBT' -n
    every_object 'returns can be checked' 'x86 feature:.*SHSTK' -n
    # Only if the C library's own start files have it is the whole marked.
    echo 'int main(void) { return 0; }' >"$work/empty.c"
    "$CC" -fcf-protection "$work/empty.c" -o "$work/empty"
    readelf -n "$work/empty" >"$work/notes"
    if has 'x86 feature:.*IBT' "$work/notes"; then
        for file in "$library" "$command"; do
            readelf -n "$file" >"$work/notes"
            check "$file: is marked so" has 'x86 feature:.*IBT' "$work/notes"
        done
    else
        echo 'skipped: the C library was built without CET; objects have it'
    fi
    ;;
aarch64)
    every_object 'jumps and returns are checked' \
        'AArch64 feature:.*BTI.*PAC' -n
    ;;
esac
if [ "$(objects_with 'DW_AT_producer.*GNU C' $producer)" -gt 0 ]; then
    every_object 'functions with arrays guard their return addresses' \
        'DW_AT_producer.*-fstack-protector-strong' "$producer"
    every_object 'no step over the guard page of the stack' \
        'DW_AT_producer.*-fstack-clash-protection' "$producer"
else
    echo 'skipped: this compiler does not note its flags in the objects'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
