#!/bin/sh
# sqlite.sh: the command on a file of SQLite, and install-schema.
. "$(dirname "$0")/lib.sh"
"$HOLDFAST" version | grep -q '^backends:.* sqlite' ||
    skip 'this build is without SQLite'
command -v sqlite3 >/dev/null || skip 'sqlite3 is not installed'
url=sqlite:$dir/locks.db

expect 0 'a lock in a new file' "$HOLDFAST" run --url "$url" a -- true
"$HOLDFAST" acquire --url "$url" --lease 60s a >"$dir/ticket"
expect 75 'a lock that is held is refused' \
    "$HOLDFAST" run --url "$url" --nb a -- true
expect 0 'it is listed' "$HOLDFAST" list --url "$url"
check 'by its name' grep -q '^a' "$dir/out"
expect 0 'it is given back' \
    "$HOLDFAST" release --url "$url" a "$(cat "$dir/ticket")"
expect 0 'the doctor finds nothing to warn of' "$HOLDFAST" doctor "$url"
check 'and names the disk' grep -q 'locks.db is on ' "$dir/out"

sqlite3 "$dir/app.db" 'CREATE TABLE letters (text)'
"$HOLDFAST" status --url "sqlite:$dir/app.db" a 2>"$dir/err"
check "another program's database is refused" \
    grep -q 'holdfast install-schema' "$dir/err"
expect 0 'install-schema' "$HOLDFAST" install-schema "sqlite:$dir/app.db"
expect 0 'and again' "$HOLDFAST" install-schema "sqlite:$dir/app.db"
expect 0 'with an option in the URL' \
    "$HOLDFAST" install-schema "sqlite:$dir/app.db?sync=full"
expect 0 'then it is a store' \
    "$HOLDFAST" run --url "sqlite:$dir/app.db" a -- true
"$HOLDFAST" install-schema "file:$dir/locks" 2>"$dir/err"
check 'a store without tables has no such option' \
    grep -q 'option schema' "$dir/err"
finish
