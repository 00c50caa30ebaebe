#!/bin/sh
# lab.sh: `holdfast lab` plays a scenario on servers of its own, judges what it
# saw, draws it, and leaves nothing behind.  Every scenario: lab_all.sh.
. ./lib.sh

need_redis
TMPDIR=$dir/tmp
mkdir "$TMPDIR"
export TMPDIR
is_clean() { [ -z "$(ls -A "$TMPDIR")" ]; }
# verdict WAY TEXT: what was judged of this way's run.
verdict() {
    grep '"event":"verdict"' "$dir/out" | grep "\"way\":\"$1\"" |
        grep -q -e "$2"
}

# ---- one scenario, both ways, with all that can be written ------------------
expect 0 'a scenario is played' "$HOLDFAST" lab run pause --json \
    --svg "$dir/a.svg" --html "$dir/a.html"
check 'the naive way has two believers' \
    verdict naive 'two clients believed'
check 'a late write is refused with holdfast' \
    verdict holdfast '"refused":1,"stale":0,"ok":true'
check 'the drawing has a lane for each' \
    same "$(grep -c 'class="n"' "$dir/a.svg")" 8
check 'the drawing is small' test "$(wc -c <"$dir/a.svg")" -lt 40000
refute 'the page loads nothing' grep -qE 'src=|href=|url\(h|@import' "$dir/a.html"
check 'nothing is left behind' is_clean

expect 0 'one way can be played alone' "$HOLDFAST" lab run pause --mermaid \
    --way holdfast --assert no-corruption
check 'as a diagram for Mermaid' out_has '^sequenceDiagram$'
check 'with the refused write' out_has '-x'

expect 1 'one assertion of two does not hold' "$HOLDFAST" lab run late-release \
    --way naive --assert both
check 'it is said which run that was' err_has 'late-release: --assert does not'

# ---- killed in the middle ---------------------------------------------------
# Processes of this test that are no shell's: clients, servers, the watch.
none_of_lab() {
    for file in $(grep -l -s -a -e "TMPDIR=$TMPDIR" /proc/[0-9]*/environ); do
        case $(readlink "${file%environ}exe") in
        *holdfast* | *redis* | *postgres*) return 1 ;;
        esac
    done
}
for signal in INT KILL; do
    background "$HOLDFAST" lab run pause --speed 10 >"$dir/out" 2>"$dir/err"
    wait_for 'it has begun' grep -q 'client A' "$dir/out"
    kill -$signal "$job"
    wait "$job" 2>/dev/null
    wait_for "$signal: no file is left behind" is_clean
    wait_for "$signal: no process is left behind" none_of_lab
done

chmod 711 "$dir" "$TMPDIR" # PostgreSQL runs as another user
for name in supervisor pause-postgres; do
    background "$HOLDFAST" lab run $name >"$dir/out" 2>"$dir/err"
    wait_for "$name: it has begun" grep -q 'belongs to client A' "$dir/out"
    kill -KILL "$job"
    wait "$job" 2>/dev/null
    wait_for "$name: no file is left behind" is_clean
    wait_for "$name: no process is left behind" none_of_lab
done

# ---- bad input --------------------------------------------------------------
expect 64 'a name is missing' "$HOLDFAST" lab run
expect 64 'an action is unknown' "$HOLDFAST" lab walk
expect 64 'a scenario is unknown' "$HOLDFAST" lab run pausse
check 'the nearest is named' err_has 'pausse: no such scenario; did you mean pause?'
expect 64 'nothing is near' "$HOLDFAST" lab run xyzzyxyzzy
check 'the list is named' err_has 'see holdfast lab list'
expect 64 'a scenario is no action' "$HOLDFAST" lab pause
check 'it is said how to play it' err_has 'lab: this is a scenario: use run NAME'
expect 64 'a list is not drawn' "$HOLDFAST" lab list --svg "$dir/list.svg"
expect 64 'a list takes no option of a run' "$HOLDFAST" lab list --seed 3
check 'it is said which it takes' err_has 'takes --json and -q'
expect 78 'a file cannot be written' "$HOLDFAST" lab run pause \
    --svg "$dir/none/a.svg"
check 'it is named' err_has 'none/a.svg: cannot be written: No such file'
expect 78 'a directory is no file' "$HOLDFAST" lab run pause --html "$dir"
expect 69 'a server is missing' env PATH=/nowhere "$HOLDFAST" lab run pause
check 'it is named, with its package' err_has 'install the package redis-server'
check 'nothing is left behind of it' is_clean
mkdir "$dir/few" && ln -s "$(command -v redis-server)" "$dir/few/"
expect 69 'a part of a scenario is missing' env PATH="$dir/few" \
    "$HOLDFAST" lab run pause-sqlite
check 'it is said which part, with its package' \
    err_has 'in SQLite: this part cannot be played: install the package sqlite3'
expect 0 'the scenarios are listed' "$HOLDFAST" lab list
check 'with a title' out_has '^pause  *A holder is paused'
expect 0 'the list is printed as JSON' "$HOLDFAST" lab list --json
check 'a line for each' out_has '^{"event":"scenario","name":"pause","title":"A'

# ---- the chapters -----------------------------------------------------------
for name in $("$HOLDFAST" lab list -q); do
    check "$name has a chapter with its drawing" \
        grep -q "]($name.svg)" "$tests/../../docs/lab/$name.md"
    check "$name is in the list of chapters" \
        grep -q "]($name.md)" "$tests/../../docs/lab/README.md"
done
finish
