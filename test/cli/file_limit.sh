#!/bin/sh
# file_limit.sh: files that may not grow (ulimit -f) are an error for us, and the
# command's own business.
. "$(dirname "$0")/lib.sh"

(
    ulimit -f 0
    "$HOLDFAST" run limited true 2>&1
) | cat >"$dir/out" # a file that may not grow cannot be asked
check "a record that may not be written is an error" out_has 'File too large'
code=$(
    ulimit -f 0
    "$HOLDFAST" version >"$dir/small" 2>/dev/null
    echo $?
)
check "so is output that may not: $code" same "$code" 70
code=$("$HOLDFAST" run --url memory: limited -- sh -c \
    'ulimit -f 0; env echo more than nothing >"$dir/small"; echo $?' \
    2>/dev/null)
check "a command finds the signal as it was: $code" test "$code" -gt 128

finish
