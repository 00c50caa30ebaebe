#!/bin/sh
# flaky.sh save BUILD: keep the log of the run that has just failed.
# flaky.sh tell BUILD: after the failed tests were run once more, name each that
# passed then as FLAKY, with what it had printed in the run that was kept.
set -u
first=$2/Testing/Temporary/FirstTest.log
last=$2/Testing/Temporary/LastTest.log

# Of both logs: a test's section begins with "1/9 Test: name"; its verdict comes
# after its output.
# shellcheck disable=SC2016 # the program is awk's
tell='
FNR == 1 { name = ""; output = 0 }
/^[0-9]+\/[0-9]+ Test: / && !output { name = $3 }
/^Output:$/ && !output { output = 1; next }
/^<end of output>$/ { output = 0 }
FILENAME == last && !output && $0 == "Test Passed." { passed[name] = 1 }
FILENAME == last { next }
output && name in passed && !(name in told) {
    print "FLAKY: " name
    told[name] = 1
}
output && name in passed && !/^-+$/ { print "    " $0 }
'

case $1 in
save) cp "$last" "$first" ;;
tell) awk -v last="$last" "$tell" "$last" "$first" ;;
*) exit 2 ;;
esac
