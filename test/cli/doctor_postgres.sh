#!/bin/sh
# doctor_postgres.sh: holdfast doctor on a PostgreSQL server: as it comes, as it
# should not be, and where it cannot be used.
. "$(dirname "$0")/lib.sh"
"$HOLDFAST" version | grep -q '^backends:.* postgres' ||
    skip 'this build is without PostgreSQL'
. "$(dirname "$0")/part/postgres.sh"

doctor() { "$HOLDFAST" doctor --for 200ms "$@"; }
warned() { grep -q -e "^! $1" "$dir/out"; }

# ---- as it comes ----
postgres_start -c fsync=on
expect 69 'a database without tables' doctor "$postgres_url"
check 'says what to do' warned 'link .*run: holdfast install-schema URL'
expect 0 'its tables' "$HOLDFAST" install-schema "$postgres_url"
expect 0 'a server as it comes' doctor "$postgres_url"
check 'is told by its version' out_has ': answers in .* ms, PostgreSQL [0-9.]*, primary$'
check 'it keeps all' out_has 'disk .*every grant is on its disk'
check 'its connections are told' out_has 'server .*[0-9] of 97 connections are used'
check 'its clock is ours' out_has 'clock .* from ours'
check 'a crash does no harm' out_has '^server crashes *yes *yes'
check 'a pause is for the fence' out_has '^client pauses *by the fence'
refute 'there is no failover' out_has '^failover'
check 'the drift budget is told' out_has 'Clocks may run 1.0 % apart'
expect 0 'as JSON' doctor --json "$postgres_url"
check 'its facts' out_has '"engine":"postgres".*"fsync":"on"'
check 'a promise' out_has '^{"when":"server crashes","exclusion":"yes"'
expect 0 'locks of a session' doctor "$postgres_url&session=on"
check 'end with it' out_has 'server .*session=on: a lock ends with its connection'
check 'and have no fence' out_has '^client crashes *yes *no '
refute 'their disk does not count' out_has '^. disk '
expect 69 'no table of ShedLock' doctor "$postgres_url&layout=shedlock"
check 'says what to do, too' warned 'link .*shedlock is missing: run: holdfast install-schema URL'
expect 0 'that table' "$HOLDFAST" install-schema "$postgres_url&layout=shedlock"
expect 0 'its statements' "$HOLDFAST" install-schema --print "$postgres_url&layout=shedlock"
check 'are of that table' out_has '^CREATE TABLE IF NOT EXISTS shedlock '
expect 0 'locks beside ShedLock' doctor "$postgres_url&layout=shedlock"
check 'need one clock' out_has 'server .*layout=shedlock: .*usingDbTime.*no fence'
check 'and are not fenced' out_has '^client pauses *no, told late *no '
refute 'which is not called for' out_has 'By the fence'
postgres_stop

# ---- as it should not be ----
postgres_start -c default_transaction_isolation=serializable \
    -c synchronous_commit=off -c max_connections=8 \
    -c superuser_reserved_connections=7 -c max_wal_senders=2
expect 1 'a server that does not sync' doctor "$postgres_url"
check 'says so' warned 'disk .*fsync off: .*set it to on'
check 'its crash is for the fence' out_has '^server crashes *by the fence'
check 'its commits are told' out_has 'disk .*synchronous_commit is off there'
check 'its isolation is told' out_has 'server .*isolation is serializable there'
check 'it is full' warned 'server .* of 1 connections are used.*max_connections'
postgres_stop
postgres_start -c fsync=on -c synchronous_standby_names=other
expect 1 'a server that waits for a standby' doctor "$postgres_url"
check 'which is not there' warned 'replica .*names is other, and no standby follows'
postgres_stop

# ---- where it cannot be used ----
postgres_start
if command -v pgbouncer >/dev/null; then
    mkdir -m 755 "$dir/pool"
    [ "$(id -u)" -ne 0 ] || chown postgres "$dir/pool"
    {   echo '[databases]'
        echo "postgres = host=$dir/pg"
        echo '[pgbouncer]'
        echo "unix_socket_dir = $dir/pool"
        echo 'listen_port = 6432'
        echo 'auth_type = any'
        echo 'pool_mode = transaction'
    } >"$dir/pool/conf"
    # It forces one user for a database without one.
    sed -i 's/^postgres = .*/& user=postgres/' "$dir/pool/conf"
    (as_user postgres "$(command -v pgbouncer)" "$dir/pool/conf") \
        >"$dir/pool.log" 2>&1 &
    started $!
    wait_for 'the pooler is up' test -S "$dir/pool/.s.PGSQL.6432"
    expect 69 'a pooler' doctor \
        "postgres://postgres@localhost:6432/postgres?socket=$dir/pool"
    check 'is refused, with the reason' warned 'link .*a pooler answers there'
fi
: >"$dir/pg/data/standby.signal"
postgres_stop
postgres_start
expect 69 'a standby' doctor "$postgres_url"
check 'is refused, with the reason' warned 'link .*is a standby and takes no writes'
finish
