#!/bin/sh
# stock_drain.sh: the orders of a sale from the shell: moved once each, by one
# drain at a time, into a database that is named with the command or in the
# environment.
. "$(dirname "$0")/lib.sh"
need_program sqlite3
redis_start
HOLDFAST_URL=$redis
into=sqlite:$dir/shop.db
export HOLDFAST_URL
stock() {
    "$HOLDFAST" stock "$@"
}
sell() {
    token=$(stock reserve s "$1" 1) && stock confirm -q s "$token"
}
"$HOLDFAST" install-schema "$into" >"$dir/out" 2>"$dir/err" || {
    grep -q 'not available' "$dir/err" && skip "this build has no SQLite"
}

expect 0 "create" stock create s 3 --limit 1
expect 0 "sell one" sell ann
expect 64 "a drain to nowhere" stock drain s --once
check "says how to name a database" err_has '--into or HOLDFAST_INTO'
expect 78 "a drain into a database without tables" \
    stock drain s --once --into "$into"
check "says how to make them" err_has 'holdfast stock drain --install'
expect 78 "a drain into what is no database" stock drain s --once --into file:
check "says so" err_has 'keeps no orders of sales'
expect 80 "a drain of no sale" stock drain t --once --install --into "$into"
expect 0 "a drain that makes the tables" \
    stock drain s --once --install --into "$into"
check "moves the events" grep -qx 'events 2' "$dir/out"
expect 0 "the next one" stock drain --json s --once --into "$into"
check "finds none" file_is "$dir/out" \
    '{"sale":"s","events":0,"refused":0,"losses":0}'
expect 0 "audit" stock audit s --into "$into"
check "compares both" grep -qx 'database: quantity 3, sold 1, orders 1, 0 events behind; missing 0, refused 0, lost 0: ok' "$dir/out"

# one that goes on until it is told to end
HOLDFAST_INTO=$into
export HOLDFAST_INTO
"$HOLDFAST" stock drain s >"$dir/drain" 2>&1 &
pid=$!
started $pid
expect 0 "sell another" sell bob
sold_two() {
    stock audit --json s --into "$into" | grep -q '"database_sold":2'
}
wait_for "it is in the database" sold_two
kill -TERM "$pid"
wait "$pid"
check "it ends by the signal" test $? -eq 143
check "and tells what it has moved" grep -qx 'events 2' "$dir/drain"
expect 0 "its lock is free" "$HOLDFAST" run -n 's#drain' -- true
expect 0 "audit with the database of the environment" stock audit s
check "compares both, too" grep -q '^database: quantity 3, sold 2, ' "$dir/out"

# a database that has seen a newer token than the lock's
fence() { # VALUE
    sqlite3 -cmd '.timeout 20000' "$dir/shop.db" \
        "UPDATE holdfast_sale_cursor SET fence=$1 WHERE sale='f'"
}
expect 0 "create a third" stock create f 3
expect 0 "drain it" stock drain f --once
fence 9000000000000000000
token=$(stock reserve f ann 1)
expect 80 "a drain whose token is too old" stock drain f --once
check "says so" err_has 'has a newer token'
"$HOLDFAST" stock drain f >"$dir/drain" 2>&1 &
pid=$!
started $pid
wait_for "another says it" grep -q 'has a newer token' "$dir/drain"
fence 0
expect 0 "confirm" stock confirm -q f "$token"
sold_one() { stock audit --json f | grep -q '"database_sold":1'; }
wait_for "it goes on when it may" sold_one
kill -TERM "$pid"
wait "$pid"
check "it ends by the signal, too" test $? -eq 143
check "and has said it once" \
    test "$(grep -c 'has a newer token' "$dir/drain")" -eq 1

# a user with the rights that the page tells; the events go once they are old
rights() { # of SECTION, for NAME
    sed -n "/^\`\`\`acl $1\$/,/^\`\`\`\$/p" "$tests/../../docs/how-to/acl.md" |
        grep -v '^`' | sed "s/NAME/$2/g"
}
events() { redis-cli -p "$redis_port" xlen 'holdfast_stock:{a#0}:events'; }
expect 0 "create another" stock create a 3 --hold 1ms
stock reserve a ann 1 >"$dir/out"
stock reserve a bob 1 >"$dir/out"
given_back() { stock audit --json a | grep -q '"held":0,"sold":0,"events":4'; }
wait_for "its reservations are given back" given_back
user() {
    # shellcheck disable=SC2046 # each right is a word
    redis-cli -p "$redis_port" acl setuser drainer reset on '>pw' \
        $(rights lock 'a#drain') $(rights stock 'a#0') "$@" >/dev/null
}
as_user="redis://drainer:pw@127.0.0.1:$redis_port"
user
expect 77 "a drain by a user without xtrim" \
    stock drain a --once --url "$as_user"
expect 0 "that keeps the events" stock drain a --once --keep --url "$as_user"
check "keeps them" same "$(events)" 4
user +xtrim
expect 0 "a drain by a user with it" stock drain a --once --url "$as_user"
check "removes some" test "$(events)" -lt 4

# a Redis that has lost the sale, and sells it again
redis-cli -p "$redis_port" flushall >/dev/null
expect 80 "a sale that is gone" stock drain s --once
stock create s 3 --limit 1
for user in cy dan eve; do sell $user; done
expect 1 "a drain of what was sold twice" stock drain s --once
check "counts it" grep -qx 'refused 2' "$dir/out"
check "says so" err_has 'the database refused 2 sales'
expect 1 "audit" stock audit s --into "$into"
check "names it" grep -q 'sold 3, .* refused 2, lost 2: WRONG$' "$dir/out"

expect 64 "drain's options for another action" stock audit s --once
expect 64 "a database for another action" stock open s --into "$into"
expect 64 "a word too much" stock drain s t
finish
