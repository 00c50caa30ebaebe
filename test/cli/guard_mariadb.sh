#!/bin/sh
# guard_mariadb.sh: the guard table in MariaDB refuses a holder that was paused.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/part/guard_sql.sh"
PATH=$PATH:/usr/sbin
need_program mariadb-install-db
need_program mariadbd
need_program mariadb

dialect=mariadb
data_directory my mysql
(as_user mysql "$(command -v mariadb-install-db)" --no-defaults \
    --datadir="$dir/my/data" --auth-root-authentication-method=normal \
    --skip-test-db) >"$dir/install.log" 2>&1 || cat "$dir/install.log"
(as_user mysql "$(command -v mariadbd)" --no-defaults \
    --datadir="$dir/my/data" --socket="$dir/my/s" --pid-file="$dir/my/pid" \
    --skip-networking --skip-log-bin --innodb-flush-log-at-trx-commit=0 \
    --innodb-buffer-pool-size=16M --performance-schema=off \
    ) >"$dir/my.log" 2>&1 &
started $!
chmod 755 "$dir/my"
sql() {
    mariadb --no-defaults -N -B -n -S "$dir/my/s" -u root "${database:-shop}"
}
is_up() { echo 'SELECT 1' | database=mysql sql; }
wait_for "the server is up" is_up
echo 'CREATE DATABASE shop' | database=mysql sql

call() {
    text=$("$HOLDFAST" guard sql mariadb "$1" | sed "s/'/''/g; s/;\$//")
    echo "PREPARE hf FROM '$text'; SET @r = '$2', @t = ${3:-0};"
    echo "EXECUTE hf USING @r${3:+, @t};"
}
unguard() {
    echo 'ALTER TABLE holdfast_guard DROP CONSTRAINT holdfast_stale_token;'
}
guard_sql_table
for setting in 'check_constraint_checks = 0' "sql_mode = ''"; do
    { echo "SET $setting;"; "$HOLDFAST" guard sql mariadb verify; } |
        sql >"$dir/out" 2>"$dir/err"
    check "verify sees $setting" test ! -s "$dir/out"
done
guard_sql_paused
guard_sql_tokens
guard_sql_claims
guard_sql_race
guard_sql_altered
finish
