#!/bin/sh
# guarantees.sh [PAGE]: every cell of the table in docs/guarantees.md has a row
# that explains it, every row names a test, and every test, check of the
# simulator and model that is named exists.  Prints PAGE:line: what is wrong,
# and fails if anything is.
# shellcheck disable=SC2016 # the quoted programs are awk's, with backticks
set -u
cd "$(dirname "$0")/.." || exit 1

page=${1:-docs/guarantees.md}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# "DIR/FILE.c: suite.name" for every test.
tests_of() { sh tools/test_names.sh contract unit fault; }

# "sim: NAME": planted bugs, and the files that check.
sims_of() {
    sed -nE 's/^ *IN_(CORE|STORE)\(([A-Z_]+),.*/sim: \2/p' test/sim/mutants.c
    for path in test/sim/check_*.c; do
        name=${path##*/}
        echo "sim: ${name%.c}"
    done
}

models_of() {
    sed -n 's/^\([a-z][a-zA-Z0-9_]*\) .*/model: \1/p' docs/model/expected.txt
}

# "line TEXT" for everything between backticks.
spans_of() {
    awk '{
        n = split($0, part, "`")
        for (i = 2; i <= n; i += 2) print FNR " " part[i]
    }' "$page"
}

{
    tests_of
    sims_of
    models_of
} | sort >"$work/there"
spans_of >"$work/spans"
grep -E '^[0-9]+ ([a-z]+/[a-z_0-9]+\.c|sim|model): ' "$work/spans" >"$work/named"

# What is named but not there.
rule_named() {
    while read -r line name; do
        grep -qxF "$name" "$work/there" ||
            echo "$page:$line: no such test: $name"
    done <"$work/named"
}

# A test that was written for the page, and is not on it.
rule_unnamed() {
    grep '^fault/guarantee_' "$work/there" |
        while read -r name; do
            grep -qF " $name" "$work/named" || echo "$page:1: not named: $name"
        done
}

# The table has seven lines of as many cells as there are stores, each with its words and the name of
# its row, or a dash; each row is there once, for a cell, and names a test.
rule_cells() {
    awk -v page="$page" '
        function say(line, text) { print page ":" line ": " text }
        BEGIN { FS = "|" }
        /^## / { in_table = $0 == "## The table"; head = 0 }
        in_table && /^\| \| / { head = FNR; columns = NF }
        in_table && !/^\|/ { if (head) in_table = 0 }
        in_table && head && FNR > head + 1 && /^\|/ {
            lines++
            if (NF != columns)
                say(FNR, NF - 3 " cells, not " columns - 3)
            for (i = 3; i < columns; i++) {
                if ($i ~ /^ – $/) continue
                if ($i !~ /^ (yes|if|fence|no) · (yes|if|no) · [a-z]+ \*\*[A-Z][0-9]\*\* $/) {
                    say(FNR, "no cell:" $i)
                    continue
                }
                match($i, /[A-Z][0-9]\*\* $/)
                cell[substr($i, RSTART, 2)] = FNR
            }
            next
        }
        /^\| [A-Z][0-9] \|/ {
            name = substr($0, 3, 2)
            if (name in row) say(FNR, name " is there twice")
            row[name] = FNR
            if ($4 !~ /`(contract|unit|fault)\/[a-z_0-9]+\.c: /)
                say(FNR, name " names no test")
        }
        END {
            if (lines != 7) say(1, lines + 0 " lines in the table, not 7")
            for (name in cell)
                if (!(name in row)) say(cell[name], "no row " name)
            for (name in row)
                if (!(name in cell)) say(row[name], "no cell for " name)
        }' "$page"
}

{
    [ -s "$work/named" ] || echo "$page:1: names no test at all"
    rule_named
    rule_unnamed
    rule_cells
} >"$work/breaches"

cat "$work/breaches"
[ ! -s "$work/breaches" ] || exit 1
echo "guarantees.sh: $(wc -l <"$work/named" | tr -d ' ') tests named, all there"
