#!/bin/sh
# tests.sh BUILD OPTION...: ctest with these options, and afterwards what was
# skipped, with the reason.  Where CI is set, what failed is named, run once
# more alone, and has to pass then; at the very end it is told as FLAKY, with its
# first output, for its cause is to be found all the same.
set -u
build=$1
shift
status=0
ctest --output-on-failure --test-dir "$build" "$@" || status=$?
awk '/^[0-9]+\/[0-9]+ Test: / { name = $3 }
    /^ *skipped: / { sub(/^ */, ""); line = name ": " $0
        if (!(line in told)) print line
        told[line] = 1 }' "$build/Testing/Temporary/LastTest.log"
if [ "$status" -ne 0 ] && [ -n "${CI:-}" ]; then
    echo 'tests.sh: once more, alone:'
    cat "$build/Testing/Temporary/LastTestsFailed.log"
    status=0
    sh "$(dirname "$0")/flaky.sh" save "$build"
    ctest --rerun-failed --output-on-failure --test-dir "$build" || status=$?
    sh "$(dirname "$0")/flaky.sh" tell "$build"
fi
exit $status
