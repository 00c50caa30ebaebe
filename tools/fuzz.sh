#!/bin/sh
# fuzz.sh BUILD SECONDS: run each libFuzzer target for so long.  What is found
# on the way is kept in BUILD/corpus; a crash stops everything.
set -eu

build=$1
seconds=$2
count=0
for program in "$build"/test/*_fuzz; do
    [ -x "$program" ] || continue
    stem=$(basename "$program")
    noun=${stem%_fuzz}
    mkdir -p "$build/corpus/$noun" "test/fuzz/corpus/$noun"
    echo "== $stem, $seconds s"
    "$program" -max_total_time="$seconds" -max_len=4096 -print_final_stats=1 \
        -verbosity=0 -artifact_prefix="$build/$stem-" \
        "$build/corpus/$noun" "test/fuzz/corpus/$noun"
    count=$((count + 1))
done
if [ "$count" -eq 0 ]; then
    echo 'fuzz.sh: no targets were built' >&2
    exit 1
fi
echo "$count targets, no crash"
