# postgres.sh: a PostgreSQL server in $dir/pg, reached by its socket alone; read
# by tests of it.
#
#   postgres_start [OPTION...]   start it, with these words on its command line
#   postgres_stop                end it; it keeps its data
#   postgres_url                 its URL
#   sql                          run the SQL on stdin; stop at the first error
. "$tests/part/server.sh"
for bin in /usr/lib/postgresql/*/bin; do PATH=$PATH:$bin; done
need_program initdb
need_program psql

data_directory pg postgres
(as_user postgres "$(command -v initdb)" -D "$dir/pg/data" -U postgres \
    -A trust --no-sync) >"$dir/initdb.log" 2>&1 || cat "$dir/initdb.log"
chmod 755 "$dir/pg"
# shellcheck disable=SC2034 # used by the tests
postgres_url="postgres://postgres@localhost/postgres?socket=$dir/pg"

sql() {
    psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$dir/pg" -U postgres postgres
}
postgres_is_up() { echo 'SELECT 1' | sql; }
postgres_start() {
    (as_user postgres "$(command -v postgres)" -D "$dir/pg/data" \
        -c listen_addresses= -c unix_socket_directories="$dir/pg" \
        -c fsync=off "$@") >"$dir/pg.log" 2>&1 &
    postgres_pid=$!
    started $postgres_pid
    wait_for "the server is up" postgres_is_up
}
postgres_stop() {
    kill -INT "$postgres_pid"
    wait_quietly gone "$postgres_pid" || kill -9 "$postgres_pid"
    wait "$postgres_pid" 2>/dev/null
}
