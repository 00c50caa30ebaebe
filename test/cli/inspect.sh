#!/bin/sh
# inspect.sh: status, list and break tell the truth, to people and programs,
# and let nothing through that would harm a terminal.
. "$(dirname "$0")/lib.sh"
redis_start

expect 1 "a lock nobody ever had" "$HOLDFAST" status nobody
check "is free" out_has '^nobody: free'
expect 0 "no locks to list" "$HOLDFAST" list
check "prints nothing" test ! -s "$dir/out"

for url in file: "$redis"; do
    HOLDFAST_URL=$url
    export HOLDFAST_URL
    esc=$(printf '\033')
    first=$("$HOLDFAST" acquire --label night alpha)
    wild=$("$HOLDFAST" acquire --label "a${esc}b" "wi${esc}ld")
    expect 0 "$url: status of a wild name" "$HOLDFAST" status "wi${esc}ld"
    refute "$url: no escape reaches the terminal" out_has "$esc"
    check "$url: it is shown as what it is" out_has 'wi\\x1bld: held'
    expect 0 "$url: list with a wild name" "$HOLDFAST" list
    refute "$url: no escape in it" out_has "$esc"
    expect 75 "$url: a message about it" "$HOLDFAST" run -n "wi${esc}ld" true
    refute "$url: no escape in that" err_has "$esc"
    "$HOLDFAST" status --json "wi${esc}ld" >"$dir/out"
    check "$url: escaped as JSON wants it" out_has '"lock":"wi\\u001bld"'
    "$HOLDFAST" release "wi${esc}ld" "$wild"
    csi=$(printf 'w\302\233m\302\240x') # U+009B is ESC [ for some terminals
    "$HOLDFAST" status --json "$csi" >"$dir/out"
    check "$url: U+009B is escaped, U+00A0 is not" \
        out_has "\"lock\":\"w\\\\u009bm$(printf '\302\240')x\""
    "$HOLDFAST" acquire 'be"ta\x' >"$dir/second"
    expect 0 "$url: status" "$HOLDFAST" status alpha
    check "$url: for people" out_has '^alpha: held by .*fence [1-9].*lease '
    check "$url: all of it" \
        out_has ', count 1, 0 waiting, kind holdfast, guarantee store$'
    expect 0 "$url: status --json" "$HOLDFAST" status --json alpha
    check "$url: layout" out_has '"layout":"holdfast"'
    check "$url: guarantee" out_has '"guarantee":"store"'
    check "$url: count" out_has '"count":1'
    check "$url: waiters" out_has '"waiters":0'
    check "$url: one line" test "$(wc -l <"$dir/out")" -eq 1
    check "$url: held" out_has '^{"lock":"alpha","held":true,'
    check "$url: label" out_has '"label":"night"'
    check "$url: its process" out_has '"pid":[1-9]'
    expect 1 "$url: status --json of a free one" "$HOLDFAST" status --json zz
    check "$url: not held" out_has '^{"lock":"zz","held":false,'
    "$HOLDFAST" status --json 'be"ta\x' >"$dir/out"
    check "$url: quotes in names" out_has '"lock":"be\\"ta\\\\x"'

    expect 0 "$url: list" "$HOLDFAST" list
    check "$url: a title" out_has '^NAME  *HOLDER  *HELD  *LEASE  *FENCE'
    check "$url: the rest of it" out_has 'FENCE  *COUNT  *WAITING  *KIND  *LABEL$'
    check "$url: count, waiters, kind and label" \
        out_has '^alpha .* 1  *0  *holdfast  *night$'
    check "$url: three lines" test "$(wc -l <"$dir/out")" -eq 3
    check "$url: the first" out_has '^alpha '
    expect 0 "$url: list --match" "$HOLDFAST" list --match 'al*'
    check "$url: only that" test "$(wc -l <"$dir/out")" -eq 2
    expect 0 "$url: list --json" "$HOLDFAST" list --json
    check "$url: a line each" test "$(grep -c '^{"lock":.*}$' "$dir/out")" -eq 2

    expect 64 "$url: break asks first" "$HOLDFAST" break alpha
    check "$url: and names the holder" err_has 'would be taken away from .*pid'
    check "$url: nothing happened" held alpha
    expect 0 "$url: break --yes" "$HOLDFAST" break alpha --yes
    check "$url: says so" out_has 'alpha: taken away from'
    check "$url: free" free alpha
    expect 80 "$url: the old ticket is worth nothing" \
        "$HOLDFAST" release alpha "$first"
    expect 0 "$url: break what is free" "$HOLDFAST" break --yes --json alpha
    check "$url: says that too" out_has '"broken":false'
    expect 0 "$url: break --json" "$HOLDFAST" break --yes --json 'be"ta\x'
    check "$url: as JSON" out_has '"broken":true'

    fence=$("$HOLDFAST" run alpha -c 'echo $HOLDFAST_FENCE')
    "$HOLDFAST" acquire alpha >/dev/null
    "$HOLDFAST" break -q --yes alpha
    after=$("$HOLDFAST" run alpha -c 'echo $HOLDFAST_FENCE')
    check "$url: the fence has risen" test "$after" -gt "$fence"
done

unset HOLDFAST_URL
background "$HOLDFAST" run alpha sleep 600
wait_for "held by a process" held alpha
expect 64 "break without --yes" "$HOLDFAST" break alpha
check "promises nothing that --yes would not do" err_has 'cannot be broken'
expect 78 "a living kernel lock cannot be broken" "$HOLDFAST" break --yes alpha
check "names its pid" err_has "$job"
check "it is still held" held alpha
kill "$job"
finished_with 143 "its holder"

# What other libraries made.
redis() { redis-cli -p "$redis_port" "$@" >/dev/null; }
redis hset java 285475da-9152-4c83-822a-67ee2f116a79:52 3
redis pexpire java 600000
redis set other 8d3f0c4e5a6b7c8d9e0f px 600000
expect 0 "Redisson's lock" "$HOLDFAST" status --url "$redis" java
check "whose, how often, which kind" out_has \
    'held by 285475da-9152-4c83-822a-67ee2f116a79:52, .*count 3, .*redisson'
expect 0 "a string library's lock" "$HOLDFAST" status --url "$redis" other
check "which kind" out_has 'held by 8d3f0c4e5a6b7c8d9e0f, .*kind string'
expect 0 "list" "$HOLDFAST" list --url "$redis"
check "knows Redisson's" out_has '^java .* 3  *0  *redisson'
refute "takes no string for a lock" out_has '^other '
expect 0 "list with format=string" "$HOLDFAST" list \
    --url "$redis&format=string"
check "unless it is told to" out_has '^other .* string '
expect 75 "a busy one" "$HOLDFAST" run -n --url "$redis" java true
check "tells whose kind it is" err_has 'kind redisson'
redis set foreign value
expect 78 "something else under the name" "$HOLDFAST" run --url "$redis" \
    -n foreign true
finish
