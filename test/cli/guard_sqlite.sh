#!/bin/sh
# guard_sqlite.sh: the guard table in SQLite refuses a holder that was paused.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/part/guard_sql.sh"
need_program sqlite3

dialect=sqlite
sql() { sqlite3 -batch -bail -cmd '.timeout 20000' "$dir/goods.db"; }
call() {
    echo ".parameter set ?1 \"'$2'\""
    # Beyond 2^63 the shell would make a real number of it, as clients may.
    [ $# -lt 3 ] || echo ".parameter set ?2 $3"
    "$HOLDFAST" guard sql sqlite "$1"
}
unguard() {
    echo 'DROP TABLE holdfast_guard;'
    "$HOLDFAST" guard sql sqlite create |
        sed 's/, CONSTRAINT holdfast_stale_token CHECK (stale = 0)//'
}
guard_sql_table
{ echo 'PRAGMA ignore_check_constraints = 1;'
  "$HOLDFAST" guard sql sqlite verify; } | sql >"$dir/out" 2>"$dir/err"
check "verify sees that constraints are switched off" test ! -s "$dir/out"
guard_sql_paused
guard_sql_tokens
for bad in "'abc'" 1.5 "x'31'"; do
    holder_write check "$bad" bad >"$dir/out" 2>"$dir/err"
    refute "token $bad" test $? -eq 0
done
check "what is no whole number changes nothing" said_is high
guard_sql_claims
guard_sql_race
guard_sql_altered
finish
