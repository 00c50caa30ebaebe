#!/bin/sh
# abi.sh: do programs that were linked with the library still fit it?  Compares
# what the headers declare with api/holdfast.abi: functions, and fields at the
# end of a struct that begins with its size, may be added; nothing may be
# removed, moved or changed.  `abi.sh --accept` keeps what is declared now.
# `abi.sh --first` keeps the headers, without their comments, as those of the
# first release (test/abi/v0).
#
# The library itself would tell as much, and all its private types as well: it
# is compiled with these headers, and test/abi says what it exports.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
kept=api/holdfast.abi
cc=${CC:-cc}

bare() {
    "$cc" -w -fpreprocessed -dD -E -P "$1"
}

if [ "${1:-}" = --first ]; then
    rm -rf test/abi/v0
    mkdir -p test/abi/v0/holdfast
    for header in include/holdfast/*.h; do
        bare "$header" >"test/abi/v0/holdfast/$(basename "$header")" || exit 1
    done
    exit 0
fi

if ! command -v abidw >/dev/null 2>&1; then
    if [ -n "${CI:-}" ]; then
        echo 'tools/abi.sh:1: abidw is not installed: package abigail-tools'
        exit 1
    fi
    echo 'abi: skipped: abidw is not installed: package abigail-tools' >&2
    exit 0
fi

# A library with these functions, and nothing in them; and, since most calls
# pass an enum as an int, a variable of each enum.
{
    echo '#include <holdfast/holdfast.h>'
    for header in include/holdfast/*.h; do
        bare "$header" | awk '
            /^enum hf_[a-z_]* \{$/ { print $1, $2, "a_" $2 ";" }
            /^HF_API / { inside = 1 }
            inside { sub(/\);$/, ") { __builtin_trap(); }"); print }
            /__builtin_trap/ { inside = 0 }'
    done
} >"$work/holdfast.c"
"$cc" -g -w -shared -fPIC -Iinclude -fdebug-prefix-map="$work"=. \
    "$work/holdfast.c" -o "$work/libholdfast.so" || exit 1
abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
    --no-architecture --type-id-style hash \
    --out-file "$work/now.abi" "$work/libholdfast.so" || exit 1

if [ "${1:-}" = --accept ]; then
    cp "$work/now.abi" "$kept"
    exit 0
fi

abidiff --no-added-syms --suppressions api/holdfast.abignore "$kept" \
    "$work/now.abi" >"$work/diff" 2>&1 && exit 0
cat "$work/diff" >&2
echo "$kept:1: programs that were linked before may not fit any more: see" \
    "above; if that is meant, tools/abi.sh --accept"
exit 1
