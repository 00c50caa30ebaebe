#!/bin/sh
# fuzz.sh BUILD SECONDS: run every libFuzzer target of BUILD for that long, as
# many at a time as JOBS says (2).
#
# Each begins with the inputs of test/fuzz/corpus and with those that earlier
# runs have found, in BUILD/corpus; what it finds is added there.  An input that
# crashes a target is kept as BUILD/crash/<target>-*, and named.
#
#   fuzz.sh BUILD merge   add what BUILD/corpus has, and test/fuzz/corpus lacks,
#                         to test/fuzz/corpus; only what covers more
set -eu

build=$1
seconds=$2
jobs=${JOBS:-2}
kept=test/fuzz/corpus
found=$build/corpus
crashes=$build/crash
logs=$build/log
mkdir -p "$crashes" "$logs"

targets=
for program in "$build"/test/*_fuzz; do
    [ -x "$program" ] || continue
    stem=$(basename "$program")
    targets="$targets ${stem%_fuzz}"
    mkdir -p "$found/${stem%_fuzz}" "$kept/${stem%_fuzz}"
done
if [ -z "$targets" ]; then
    echo 'fuzz.sh: no targets were built' >&2
    exit 1
fi

files() {
    find "$1" -type f | wc -l
}

# Names are the hashes of the contents, so a second merge changes nothing.
merge() {
    "$build/test/${1}_fuzz" -set_cover_merge=1 -max_len=4096 "$kept/$1" "$found/$1" \
        >"$logs/$1" 2>&1
    echo "$1: $(files "$kept/$1") inputs"
}

# The last coverage that the target printed: "210 of 3400 edges, 800 features".
# The edges are those of all that is linked into it.
coverage() {
    all=$(sed -n 's/.*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$logs/$1")
    grep -o 'cov: [0-9]* ft: [0-9]*' "$logs/$1" | tail -n 1 |
        sed "s/cov: \([0-9]*\) ft: \([0-9]*\)/\1 of ${all:-?} edges, \2 features/"
}

target_run() {
    before=$(files "$found/$1")
    status=0
    "$build/test/${1}_fuzz" -max_total_time="$seconds" -max_len=4096 \
        -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$crashes/$1-" "$found/$1" "$kept/$1" \
        >"$logs/$1" 2>&1 || status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$1")
    echo "$1: ${runs:-?} runs, $(coverage "$1")," \
        "$(($(files "$found/$1") - before)) new inputs"
    [ "$status" -eq 0 ] && return
    echo "$1: FAILED, and this is the input:"
    find "$crashes" -name "$1-*" -newer "$logs/.begun"
    tail -n 40 "$logs/$1"
    touch "$logs/.failed"
}

if [ "$seconds" = merge ]; then
    for noun in $targets; do merge "$noun"; done
    exit
fi
rm -f "$logs/.failed"
touch "$logs/.begun"
running=0
# shellcheck disable=SC2086 # one name per word
set -- $targets
echo "$# targets, $seconds s each, $jobs at a time"
for noun; do
    target_run "$noun" &
    running=$((running + 1))
    if [ "$running" -eq "$jobs" ]; then
        wait
        running=0
    fi
done
wait
echo "new inputs are in $found; take them over with: sh tools/fuzz.sh $build merge"
if [ -e "$logs/.failed" ]; then
    echo "crashes are in $crashes" >&2
    exit 1
fi
echo "$# targets, no crash"
