#!/bin/sh
# init.sh: holdfast init on real servers: new nodes, nodes that are not new, and
# a node in the place of a dead one.
. "$(dirname "$0")/lib.sh"

# marker PORT: what the server has as its marker.
marker() { redis-cli -p "$1" get holdfast:boot; }
# group PORT: the group in it.
group() { marker "$1" | cut -d ' ' -f 2; }
lines() { [ "$(wc -l <"$dir/out")" -eq "$1" ]; }

for name in a b c d e f g; do
    redis_start
    eval "$name=\$redis_port ${name}_pid=\$redis_pid"
done
hosts=127.0.0.1:$a,127.0.0.1:$b,127.0.0.1:$c
url=redlock://$hosts

# ---- wrong use ----
expect 64 'no URL' "$HOLDFAST" init
check 'says so' err_has 'the URL of a quorum is missing'
expect 64 'two URLs' "$HOLDFAST" init "$url" "$url"
expect 64 '--replace without its nodes' "$HOLDFAST" init --replace "$url"
expect 64 'the URL twice' "$HOLDFAST" init --url "$url" "$url"
expect 78 'no URL in the file' "$HOLDFAST" init --url-file /dev/null
expect 78 'one server alone' "$HOLDFAST" init "redis://127.0.0.1:$a"
check 'says what is wanted' err_has 'redlock://h1,h2,h3'
expect 78 'the same server twice' "$HOLDFAST" init \
    "redlock://127.0.0.1:$a,127.0.0.1:$a,127.0.0.1:$b"
expect 78 'the same server by two names' "$HOLDFAST" init \
    "redlock://127.0.0.1:$a,localhost:$a,127.0.0.1:$b"
check 'says that it is the same' err_has 'the same server'
check 'and changed nothing' same "$(marker "$a")" ''

# ---- all or nothing ----
expect 69 'a node that does not answer' "$HOLDFAST" init \
    "redlock://127.0.0.1:$a,127.0.0.1:$b,127.0.0.1:1"
check 'one line per node' lines 3
check 'names the one' out_has '^redis://127.0.0.1:1.*: connect: '
check 'the others are not changed' out_has "127.0.0.1:$a.*: not changed"
check 'really' same "$(marker "$a")$(marker "$b")" ''
redis-cli -p "$b" hset job 01234567-89ab-4def-8123-456789abcdef:1 1 >/dev/null
expect 78 'a node with a lock' "$HOLDFAST" init "$url"
check 'says so' out_has "127.0.0.1:$b.*: locks are stored there"
check 'and changed nothing' same "$(marker "$a")$(marker "$c")" ''
redis-cli -p "$b" del job >/dev/null

# ---- new nodes ----
expect 0 'three new nodes' "$HOLDFAST" init --max-lease 20s "$url"
check 'one line per node' lines 3
check 'all are ready' same "$(grep -c ': ready, leases up to 20s' "$dir/out")" 3
check 'one group for all' same "$(group "$a") $(group "$a")" \
    "$(group "$b") $(group "$c")"
before=$(marker "$a")
expect 78 'they are new only once' "$HOLDFAST" init "$url"
check 'says so' out_has 'it is a member of a quorum already'
check 'the marker stays' same "$(marker "$a")" "$before"
expect 0 'unless forced' "$HOLDFAST" init --force --durable "$url"
check 'durable is told' out_has ': ready, leases up to 30s, durable'
check 'and kept' same "$(marker "$c" | cut -d ' ' -f 6)" durable
expect 0 'as JSON' "$HOLDFAST" init --force --json --max-lease 20s "$url"
check 'an object per node' same \
    "$(grep -c '"status":"OK","changed":true' "$dir/out")" 3
expect 0 'quietly' "$HOLDFAST" init --force --quiet --max-lease 20s "$url"
check 'nothing is said' test ! -s "$dir/out"

# ---- a replica ----
redis-cli -p "$d" replicaof 127.0.0.1 "$a" >/dev/null
expect 78 'a replica' "$HOLDFAST" init --force \
    "redlock://127.0.0.1:$b,127.0.0.1:$c,127.0.0.1:$d"
check 'says so' out_has "127.0.0.1:$d.*: boot: it is a replica"
redis-cli -p "$d" replicaof no one >/dev/null
redis-cli -p "$d" flushall >/dev/null

# ---- a node in the place of another ----
replace() {
    "$HOLDFAST" init --replace "127.0.0.1:$c" "127.0.0.1:$d" "$@"
}
# refused: 78.  A node that is silent for 2 s counts as dead, and on a busy
# machine this one may be: then the three are made a quorum again.
refused() {
    old=$(group "$a")
    replace "$url" >"$dir/out" 2>"$dir/err"
    [ $? -eq 78 ] && return
    redis-cli -p "$d" flushall >/dev/null
    "$HOLDFAST" init --force --quiet --max-lease 20s "$url"
    return 1
}
three_times() { "$@" || "$@" || "$@"; }
check 'the old node answers' three_times refused
check 'says what to do' err_has 'the old member answers: stop it first'
check 'nothing is changed' same "$(group "$a") $(marker "$d")" "$old "
kill "$c_pid"
wait_quietly gone "$c_pid"
expect 78 'a node that the URL does not name' "$HOLDFAST" init --replace \
    127.0.0.1:1 127.0.0.1:2 "$url"
check 'says so' err_has 'names neither the old member nor the new one'
expect 0 'a new node' replace "$url"
check 'the others vote' out_has "127.0.0.1:$a.*: ready, leases up to 20s"
check 'the new one waits' out_has "127.0.0.1:$d.*: votes in 2.*s, leases up to"
refute 'the group is another one' same "$(group "$a")" "$old"
check 'for all of them' same "$(group "$a") $(group "$a")" \
    "$(group "$b") $(group "$d")"
new=$(group "$a")
expect 0 'again, with the new URL' replace \
    "redlock://127.0.0.1:$a,127.0.0.1:$b,127.0.0.1:$d"
check 'is the same' same "$(group "$a")" "$new"
expect 78 'a member of another quorum' "$HOLDFAST" init --replace \
    127.0.0.1:1 "127.0.0.1:$b" "redlock://127.0.0.1:1,127.0.0.1:$a"
check 'is refused' out_has 'it is a member of another quorum'

# ---- where the URL comes from ----
for name in a b d e f g; do
    eval "port=\$$name"
    redis-cli -p "$port" flushall >/dev/null
    redis-cli -p "$port" config set requirepass secret >/dev/null
done
five=redlock://127.0.0.1:$a,127.0.0.1:$b,127.0.0.1:$d,127.0.0.1:$e,127.0.0.1:$f
expect 77 'a password is wanted' "$HOLDFAST" init "$five"
check 'by each' same "$(grep -c 'NOAUTH\|AUTH\|auth' "$dir/out")" 5
export HOLDFAST_PASSWORD=secret
echo "$five" >"$dir/url"
expect 0 'from a file' "$HOLDFAST" init --url-file "$dir/url" --max-lease 6s
check 'all five' lines 5
expect 78 'from the environment' env HOLDFAST_URL="$five" "$HOLDFAST" init
check 'they are members' same "$(grep -c 'a member of a quorum already' \
    "$dir/out")" 5
expect 0 'by --url' "$HOLDFAST" init --url "$five" --force --max-lease 6s

# ---- one of five dies, is replaced, and the work goes on ----
fence() {
    "$HOLDFAST" run -w 60s --lease 5s --url "$1" job -- \
        sh -c 'echo "$HOLDFAST_FENCE"'
}
before=$(fence "$five")
redis_stop "$b_pid"
after=$(fence "$five")
check 'four go on' test "$after" -gt "$before"
new=redlock://127.0.0.1:$a,127.0.0.1:$g,127.0.0.1:$d,127.0.0.1:$e,127.0.0.1:$f
expect 0 'another takes its place' env HOLDFAST_URL="$five" "$HOLDFAST" init \
    --replace --json "127.0.0.1:$b" "127.0.0.1:$g"
check 'it must wait' out_has \
    "127.0.0.1:$g\",\"status\":\"OK\",\"changed\":true,.*\"votes_in_ms\":[1-9]"
expect 78 'with the old URL' "$HOLDFAST" run -n --url "$five" job -- true
check 'one is told' err_has 'it is a member of another quorum'
last=$(fence "$new")
check 'four go on with the new one' test "$last" -gt "$after"
five_vote() {
    ! "$HOLDFAST" status --url "$new" job | grep -q 'may not vote'
}
wait_for 'the new one votes in the end' five_vote
secret() { redis-cli -p "$1" -a secret --no-auth-warning "$2" "$3" ${4+"$4"}; }
old=$(secret "$e" get holdfast:boot)
redis_stop "$d_pid"
redis_stop "$e_pid"
check 'and counts' test "$(fence "$new")" -gt "$last"

# ---- a member that is away while another is replaced ----
redis_port=$b
redis_run --requirepass secret || fail 'cannot be restarted'
again() {
    "$HOLDFAST" init --replace "$@" "127.0.0.1:$d" "127.0.0.1:$b" "$new"
}
expect 69 'one is away' again
expect 0 'which is left out, if forced' again --force
check 'says what to do when it is back' err_has \
    "127.0.0.1:$e was left out: if it comes back .* init --replace 127.*:$b$"
redis_port=$e
redis_run --requirepass secret || fail 'cannot be restarted'
secret "$e" set holdfast:boot "$old" >/dev/null
latest=redlock://127.0.0.1:$a,127.0.0.1:$g,127.0.0.1:$b,127.0.0.1:$e,127.0.0.1:$f
expect 0 'it is back, with the old membership' "$HOLDFAST" run --lease 5s \
    --url "$latest" job -- true
# Only a run that lasts until that member has answered tells it.
is_told() {
    "$HOLDFAST" run --lease 5s --url "$latest" job -- true 2>"$dir/err" &&
        err_has "127.0.0.1:$e: it has no vote: .* repeat"
}
wait_for 'and has no vote' is_told
expect 0 'the same again' again
check 'leaves nobody out' test ! -s "$dir/err"
check 'all go on' test "$(fence "$latest")" -gt "$last"
unset HOLDFAST_PASSWORD

# ---- other members ----
redis-cli -p "$a" -a secret --no-auth-warning config set requirepass '' \
    >/dev/null
mkdir "$dir/one" "$dir/two"
expect 0 'files and a server' "$HOLDFAST" init --force \
    "quorum:file:$dir/one|file:$dir/two|redis://127.0.0.1:$a"
check 'three lines' lines 3
expect 78 'a layout without fences' "$HOLDFAST" init --force \
    "quorum:redis://127.0.0.1:$a?format=string&fence=off|file:$dir/one"
check 'says so' out_has 'it cannot be a member of a quorum'
finish
