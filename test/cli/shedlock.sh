#!/bin/sh
# shedlock.sh: the command on a table that is shared with ShedLock, whose
# statements are played by hand.
. "$(dirname "$0")/lib.sh"
"$HOLDFAST" version | grep -q '^backends:.* postgres' ||
    skip 'this build is without PostgreSQL'
. "$(dirname "$0")/part/postgres.sh"
postgres_start
url="$postgres_url&layout=shedlock"
now="timezone('utc', CURRENT_TIMESTAMP)"

# shed_lock HOURS: what ShedLock's lock changes, 1 or 0 rows.
shed_lock() {
    sql <<SQL
WITH u AS (INSERT INTO shedlock VALUES ('nightly', $now + interval '$1 hours', $now,
 'app-1') ON CONFLICT (name) DO UPDATE SET lock_until = $now + interval '$1 hours',
 locked_at = $now, locked_by = 'app-1' WHERE shedlock.lock_until <= $now RETURNING 1)
SELECT count(*) FROM u
SQL
}
shed_is() { [ "$(shed_lock "$2")" = "$1" ]; }
shed_end() { echo "UPDATE shedlock SET lock_until = $now" | sql; }
run() { "$HOLDFAST" run --url "$url" -n "$@"; }

expect 0 'the table' "$HOLDFAST" install-schema "$url"
expect 0 'a free lock' run nightly -- true
check 'is free for ShedLock' shed_is 1 1
expect 75 'what ShedLock has' run nightly -- true
expect 0 'is shown' "$HOLDFAST" status --url "$url" nightly
check 'with its holder' out_has 'app-1'
expect 0 'and listed' "$HOLDFAST" list --url "$url"
check 'by name' out_has 'nightly'
check 'it ends' shed_end

expect 0 'a least time' run --min-hold 1h nightly -- true
check 'keeps ShedLock out' shed_is 0 1
expect 75 'and others' run nightly -- true
expect 0 'until it is broken' "$HOLDFAST" break --url "$url" --yes nightly
check 'for ShedLock as well' shed_is 1 1
check 'which ends' shed_end

expect 0 'a ticket' sh -c "\"$HOLDFAST\" acquire --url '$url' --lease 1h nightly \
    >'$dir/ticket'"
check 'keeps ShedLock out, too' shed_is 0 1
expect 0 'until it is released' "$HOLDFAST" release --url "$url" nightly \
    "$(cat "$dir/ticket")"
check 'as ShedLock sees' shed_is 1 1

long=$(printf '%065d' 0)
expect 78 'a long name' run "$long" -- true
check 'is refused with the reason' grep -q 'at most 64 bytes' "$dir/err"
expect 78 'a kind that it has not' "$HOLDFAST" run --url "$url" -n -s other -- true
check 'is refused as well' grep -q 'has no such locks' "$dir/err"
check 'and nothing is written' sh -c "[ \"\$(echo 'SELECT count(*) FROM shedlock' |
    psql -X -q -A -t -h '$dir/pg' -U postgres postgres)\" = 1 ]"
postgres_stop
finish
