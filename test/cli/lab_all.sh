#!/bin/sh
# lab_all.sh: every scenario of `holdfast lab`: the naive way shows the fault,
# and holdfast does not.  `lab run` judges it; what this adds is that all are
# there, and that a drawing of each is small.
. ./lib.sh

need_redis
TMPDIR=$dir/tmp
mkdir "$TMPDIR"
chmod 711 "$dir" "$TMPDIR" # PostgreSQL runs as another user
export TMPDIR
is_clean() { [ -z "$(ls -A "$TMPDIR")" ]; }

for file in ../../cli/play/scene/*.c; do
    name=$(basename "$file" .c | tr _ -)
    expect 0 "$name shows what it is to show" "$HOLDFAST" lab run "$name" \
        --svg "$dir/$name.svg"
    [ "$got" -eq 0 ] || cat "$dir/out"
    check "$name: its drawing is there, and small" \
        test "$(wc -c <"$dir/$name.svg")" -lt 40000
done
check 'nothing is left behind' is_clean
finish
