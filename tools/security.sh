#!/bin/sh
# security.sh [PAGE]: every line of the table in SECURITY.md names a test, every
# test that is named exists, and each of the four threats is there.  Prints
# PAGE:line: what is wrong, and fails if anything is.
# shellcheck disable=SC2016 # the quoted programs are awk's, with backticks
set -u
cd "$(dirname "$0")/.." || exit 1

page=${1:-SECURITY.md}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# "DIR/FILE.c: suite.name" for every test.
tests_of() { sh tools/test_names.sh contract unit fault; }

# "ctest: NAME" for those that cmake names, "fuzz/FILE.c" for fuzz targets,
# "cli/FILE.sh" for tests of the command.
others_of() {
    sed -nE 's/^ *hf_test\(([a-z-]+) .*/ctest: \1/p' cmake/tests.cmake
    find test/fuzz -name '*_fuzz.c' | sed 's|.*/|fuzz/|'
    for path in test/cli/*.sh; do echo "${path#test/}"; done
}

{
    tests_of
    others_of
} | sort >"$work/there"

# "line TEXT" for everything between backticks that looks like a test.
awk '/^\|/ {
    n = split($0, part, "`")
    for (i = 2; i <= n; i += 2)
        if (part[i] ~ /^((unit|fault|contract)\/[a-z_0-9]+\.c: |fuzz\/|cli\/|ctest: )/)
            print FNR " " part[i]
}' "$page" >"$work/named"

{
    while read -r line name; do
        grep -qxF "$name" "$work/there" ||
            echo "$page:$line: no such test: $name"
    done <"$work/named"
    awk '/^\| / && !/^\| attacker / { print FNR }' "$page" | while read -r line; do
        grep -q "^$line " "$work/named" || echo "$page:$line: names no test"
    done
    for attacker in 'hostile server' 'hostile local user' 'hostile network' \
        'hostile input'; do
        grep -q "^| $attacker |" "$page" || echo "$page:1: no line about: $attacker"
    done
} >"$work/breaches"

cat "$work/breaches"
[ ! -s "$work/breaches" ] || exit 1
echo "security.sh: $(wc -l <"$work/named" | tr -d ' ') tests named, all there"
