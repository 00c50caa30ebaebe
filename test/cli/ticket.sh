#!/bin/sh
# ticket.sh: acquire prints a ticket by which another process renews and
# releases the lock, on every store that can keep one.
. "$(dirname "$0")/lib.sh"
redis_start

for url in file: "file:$dir/locks" "$redis"; do
    HOLDFAST_URL=$url
    export HOLDFAST_URL
    expect 0 "$url: acquire" "$HOLDFAST" acquire a
    ticket=$(cat "$dir/out")
    check "$url: one line" test "$(wc -l <"$dir/out")" -eq 1
    check "$url: a ticket" test -n "$ticket"
    expect 75 "$url: it is held" "$HOLDFAST" run -n a true
    expect 0 "$url: status" "$HOLDFAST" status a
    expect 0 "$url: renew" "$HOLDFAST" renew --lease 2m a "$ticket"
    expect 0 "$url: status --json" "$HOLDFAST" status --json a
    ttl=$(sed -n 's/.*"ttl_ms":\([0-9]*\).*/\1/p' "$dir/out")
    check "$url: the lease is the new one" test "${ttl:-0}" -gt 60000
    expect 0 "$url: renew again with the same ticket" \
        "$HOLDFAST" renew a "$ticket"
    HOLDFAST_TICKET=$ticket expect 0 "$url: ticket from the environment" \
        "$HOLDFAST" renew a
    echo "$ticket" >"$dir/ticket"
    "$HOLDFAST" renew a - <"$dir/ticket" 2>"$dir/err"
    check "$url: ticket from stdin" test $? -eq 0
    expect 0 "$url: renew --json" "$HOLDFAST" renew --json a "$ticket"
    check "$url: tells the fence" out_has '"fence":[1-9]'

    # What the store shows, and what it keeps, is not enough to make a ticket.
    "$HOLDFAST" status --json a >"$dir/out"
    owner=$(sed -n 's/.*"owner":"\([^"]*\)".*/\1/p' "$dir/out")
    check "$url: status shows the owner" test -n "$owner"
    expect 78 "$url: a ticket made of that" "$HOLDFAST" release a \
        "hf1:$owner:1:0:0"
    if [ "$url" = "$redis" ]; then
        kept=$(redis-cli -p "$redis_port" hget a hf | cut -d' ' -f3)
    else
        kept=$(sed -n 's/^attempt=//p' "$HOLDFAST_DIR/a.lock")
    fi
    check "$url: the store has a hash" test "${kept:-0}" -gt 1000000
    for word in 0000000000000001 "$(printf %016x "${kept:-0}")"; do
        expect 80 "$url: one made of what is kept: $word" \
            "$HOLDFAST" release a "hf2:$owner:$word:0:0"
        expect 80 "$url: renews nothing either" \
            "$HOLDFAST" renew a "hf2:$owner:$word:0:0"
    done
    check "$url: still held" held a

    expect 78 "$url: what is no ticket" "$HOLDFAST" renew a wibble
    expect 78 "$url: nor to release" "$HOLDFAST" release a wibble
    expect 78 "$url: a ticket with more behind it" \
        "$HOLDFAST" release a "$ticket:"
    check "$url: still held" held a
    expect 0 "$url: release" "$HOLDFAST" release a "$ticket"
    check "$url: free" free a
    expect 80 "$url: release twice" "$HOLDFAST" release a "$ticket"
    expect 80 "$url: renew what is released" "$HOLDFAST" renew a "$ticket"
    check "$url: it says so" err_has 'a: not held any more: '

    second=$("$HOLDFAST" acquire -n a)
    expect 80 "$url: an old ticket does not touch a new hold" \
        "$HOLDFAST" release a "$ticket"
    check "$url: says what is there" err_has \
        'a: nothing was released: the hold that is there is not this ticket'
    expect 80 "$url: nor renew it" "$HOLDFAST" renew a "$ticket"
    check "$url: it is held" held a
    expect 0 "$url: the new ticket does" "$HOLDFAST" release a "$second"

    third=$("$HOLDFAST" acquire --lease 1s a)
    expect 0 "$url: a lease ends by itself" "$HOLDFAST" run -w 20 a true
    expect 80 "$url: and its ticket with it" "$HOLDFAST" renew a "$third"

    expect 0 "$url: acquire --json" "$HOLDFAST" acquire --json --lease 7s a
    check "$url: has a ticket" out_has '^{.*"ticket":"[^"]*".*}$'
    check "$url: has a fence" out_has '"fence":[1-9][0-9]*'
    check "$url: has the lease" out_has '"lease_ms":7000'
    check "$url: has the replicas" out_has '"replicas":0'
    ticket=$(sed 's/.*"ticket":"\([^"]*\)".*/\1/' "$dir/out")
    expect 0 "$url: which is good" "$HOLDFAST" release a "$ticket"

    if [ -e /dev/full ]; then
        "$HOLDFAST" acquire a >/dev/full 2>"$dir/err"
        check "$url: a ticket that cannot be printed" test $? -eq 70
        check "$url: is given back" free a
    fi
done
finish
