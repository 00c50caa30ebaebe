#!/bin/sh
# san.sh BUILD: all tests of a sanitizer's build.  One rule: what a sanitizer
# reports is a failure, always.  A test that failed without a report was too
# slow for itself at a tenth of the speed and beside another one: it has to pass
# alone, and is told at the very end as FLAKY, with its first output.
set -u
build=$1
jobs=$(($(nproc 2>/dev/null || echo 2) * 6))
log=$build/Testing/Temporary
# A pointer into the frame of a function that has returned is found at once.
ASAN_OPTIONS=detect_stack_use_after_return=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS
reports='ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error:'

ctest --output-on-failure -j "$jobs" --test-dir "$build" && exit 0

if grep -E -q "$reports" "$log/LastTest.log"; then
    echo "san: a sanitizer reported:" >&2
    grep -E "$reports" "$log/LastTest.log" >&2
    exit 1
fi
echo "san: no report; once more, each alone:" >&2
cat "$log/LastTestsFailed.log" >&2
sh "$(dirname "$0")/flaky.sh" save "$build"
status=0
ctest --output-on-failure --rerun-failed --test-dir "$build" || status=1
grep -E "$reports" "$log/LastTest.log" >&2 && status=1
sh "$(dirname "$0")/flaky.sh" tell "$build" >&2
exit $status
