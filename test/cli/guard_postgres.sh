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
guard_sql_table
guard_sql_paused
guard_sql_tokens
{ echo 'BEGIN;'; call check stock 1; echo "UPDATE goods SET said = 'deaf';"
  echo 'COMMIT;'; } | sed 1i'\\set ON_ERROR_STOP 0' | sql >"$dir/out" 2>&1
check "a session that ignores the error commits nothing" said_is high
guard_sql_claims
guard_sql_race
guard_sql_altered
finish
