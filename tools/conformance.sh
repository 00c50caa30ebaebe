#!/bin/sh
# conformance.sh [PAGE]: every test that docs/conformance.md names exists, every
# test that was written for it is named there, and no row is without an answer.
# Prints PAGE:line: what is wrong, and fails if anything is.
# shellcheck disable=SC2016 # the quoted programs are awk's, with backticks
set -u
cd "$(dirname "$0")/.." || exit 1

page=${1:-docs/conformance.md}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# "DIR/FILE.c: suite.name" for every test.
tests_of() { sh tools/test_names.sh contract unit fault interop; }

# "line TEXT" for everything between backticks.
spans_of() {
    awk '{
        n = split($0, part, "`")
        for (i = 2; i <= n; i += 2) print FNR " " part[i]
    }' "$page"
}

tests_of | sort >"$work/there"
spans_of >"$work/spans"
grep -E '^[0-9]+ [a-z]+/[a-z_0-9]+\.c: ' "$work/spans" >"$work/named"

# A test that is named but not there.
rule_named() {
    while read -r line test; do
        grep -qxF "$test" "$work/there" ||
            echo "$page:$line: no such test: $test"
    done <"$work/named"
}

# A path or a call that is named but not there.
rule_other() {
    while read -r line text; do
        case $text in
        test/*.c | test/*.h | test/*.sh | docs/*.md | bench/*.md)
            [ -f "$text" ] || echo "$page:$line: no such file: $text"
            ;;
        hf_*'()')
            grep -qxF "${text%()}" api/holdfast.symbols ||
                echo "$page:$line: no such call: $text"
            ;;
        esac
    done <"$work/spans"
}

# A test of our own for the page that the page does not name.
rule_unnamed() {
    grep -E '^(contract|fault)/redisson_' "$work/there" |
        while read -r test; do
            grep -qF " $test" "$work/named" || echo "$page:1: not named: $test"
        done
}

# "### Heading (N)" has N rows, and each answers in its second column with a
# test of ours.
rule_rows() {
    awk -v page="$page" '
        function count() {
            if (want >= 0 && rows != want)
                print page ":" at ": " rows " rows, not " want
        }
        BEGIN { want = -1 }
        /^#/ {
            count()
            want = -1; rows = 0; at = FNR
            if (match($0, /\([0-9]+\)$/))
                want = substr($0, RSTART + 1, RLENGTH - 2) + 0
            next
        }
        /^\| *[-:]/ || !/^\|/ { next }
        want >= 0 && !/^\| (Redisson|defect|pain) / {
            rows++
            split($0, cell, "|")
            if (cell[3] !~ /`[a-z]+\/[a-z_0-9]+\.c: /)
                print page ":" FNR ": no test"
        }
        END { count() }' "$page"
}

{
    [ -s "$work/named" ] || echo "$page:1: names no test at all"
    rule_named
    rule_other
    rule_unnamed
    rule_rows
} >"$work/breaches"

cat "$work/breaches"
[ ! -s "$work/breaches" ] || exit 1
echo "conformance.sh: $(wc -l <"$work/named" | tr -d ' ') tests named, all there"
