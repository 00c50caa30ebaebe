#!/bin/sh
# shared.sh: -s and -x are the two sides of a read/write lock, on file: as
# elsewhere; without either it is a plain lock.
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
check "and says so" err_has '^holdfast: data: .*in use as a read/write lock'
check "and which letter would do" err_has ': -x would do, or -s to share it$'
expect 78 "nor while it is waited for" "$HOLDFAST" run -w 9 data true
check "which says the same" err_has ': -x would do, or -s to share it$'
expect 78 "nor as one of several" "$HOLDFAST" run -n other --also data true
check "which says the same of that one" err_has \
    'in use as a read/write lock: -x would do, or -s to share it$'
expect 78 "nor has it a ticket" "$HOLDFAST" acquire -n data
check "which says what it is" err_has 'in use as a read/write lock$'
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
expect 78 "nor is it a plain lock" "$HOLDFAST" run -n data true
check "and says so of a writer, too" err_has \
    'in use as a read/write lock: -x would do, or -s to share it$'
touch "$dir/end"
finished_with 0 "the writer"
expect 0 "the next writer" "$HOLDFAST" run -x data \
    sh -c 'echo $HOLDFAST_FENCE >"$dir/fence.2"'
check "has a higher fence" test \
    "$(cat "$dir/fence.2")" -gt "$(cat "$dir/fence.1")"

# A ticket is of a plain lock.
expect 0 "acquire -x is a plain lock" "$HOLDFAST" acquire -x plain
expect 75 "which excludes" "$HOLDFAST" run -n plain true
expect 78 "it has no sides" "$HOLDFAST" run -n -s plain true
check "and says what would do" err_has \
    'in use as a plain lock: use run without -s$'
expect 78 "neither of them" "$HOLDFAST" run -n -x plain true
check "and says so, too" err_has \
    'in use as a plain lock: use run without -x$'
redis-cli -p "$redis_port" rpush list 1 >/dev/null
expect 78 "what is no lock is none with a letter" "$HOLDFAST" run -n list true
refute "and no letter is offered" err_has 'would do'
expect 64 "acquire -s: there is no such ticket" "$HOLDFAST" acquire -s data
expect 64 "nor one that outlives us" \
    "$HOLDFAST" run -s --min-hold 1 data true
check "and it is told why" err_has 'shared cannot outlive us'
expect 64 "of neither side" "$HOLDFAST" run -x --min-hold 1 data true
check "and that is told, too" err_has 'only a plain lock can outlive us'

# Where nothing is shared, every lock is exclusive.
HOLDFAST_URL="$redis&format=string"
expect 78 "format=string: there are no readers" "$HOLDFAST" run -n -s none true
check "which is said" err_has 'read lock'
expect 0 "format=string: -x is a plain lock" "$HOLDFAST" run -n -x none true

# On file: they are the same lock as flock's and as a plain one.
HOLDFAST_URL=file:
rm "$dir/end"
background "$HOLDFAST" run -s data sh "$dir/reader" 4 2>"$dir/err4"
need_file "$dir/reader.4"
expect 0 "file: another one may share it" "$HOLDFAST" run -n -s data true
expect 75 "file: a plain lock excludes" "$HOLDFAST" run -n data true
check "file: and names the holder" err_has 'data: not acquired: held by'
expect 75 "file: so does a writer" "$HOLDFAST" run -n -x data true
touch "$dir/end"
finished_with 0 "file: the reader"
rm "$dir/end"
background "$HOLDFAST" run data sh "$dir/reader" 5 2>"$dir/err5"
need_file "$dir/reader.5"
expect 75 "file: nobody shares a plain lock" "$HOLDFAST" run -n -s data true
check "file: which is told likewise" err_has 'data: not acquired: held by'
touch "$dir/end"
finished_with 0 "file: the plain lock"
finish
