#!/bin/sh
# guard_postgres.sh: the guard table in PostgreSQL refuses a holder that was
# paused.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/part/guard_sql.sh"
for bin in /usr/lib/postgresql/*/bin; do PATH=$PATH:$bin; done
need_program initdb
need_program psql

dialect=postgres
data_directory pg postgres
(as_user postgres "$(command -v initdb)" -D "$dir/pg/data" -U postgres \
    -A trust --no-sync) >"$dir/initdb.log" 2>&1 || cat "$dir/initdb.log"
(as_user postgres "$(command -v postgres)" -D "$dir/pg/data" \
    -c listen_addresses= -c unix_socket_directories="$dir/pg" \
    -c fsync=off) >"$dir/pg.log" 2>&1 &
started $!
chmod 755 "$dir/pg"
sql() {
    psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$dir/pg" -U postgres postgres
}
is_up() { echo 'SELECT 1' | sql; }
wait_for "the server is up" is_up

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
