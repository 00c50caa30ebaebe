# guard_sql.sh: what the guard table must do in every database; read by the
# tests guard_<database>.sh, which start it and define
#
#   dialect            postgres, mariadb or sqlite
#   sql                run the SQL on stdin; stop and fail at the first error
#   call NAME R [T]    SQL that runs that statement for resource R and token T
#   unguard            SQL that takes the constraint away

. "$tests/part/server.sh"

# One transaction of a holder: the guard first, then its own write.
holder_write() { # STATEMENT TOKEN TEXT
    { echo 'BEGIN;'
      call "$1" stock "$2"
      echo "UPDATE goods SET said = '$3';"
      echo 'COMMIT;'; } | sql
}
said() { echo 'SELECT said FROM goods;' | sql; }
said_is() { [ "$(said)" = "$1" ]; }
token_is() { [ "$(call token stock | sql)" = "$1" ]; }
good() { [ "$("$HOLDFAST" guard sql "$dialect" verify | sql 2>/dev/null)" = 1 ]; }
unfinished() { ! gone "$1"; }

# A fence of a new hold, whose lease ends by itself.
fence_take() {
    "$HOLDFAST" acquire --json --lease 1s -w 20 stock |
        sed 's/.*"fence":\([0-9]*\).*/\1/'
}

guard_sql_table() {
    expect 0 "create" sh -c '"$HOLDFAST" guard sql "$0" create' "$dialect"
    sql <"$dir/out" >"$dir/create.log" 2>"$dir/err"
    check "the table is made" test $? -eq 0
    sql <"$dir/out" >"$dir/create.log" 2>"$dir/err"
    check "and may be there already" test $? -eq 0
    check "verify finds it good" good
    echo "CREATE TABLE goods (said varchar(40));
        INSERT INTO goods VALUES ('nothing');" | sql
}

# The point of it all: stopped past its lease, and refused when it goes on.
guard_sql_paused() {
    first=$(fence_take)
    (
        sh -c 'kill -STOP $PPID'
        holder_write check "$first" first >"$dir/paused.out" 2>"$dir/paused.err"
        echo $? >"$dir/paused.rc"
    ) &
    paused=$!
    started $paused
    wait_for "the first one is stopped" \
        grep -q '^State:[[:space:]]*T' /proc/$paused/status
    second=$(fence_take)
    check "tokens rise" test "$second" -gt "$first"
    call check stock "$second" | sql
    check "the second one touches" test $? -eq 0
    kill -CONT $paused
    need_file "$dir/paused.rc"
    refute "the paused holder is refused" test "$(cat "$dir/paused.rc")" = 0
    check "by the constraint" grep -q holdfast_stale_token \
        "$dir/paused.out" "$dir/paused.err"
    check "and changed nothing, also before the second one wrote" \
        said_is nothing
    expect 0 "the second one writes" holder_write check "$second" second
    check "what it said is there" said_is second
    check "and its token" token_is "$second"
}

guard_sql_tokens() {
    expect 0 "the same token again" holder_write check "$second" again
    for bad in 0 -1 9223372036854775808; do
        holder_write check $bad bad >"$dir/out" 2>"$dir/err"
        refute "token $bad" test $? -eq 0
    done
    check "bad tokens change nothing" said_is again
    check "not even the guard" token_is "$second"
    expect 0 "the highest token" holder_write check 9223372036854775807 high
    holder_write check 9223372036854775806 low >"$dir/out" 2>"$dir/err"
    refute "one below it" test $? -eq 0
    check "is refused" said_is high
}

guard_sql_claims() {
    holder_write still 7 early >"$dir/out" 2>"$dir/err"
    refute "no write before a claim" test $? -eq 0
    check "nothing changed" said_is high
    call claim stock 7 | sql
    expect 0 "the claim is ours" holder_write still 7 seven
    call claim stock 3 | sql
    holder_write still 7 late >"$dir/out" 2>"$dir/err"
    refute "the claim of another holder" test $? -eq 0
    check "fails by the constraint" \
        grep -q holdfast_stale_token "$dir/out" "$dir/err"
    check "nothing changed" said_is seven
    expect 0 "the holder's own claim is good" holder_write still 3 three
    check "the highest token is none of the claims" token_is 9223372036854775807
}

# The first session reads its SQL from a pipe, fd 3, until that is closed.
guard_sql_race() {
    mkfifo "$dir/pipe"
    sql <"$dir/pipe" >"$dir/race.out" 2>"$dir/race.err" &
    racer=$!
    started $racer
    exec 3>"$dir/pipe"
    { echo 'BEGIN;'; call check race 20
      echo "UPDATE goods SET said = 'twenty';"; echo 'SELECT 99;'; } >&3
    need_file "$dir/race.out"
    { echo 'BEGIN;'; call check race 10
      echo "UPDATE goods SET said = 'ten';"; echo 'COMMIT;'; } >"$dir/second.sql"
    sql <"$dir/second.sql" >"$dir/second.out" 2>"$dir/second.err" 3>&- &
    waiter=$!
    started $waiter
    sleep 0.5
    check "the second session waits for the first" unfinished $waiter
    echo 'COMMIT;' >&3
    exec 3>&-
    wait $racer
    check "the first one is through" test $? -eq 0
    wait $waiter
    refute "the second one, whose token is lower, is refused" test $? -eq 0
    check "by the constraint" grep -q holdfast_stale_token \
        "$dir/second.out" "$dir/second.err"
    check "and the first one's word stands" said_is twenty
}

guard_sql_altered() {
    unguard | sql
    refute "verify finds a table without its constraint" good
    echo 'DROP TABLE holdfast_guard;' | sql
    refute "and a missing one" good
    holder_write check 5 five >"$dir/out" 2>"$dir/err"
    refute "without the table nothing is written" test $? -eq 0
    check "nothing" said_is twenty
    check "the error names the table" \
        grep -q holdfast_guard "$dir/out" "$dir/err"
}
