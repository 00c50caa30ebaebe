#!/bin/sh
# guard_postgres.sh: the guard table in PostgreSQL refuses a holder that was
# paused.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/part/guard_sql.sh"
. "$(dirname "$0")/part/postgres.sh"

dialect=postgres
postgres_start

call() {
    echo "PREPARE hf AS $("$HOLDFAST" guard sql postgres "$1")"
    echo "EXECUTE hf('$2'${3:+, $3}); DEALLOCATE hf;"
}
unguard() {
    echo 'ALTER TABLE holdfast_guard DROP CONSTRAINT holdfast_stale_token;'
}

# A new store whose fences are lower, as docs/how-to/fence-a-database.md has it:
# a transaction of a former holder is between its CHECK and its write.
sql_of_shop() {
    psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$dir/pg" -U shop postgres
}
till_write() { # TOKEN TEXT
    echo 'BEGIN;'
    call check till "$1"
    [ "$2" != late ] || wait_quietly test -e "$dir/awake"
    echo "UPDATE tills SET said = '$2';"
    echo 'COMMIT;'
}
shop_has_checked() {
    [ "$(echo "SELECT count(*) FROM pg_stat_activity WHERE usename = 'shop'
        AND state = 'idle in transaction' AND query LIKE 'DEALLOCATE%';" |
        sql)" = 1 ]
}
till_is() { [ "$(echo 'SELECT said FROM tills;' | sql)" = "$1" ]; }
guard_begins_anew() {
    echo "CREATE TABLE tills (said text); INSERT INTO tills VALUES ('nothing');
        CREATE USER shop;
        GRANT SELECT, INSERT, UPDATE ON tills, holdfast_guard TO shop;" | sql
    (till_write 1700000000000000 late | sql_of_shop) >"$dir/late.out" \
        2>"$dir/late.err" &
    late=$!
    started $late
    wait_for "a former holder has checked" shop_has_checked
    echo 'REVOKE ALL ON tills, holdfast_guard FROM shop;
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE usename = $$shop$$;' | sql >"$dir/out"
    echo "DELETE FROM holdfast_guard WHERE resource = 'till';" | sql
    till_write 5 new | sql >"$dir/out" 2>"$dir/err"
    check "the new store's low fence is accepted" till_is new
    : >"$dir/awake"
    wait $late
    till_write 1700000000000000 later | sql_of_shop >"$dir/out" 2>"$dir/err"
    check "the former user is refused" grep -q 'permission denied' "$dir/err"
    check "and so was its open transaction" till_is new
    check "the guard goes on from the low fence" \
        test "$(call token till | sql)" = 5
}
guard_sql_table
guard_sql_paused
guard_sql_tokens
{ echo 'BEGIN;'; call check stock 1; echo "UPDATE goods SET said = 'deaf';"
  echo 'COMMIT;'; } | sed 1i'\\set ON_ERROR_STOP 0' | sql >"$dir/out" 2>&1
check "a session that ignores the error commits nothing" said_is high
guard_sql_claims
guard_sql_race
guard_begins_anew
guard_sql_altered
finish
