#!/bin/sh
# stock.sh: sales from the shell: each outcome has its exit code, and a wrong
# word changes nothing.
. "$(dirname "$0")/lib.sh"
redis_start
HOLDFAST_URL=$redis
export HOLDFAST_URL
stock() {
    "$HOLDFAST" stock "$@"
}

expect 80 "a sale that is not there" stock open s
check "is named" err_has 's: stock: no such sale'
expect 0 "create" stock create s 3 --limit 2 --hold 1h --segments 2
check "prints nothing" file_is "$dir/out" ''
expect 0 "create it again" stock create s 3 --limit 2 --hold 1h --segments 2
expect 78 "create it with other terms" stock create s 4 --limit 2
check "says so" err_has 's: stock: a sale of this name has other terms'
expect 0 "open" stock open s
check "prints its terms" grep -qx 'hold_ms 3600000' "$dir/out"
expect 0 "open --json" stock open --json s
check "as an object" file_is "$dir/out" '{"sale":"s","segments":2,"limit":2,"hold_ms":3600000,"max_hold_ms":7200000,"opens_ms":0,"closes_ms":0,"ended":false}'

expect 0 "reserve" stock reserve s ann 1
token=$(cat "$dir/out")
expect 0 "the same request" stock reserve s ann 1
check "has the same token" file_is "$dir/out" "$token"
expect 78 "its id for other units" stock reserve s ann 1 2
check "says why" err_has 'the request id was used for another number of units'
expect 75 "more than the limit" stock reserve s ann 2 2
check "says so" err_has 's: the user would have more than the limit'
expect 0 "another user, of either segment" stock reserve --json s bob 1 2
check "as an object" grep -q '"verdict":"reserved".*"state":"held","units":2' \
    "$dir/out"
other=$(sed 's/.*"token":"//; s/".*//' "$dir/out")
expect 75 "one more" stock reserve s cy 1
check "is sold out" err_has 's: sold out'
expect 75 "as JSON" stock reserve --json s cy 1
check "is sold out, too" grep -q '"verdict":"sold_out"' "$dir/out"

expect 0 "pin" stock pin s "$token" 90m
check "says what it is" file_is "$dir/out" held
expect 0 "confirm" stock confirm s "$token"
check "says what it is" file_is "$dir/out" sold
expect 0 "confirm again" stock confirm --json s "$token"
check "changes nothing" grep -q '"state":"sold","changed":false' "$dir/out"
expect 80 "cancel what is sold" stock cancel s "$token"
check "says so" err_has 'cancel: it is sold'
expect 0 "cancel the other" stock cancel s "$other"
check "says what it is" file_is "$dir/out" cancelled
expect 80 "confirm what was cancelled" stock confirm s "$other"
check "says so" err_has 'its units were given back: it was cancelled'
expect 80 "its request again" stock reserve s bob 1 2
check "says what it is" err_has 's: cancelled'
expect 80 "a forged token" stock confirm s 0.1.abcdefghijk.ann
check "is none" err_has 'reservation: none with this token'
expect 78 "no token" stock confirm s abc
check "is refused" err_has 'token: not one of this sale'

expect 0 "restock" stock restock s 5 more
expect 0 "restock again" stock restock s 5 more
expect 78 "restock with other units" stock restock s 6 more
expect 0 "audit" stock audit s
check "has all segments" grep -q '^1 .*ok$' "$dir/out"
check "and the sum" grep -Eq '^total +8 .* 7 +0 +1 .*ok$' "$dir/out"
expect 0 "close" stock close --json s
check "tells the books" grep -q '"ended":true,.*"balanced":true,"quantity":8,' \
    "$dir/out"
expect 75 "reserve after it" stock reserve s cy 2
check "is not open" err_has 's: the sale is not open'
expect 80 "restock after it" stock restock s 5 again
expect 1 "audit with books that do not balance" sh -c \
    "redis-cli -p $redis_port hincrby 'holdfast_stock:{s#0}' avail 1 >/dev/null
    \"$HOLDFAST\" stock audit s"
check "shows the segment" grep -q '^0 .*WRONG$' "$dir/out"
check "says that a number was changed" err_has 's: the numbers of a segment do not'

# what a failover does to two segments that move units
change() { # SEGMENT IN OUT AVAILABLE
    for field in "in $2" "out $3" "avail $4"; do
        # shellcheck disable=SC2086 # a field and a number
        redis-cli -p "$redis_port" hincrby "holdfast_stock:{f#$1}" $field >/dev/null
    done
}
expect 0 "another sale" stock create f 20 --segments 2
change 1 2 0 2
expect 1 "audit of units that are there twice" stock audit f
check "names them" err_has 'f: 2 units were received that no segment gave'
check "shows no segment as wrong" grep -Eq '^1 .*ok$' "$dir/out"
change 0 0 5 -5
expect 1 "audit of units that are lost" stock audit f
check "names these" err_has 'f: 3 units were given and not received'

# bad words: nothing is asked of a store
HOLDFAST_URL=redis://127.0.0.1:1
expect 64 "no action" stock
expect 64 "another action" stock sell s
expect 64 "no name" stock audit
expect 64 "a quantity of 0" stock create s 0
expect 64 "a negative quantity" stock create s -- -1
expect 64 "a huge quantity" stock create s 1000000001
expect 64 "no quantity" stock create s
expect 64 "0 segments" stock create s 5 --segments 0
expect 64 "no request" stock reserve s ann
expect 64 "no number of units" stock reserve s ann 1 x
expect 64 "no time" stock pin s x forever
expect 64 "terms of what is there" stock audit s --limit 1
expect 64 "too many words" stock audit s t
HOLDFAST_URL=$redis
expect 78 "no user" stock reserve s '' 1
expect 78 "no request id" stock reserve s ann ''
HOLDFAST_URL=file:
expect 78 "a store without sales" stock create s 5
check "says so" err_has 'keeps no sales'
finish
