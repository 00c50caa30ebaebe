#!/bin/sh
# env.sh: what the command finds in its environment, and what it must not find.
. "$(dirname "$0")/lib.sh"

# value NAME: of the environment that the command printed.
value() { sed -n "s/^$1=//p" "$dir/out"; }

HOLDFAST_TICKET=secret-ticket HOLDFAST_FENCE=1 HOLDFAST_PASSWORD=secret-word \
    HOLDFAST_SENTINEL_PASSWORD=secret-watchword \
    expect 0 "run env" "$HOLDFAST" run job env
check "HOLDFAST_LOCK" same "$(value HOLDFAST_LOCK)" job
fence=$(value HOLDFAST_FENCE)
check "HOLDFAST_FENCE is a number" out_has '^HOLDFAST_FENCE=[0-9][0-9]*$'
check "and replaces the inherited one" test "$fence" -gt 1
check "HOLDFAST_HOLDER" out_has '^HOLDFAST_HOLDER=.*:[0-9]*:[0-9]*$'
check "HOLDFAST_TTL_MS of a kernel lock" same "$(value HOLDFAST_TTL_MS)" -1
check "HOLDFAST_URL" out_has '^HOLDFAST_URL=file:'
check "HOLDFAST_GUARANTEE" same "$(value HOLDFAST_GUARANTEE)" host
refute "no ticket" out_has secret-ticket
refute "no password" out_has secret-word
refute "no Sentinel's either" out_has secret-watchword

expect 0 "again" "$HOLDFAST" run job env
check "the fence rises" test "$(value HOLDFAST_FENCE)" -gt "$fence"

HOLDFAST_URL=memory: expect 0 "the URL from the environment" \
    "$HOLDFAST" run -- x env
check "is used" same "$(value HOLDFAST_URL)" memory:
echo "  memory:  " >"$dir/url"
expect 0 "--url-file" "$HOLDFAST" run --url-file "$dir/url" x env
check "is used" same "$(value HOLDFAST_URL)" memory:
HOLDFAST_URL_FILE=$dir/url expect 0 "HOLDFAST_URL_FILE" "$HOLDFAST" run x env
check "is used" same "$(value HOLDFAST_URL)" memory:
expect 78 "a file that is not there" "$HOLDFAST" run --url-file "$dir/no" x env
: >"$dir/empty"
expect 78 "an empty file" "$HOLDFAST" run --url-file "$dir/empty" x env
ttl=$(HOLDFAST_URL=memory: "$HOLDFAST" run x -c 'echo $HOLDFAST_TTL_MS')
check "HOLDFAST_TTL_MS of a lease" test "$ttl" -gt 20000 -a "$ttl" -le 30000

# The status pipe: what is held now, and an end when holdfast is gone.
expect 0 "a line on the status pipe" "$HOLDFAST" run x -- \
    sh -c 'eval "read line <&$HOLDFAST_STATUS_FD"; echo "$line"'
check "says held" out_has '^held -1$'
expect 0 "the same with a lease" "$HOLDFAST" run --url memory: x -- \
    sh -c 'eval "read line <&$HOLDFAST_STATUS_FD"; echo "$line"'
check "and for how long" out_has '^held [1-9][0-9]*$'
expect 0 "renewals are told" "$HOLDFAST" run --url memory: --lease 30s \
    --renew 100ms x -- sh -c 'eval "exec 5<&$HOLDFAST_STATUS_FD"
           read a <&5; read b <&5; read c <&5; echo "$c"'
check "as they come" out_has '^held [1-9][0-9]*$'

redis_start --requirepass secret-word
HOLDFAST_PASSWORD=secret-word expect 0 "a password from the environment" \
    "$HOLDFAST" run --url "$redis" x env
refute "is not passed on" out_has secret-word
expect 0 "a password on the command line" "$HOLDFAST" run \
    --url "redis://:secret-word@127.0.0.1:$redis_port" x env
check "gets a warning" err_has 'ps(1)'
refute "and is not passed on" out_has secret-word
refute "nor shown" err_has secret-word
members="redis://127.0.0.1:1|redis://127.0.0.1:2?wait=1"
for url in "quorum:$members|redis://:secret-word@127.0.0.1:3" \
    "redis-cluster://127.0.0.1:1,u:secret-word@127.0.0.1:2"; do
    "$HOLDFAST" status --url "$url" x >/dev/null 2>"$dir/err"
    check "one of a later member, too: $url" err_has 'ps(1)'
    refute "and is not shown" err_has secret-word
done
"$HOLDFAST" status --url "quorum:$members|redis://u@127.0.0.1:3" x \
    >/dev/null 2>"$dir/err"
refute "a user alone is no password" err_has 'ps(1)'

# A file that every user may read is told of, whether or not it is asked for.
echo secret-word >"$dir/pass word"
chmod 644 "$dir/pass word"
in_url="redis://127.0.0.1:$redis_port?password_file=$dir/pass%20word"
HOLDFAST_PASSWORD_FILE="$dir/pass word" expect 1 "a password's file" \
    "$HOLDFAST" status --url "$redis" x
check "open to everybody, is told of" err_has 'password_file: .*chmod 600'
expect 1 "the URL's password's file" "$HOLDFAST" status --url "$in_url" x
check "open to everybody, is told of" err_has 'password_file: .*chmod 600'
expect 1 "and told of once" "$HOLDFAST" status -v --url "$in_url" x
check "with -v, too" test "$(grep -c 'chmod 600' "$dir/err")" -eq 1
HOLDFAST_PASSWORD_FILE="$dir/pass word" expect 1 "not with -q" \
    "$HOLDFAST" status -q --url "$redis" x
refute "where nothing is said" err_has 'chmod 600'
echo "redis://:secret-word@127.0.0.1:$redis_port" >"$dir/url"
chmod 644 "$dir/url"
expect 1 "a URL's file" "$HOLDFAST" status --url-file "$dir/url" x
check "open to everybody, with a password, is told of" err_has 'chmod 600'
refute "without showing it" err_has secret-word
expect 1 "why, with such a file" "$HOLDFAST" why --url-file "$dir/url" x
check "tells of it once" test "$(grep -c 'chmod 600' "$dir/err")" -eq 1
chmod 600 "$dir/pass word" "$dir/url"
expect 1 "a URL's file that only we may read" \
    "$HOLDFAST" status --url-file "$dir/url" x
refute "is good" err_has 'chmod 600'
HOLDFAST_PASSWORD_FILE="$dir/pass word" expect 1 "such a password's file" \
    "$HOLDFAST" status --url "$redis" x
refute "is good, too" err_has 'chmod 600'
expect 77 "a wrong password" "$HOLDFAST" run \
    --url "redis://:wrong@127.0.0.1:$redis_port" x env
expect 77 "no password" "$HOLDFAST" run --url "$redis" x env
user_add() {
    redis-cli -p "$redis_port" "$@" acl setuser lock on '>pw' '~*' '&*' +@all
}
user_add -a secret-word >/dev/null 2>&1
HOLDFAST_USER=lock HOLDFAST_PASSWORD=pw expect 0 "a user of the environment" \
    "$HOLDFAST" run --url "$redis" x true
HOLDFAST_USER=eve HOLDFAST_PASSWORD=pw expect 77 "another user" \
    "$HOLDFAST" run --url "$redis" x true
redis_stop "$redis_pid"
redis_start --unixsocket "$dir/u.sock"
user_add >/dev/null
HOLDFAST_PASSWORD=pw expect 0 "a user over a socket" \
    "$HOLDFAST" run --url "redis+unix://lock@$dir/u.sock" x env
check "is in the URL" out_has "^HOLDFAST_URL=redis+unix://lock@/"
HOLDFAST_PASSWORD=wrong expect 77 "with a wrong password" \
    "$HOLDFAST" run --url "redis+unix://lock@$dir/u.sock" x true
expect 0 "the command can ask about its own lock" "$HOLDFAST" run a -- \
    sh -c '"$0" status a' "$HOLDFAST"
check "and is called by its name" out_has '(sh)'
finish
