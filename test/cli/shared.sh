#!/bin/sh
# shared.sh: -s and -x are the two sides of a read/write lock on Redis, and what
# flock(1) has on file:; without either it is a plain lock.
. "$(dirname "$0")/lib.sh"
redis_start
HOLDFAST_URL=$redis
export HOLDFAST_URL

cat >"$dir/reader" <<'EOF'
echo $$ >"$dir/reader.$1"
until [ -e "$dir/end" ]; do sleep 0.05; done
EOF

# Two read at once; nobody writes meanwhile.
background "$HOLDFAST" run -s data sh "$dir/reader" 1 2>"$dir/err1"
first=$job
background "$HOLDFAST" run --shared data sh "$dir/reader" 2 2>"$dir/err2"
second=$job
need_file "$dir/reader.1"
need_file "$dir/reader.2"
expect 75 "nobody writes while they read" "$HOLDFAST" run -n -x data true
expect 0 "a third one may read" "$HOLDFAST" run -n -s data true
expect 0 "status" "$HOLDFAST" status data
check "says that it is read" out_has 'shared'
expect 0 "status --json" "$HOLDFAST" status --json data
check "says how many read" out_has '"readers":2'
expect 78 "it is no plain lock meanwhile" "$HOLDFAST" run -n data true
check "and says so" err_has '^holdfast: data: '
touch "$dir/end"
job=$first
finished_with 0 "the first reader"
job=$second
finished_with 0 "the second reader"

# One writes; nobody reads or writes meanwhile, and fences rise.
rm "$dir/end"
background "$HOLDFAST" run -x data sh -c \
    'echo $HOLDFAST_FENCE >"$dir/fence.1"; exec sh "$dir/reader" 3' \
    2>"$dir/err3"
need_file "$dir/reader.3"
expect 75 "nobody reads while one writes" "$HOLDFAST" run -n -s data true
expect 75 "nor writes" "$HOLDFAST" run -n --exclusive data true
touch "$dir/end"
finished_with 0 "the writer"
expect 0 "the next writer" "$HOLDFAST" run -x data \
    sh -c 'echo $HOLDFAST_FENCE >"$dir/fence.2"'
check "has a higher fence" test \
    "$(cat "$dir/fence.2")" -gt "$(cat "$dir/fence.1")"

# A ticket is of a plain lock.
expect 0 "acquire -x is a plain lock" "$HOLDFAST" acquire -x plain
expect 75 "which excludes" "$HOLDFAST" run -n plain true
expect 64 "acquire -s: there is no such ticket" "$HOLDFAST" acquire -s data
expect 64 "nor one that outlives us" \
    "$HOLDFAST" run -s --min-hold 1 data true
check "and it is told why" err_has 'shared cannot outlive us'

# On file: they are flock's.
HOLDFAST_URL=file:
rm "$dir/end"
background "$HOLDFAST" run -s data sh "$dir/reader" 4 2>"$dir/err4"
need_file "$dir/reader.4"
expect 0 "file: another one may share it" "$HOLDFAST" run -n -s data true
expect 75 "file: a plain lock excludes" "$HOLDFAST" run -n data true
expect 75 "file: -x is a plain lock" "$HOLDFAST" run -n -x data true
touch "$dir/end"
finished_with 0 "file: the reader"
finish
