#!/bin/sh
# nested.sh: run inside a run of the same lock is found out, and is refused, or
# entered again with --reenter.
. "$(dirname "$0")/lib.sh"

refused="inside the holdfast of pid [0-9]*, which holds this lock"

expect 64 "run x inside run x" "$HOLDFAST" run x -- "$HOLDFAST" run x true
check "is refused with a sentence" err_has "^holdfast: x: .*$refused"
check "which tells of --reenter" err_has '\-\-reenter runs it'
expect 64 "through a shell, and below a run of y" "$HOLDFAST" run x -- \
    sh -c "'$HOLDFAST' run y -- sh -c \"'$HOLDFAST' run x true; exit \\\$?\""
check "as well" err_has "x: .*$refused"
expect 64 "one of several" "$HOLDFAST" run x --also z -- \
    "$HOLDFAST" run y --also z true
check "is named" err_has "z: .*$refused"
expect 64 "in the command's place" "$HOLDFAST" run -F x -- \
    "$HOLDFAST" run x true
expect 64 "a writer among readers" "$HOLDFAST" run -s x -- \
    "$HOLDFAST" run -x x true
expect 0 "readers among readers" "$HOLDFAST" run -s x -- \
    "$HOLDFAST" run -s x true
expect 64 "a file" "$HOLDFAST" run "$dir/file" -- \
    "$HOLDFAST" run "$dir/file" true
expect 75 "-n says who holds it" "$HOLDFAST" run x -- "$HOLDFAST" run -n x true
check "as always" err_has 'x: not acquired: held by'
expect 75 "as does -w" "$HOLDFAST" run x -- "$HOLDFAST" run -w 100ms x true
expect 0 "another lock" "$HOLDFAST" run x -- "$HOLDFAST" run y true
expect 0 "another store" "$HOLDFAST" run x -- \
    "$HOLDFAST" run --url "file:$dir/locks/other" x true
expect 0 "another directory of file:" "$HOLDFAST" run x -- \
    env HOLDFAST_DIR="$dir/elsewhere" "$HOLDFAST" run x true
expect 0 "memory: is another one in each process" \
    "$HOLDFAST" run --url memory: x -- "$HOLDFAST" run x true

expect 0 "--reenter" "$HOLDFAST" run x -- sh -c \
    'echo "$HOLDFAST_FENCE"; "$HOLDFAST" run --reenter x -- \
     sh -c "echo \$HOLDFAST_LOCK \$HOLDFAST_FENCE"'
fence=$(head -1 "$dir/out")
check "has the outer fence" same "$(tail -1 "$dir/out")" "x $fence"
expect 3 "the command's status" "$HOLDFAST" run x -- \
    "$HOLDFAST" run --reenter x -- sh -c 'exit 3'
expect 127 "a command that is not there" "$HOLDFAST" run x -- \
    "$HOLDFAST" run --reenter x -- "$dir/no"
expect 0 "below another lock" "$HOLDFAST" run x -- sh -c \
    'echo "$HOLDFAST_FENCE"; "$HOLDFAST" run y -- "$HOLDFAST" run --reenter x \
     -- sh -c "echo \$HOLDFAST_FENCE"'
check "has the fence of that lock" same "$(head -1 "$dir/out")" \
    "$(tail -1 "$dir/out")"
expect 0 "--reenter with nothing around it acquires" "$HOLDFAST" run --reenter \
    x -- "$HOLDFAST" status x
check "and gives back" free x
for side in '' -x; do
    expect 64 "--reenter $side below a shared lock" "$HOLDFAST" run -s x -- \
        "$HOLDFAST" run --reenter $side x -- touch "$dir/ran"
    check "is refused" err_has \
        'x: --reenter: pid [0-9]* around this command holds it shared (-s)'
    refute "and runs nothing" test -e "$dir/ran"
done
expect 0 "a reader may enter below a writer" "$HOLDFAST" run -x x -- \
    "$HOLDFAST" run --reenter -s x true
expect 0 "and a reader shares with a reader" "$HOLDFAST" run -s x -- \
    "$HOLDFAST" run --reenter -s x true
expect 64 "--reenter for several" "$HOLDFAST" run --reenter x --also y true

# What an ended run has left in the environment of another process is no lock.
"$HOLDFAST" run x -- sh -c 'printf %s "$HOLDFAST_HELD"' >"$dir/held"
check "the lock stands in the environment" grep -q x "$dir/held"
HOLDFAST_HELD=$(cat "$dir/held")
export HOLDFAST_HELD
expect 0 "but it counts only below its run" "$HOLDFAST" run x true
for text in x '1 x' '1 x 2	file:	' "$(printf '%s x 5\tfile:\tx\n' $$)" \
    "$(printf '\t\n\t\t\n1 x x\tx\tx')"; do
    HOLDFAST_HELD=$text expect 0 "nothing of the kind: $text" \
        "$HOLDFAST" run x true
    HOLDFAST_HELD=$text expect 0 "nor with --reenter" \
        "$HOLDFAST" run --reenter x true
done
unset HOLDFAST_HELD

redis_start
HOLDFAST_URL=$redis
export HOLDFAST_URL
expect 64 "with a server" "$HOLDFAST" run x -- "$HOLDFAST" run x true
sqlite_cases() {
    mkdir "$dir/one" "$dir/two"
    other='cd ../two && "$HOLDFAST" run x true'
    expect 0 "a file of another directory" sh -c 'cd "$dir/one" &&
        "$HOLDFAST" run --url sqlite:l.db x -- sh -c "$0"' "$other"
    members="sqlite:l.db|sqlite:m.db|sqlite:n.db"
    expect 0 "also in a quorum" sh -c 'cd "$dir/one" &&
        "$HOLDFAST" run --url "quorum:$1" x -- sh -c "$0"' "$other" "$members"
    expect 64 "a path that is absolute" "$HOLDFAST" run \
        --url "sqlite:$dir/l.db" x -- "$HOLDFAST" run x true
}
if "$HOLDFAST" version | grep -q sqlite; then sqlite_cases; fi
expect 0 "slots: another one is free" "$HOLDFAST" run --slots 2 s -- \
    "$HOLDFAST" run --slots 2 s true
expect 75 "once inside it skips" "$HOLDFAST" run o -- "$HOLDFAST" once o true
expect 64 "once that would wait for it" "$HOLDFAST" run o -- \
    "$HOLDFAST" once --losers wait o true
check "is refused" err_has "o: .*$refused"
expect 0 "--reenter" "$HOLDFAST" run x -- "$HOLDFAST" run --reenter x true
# The outer run has lost its lock, and goes on.
expect 80 "--reenter after the lock was broken" "$HOLDFAST" run \
    --on-lost warn x -- sh -c '"$HOLDFAST" break x --yes >&2
    "$HOLDFAST" run --reenter x -- touch "$dir/ran"; echo "inner $?"'
check "is lost inside" out_has 'inner 80'
check "is refused" err_has \
    'x: --reenter: pid [0-9]* around this command does not hold it any more'
refute "and runs nothing" test -e "$dir/ran"
expect 80 "--reenter while another one holds it" "$HOLDFAST" run \
    --on-lost warn x -- sh -c '"$HOLDFAST" break x --yes >&2
    env -u HOLDFAST_HELD "$HOLDFAST" run x -- sh -c \
        "HOLDFAST_HELD=\"$HOLDFAST_HELD\" \"$HOLDFAST\" run --reenter x -- \
            touch \"$dir/ran\"; echo inner \$?"'
check "is lost inside" out_has 'inner 80'
refute "and runs nothing" test -e "$dir/ran"
"$HOLDFAST" run --url "$redis_url?patience=1s" --lease 6s \
    --on-lost warn x -- sh -c '
    kill "$0"
    until "$HOLDFAST" status x; [ $? -eq 69 ]; do sleep 0.1; done
    "$HOLDFAST" run --reenter x -- touch "$dir/ran"
    echo "inner $?"' "$redis_pid" >"$dir/out" 2>"$dir/err"
check "--reenter with a store that is gone" out_has 'inner 69'
refute "runs nothing" test -e "$dir/ran"
finish
