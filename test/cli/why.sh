#!/bin/sh
# why.sh: why explains in sentences which process holds a lock, whether it is
# alive, when the hold ends and what can be done; also for locks of other
# programs.
. "$(dirname "$0")/lib.sh"
redis_start
redis() { redis-cli -p "$redis_port" "$@" >/dev/null; }

expect 1 "a free lock" "$HOLDFAST" why nobody
check "is free" out_has '^nobody: free\.$'
check "nothing keeps you out" out_has '^Nothing keeps you out\.$'
"$HOLDFAST" run nobody true
expect 1 "a lock that was held" "$HOLDFAST" why nobody
check "tells its last fence" out_has 'free; its last fence was [1-9]'
expect 1 "as JSON" "$HOLDFAST" why --json nobody
check "one object" out_has '^{"lock":"nobody","held":false,.*"advice":".*"}$'

# A kernel lock.
# It is held a moment before its record names the holder.
background "$HOLDFAST" run --label night kernel sleep 600
wait_for "held" sh -c '"$HOLDFAST" why kernel | grep -q "fence [1-9]"'
expect 0 "a kernel lock" "$HOLDFAST" why kernel
check "its holder" out_has "^kernel: held by .* pid $job (night), for .*fence [1-9]"
check "lives" out_has 'Its process is on this host, and lives'
check "until when" out_has 'ends with its process, and not before'
check "what to do" out_has '^What to do: .*end its process'
refute "nothing that cannot be done" out_has 'holdfast break'
kill "$job"
finished_with 143 "its holder"

HOLDFAST_URL=$redis
export HOLDFAST_URL

# Free, and yet it cannot be had: the store refuses.
redis config set maxmemory 1
expect 1 "a full server" "$HOLDFAST" why full
check "it cannot be had" out_has '^full: free, but it cannot be acquired'
check "why not" out_has '^The store grants no lock: .*its memory is full'
check "what to do" out_has '^What to do: free memory on the server'
expect 1 "as JSON" "$HOLDFAST" why --json full
check "the refusal" out_has '"refusal":".*memory is full.*"advice":"free mem'
expect 69 "and so it is" "$HOLDFAST" run -n --url "$redis_url" full true
redis config set maxmemory 0
redis config set min-replicas-to-write 1
expect 1 "too few replicas" "$HOLDFAST" why few
check "it cannot be had" out_has '^few: free, but it cannot be acquired'
check "why not" out_has 'min-replicas-to-write is 1, and 0 can be counted on'
expect 69 "and so it is" "$HOLDFAST" run -n --url "$redis_url" few true
redis config set min-replicas-to-write 0
expect 1 "it is in order again" "$HOLDFAST" why few
check "free" out_has '^few: free'

# A member of a quorum, named alone, refuses too.
first=$redis first_port=$redis_port members=
for _ in 1 2 3; do
    redis_start
    members=$members${members:+,}127.0.0.1:$redis_port
done
expect 0 "three members" "$HOLDFAST" init "redlock://$members"
HOLDFAST_URL=redis://127.0.0.1:$redis_port
expect 1 "one of them alone" "$HOLDFAST" why lone
check "it cannot be had" out_has '^lone: free, but it cannot be acquired'
check "why not" out_has 'it is one of 3 members of a quorum'
check "what to do" out_has '^What to do: name all members in the URL'
# redlock:// refuses member=ok, so the advice names the whole URL.
expect 1 "as a quorum of one" "$HOLDFAST" why \
    --url "redlock://127.0.0.1:$redis_port" lone
check "the URL to use" out_has 'or use redis://HOST?member=ok if'
expect 78 "and so it is" "$HOLDFAST" run -n lone true
expect 1 "the doctor" "$HOLDFAST" doctor --for 1ms
check "says so" out_has '^! member  it is one of 3 members of a quorum'
check "and the URL to use" out_has 'use redis://HOST?member=ok if'
expect 1 "member=ok" "$HOLDFAST" why --url "$HOLDFAST_URL?member=ok" lone
check "is granted" out_has '^Nothing keeps you out'
expect 1 "all of them" "$HOLDFAST" why --url "redlock://$members" lone
check "grant it" out_has '^Nothing keeps you out'
# Two of them refuse, for reasons of their own: the advice is for the one that
# is named.
port_of() { echo "$members" | cut -d, -f"$1" | cut -d: -f2; }
redis-cli -p "$(port_of 1)" config set maxmemory 1 >/dev/null
redis-cli -p "$(port_of 2)" config set min-replicas-to-write 1 >/dev/null
expect 1 "two refuse" "$HOLDFAST" why --url "redlock://$members" lone
check "why the first does" out_has '^The store grants no lock: .*memory is full'
check "what to do about it" out_has '^What to do: free memory on the server'
redis=$first redis_port=$first_port HOLDFAST_URL=$first

# A lease that is renewed, and one that is not.
background "$HOLDFAST" run --lease 9s --renew 300ms alive sleep 600
wait_for "held" held alive
background "$HOLDFAST" run alive true
waiter=$job
wait_for "waited for" sh -c '"$HOLDFAST" status --json alive |
    grep -q "\"waiters\":1"'
expect 0 "a living holder" "$HOLDFAST" why --for 10s alive
check "is seen renewing" out_has 'It is being renewed'
check "the waiter is counted" out_has '^1 process waits for it'
check "it ends" out_has 'It ends in .* if it is not renewed'
check "what to do" out_has 'What to do: wait .*its holder is at work'
expect 0 "as JSON" "$HOLDFAST" why --json --for 10s alive
check "renewed" out_has '"renewed":true'
check "alive" out_has '"process":"alive"'
check "by its lease" out_has '"ends_with":"lease"'
kill "$waiter"
finished_with 143 "the waiter"

background "$HOLDFAST" run --lease 20s stops sleep 600
wait_for "held" held stops
kill -STOP "$job"
expect 0 "a stopped holder" "$HOLDFAST" why --for 100ms stops
check "is stopped" out_has 'on this host, and is stopped'
check "what to do" out_has 'kill -CONT'
kill -9 "$job"
wait_quietly gone "$job"
expect 0 "a dead holder" "$HOLDFAST" why --for 100ms stops
check "is gone" out_has 'was on this host, and is gone'
check "not renewed" out_has 'It was not renewed in the'
check "what to do" out_has 'holdfast break stops --yes'
expect 0 "as that says" "$HOLDFAST" break stops --yes

"$HOLDFAST" acquire ticket >/dev/null
expect 0 "a ticket" "$HOLDFAST" why --for 100ms ticket
check "is no process" out_has 'held by a ticket .*not by a process'
check "and how it is renewed" out_has 'only holdfast renew renews it'

# Locks of other programs.
redis hset java 285475da-9152-4c83-822a-67ee2f116a79:52 3
redis pexpire java 20000
expect 0 "Redisson's lock" "$HOLDFAST" why --for 100ms java
check "whose" out_has 'held by 285475da-9152-4c83-822a-67ee2f116a79:52, 3 times'
check "its kind" out_has 'made by Redisson'
refute "not renewed" out_has 'It is being renewed'
background "$HOLDFAST" why --for 20s java >"$dir/out" 2>"$dir/err"
next=1
while ! gone "$job"; do
    next=$((next + 1))
    redis eval "redis.call('del', KEYS[1])
        redis.call('hset', KEYS[1], ARGV[1], 1)
        redis.call('pexpire', KEYS[1], 20000)" 1 java \
        285475da-9152-4c83-822a-67ee2f116a79:$next
    sleep 0.05
done
finished_with 0 "a lock that is handed on"
check "is told" out_has 'It went to another holder while we looked'
check "what to do" out_has 'What to do: wait .*from one holder to the next$'
refute "nobody is to break it" out_has 'holdfast break'
redis hset endless 285475da-9152-4c83-822a-67ee2f116a79:52 1
expect 0 "a lock without expiry" "$HOLDFAST" why endless
check "never ends" out_has 'never ends by itself'
check "what to do" out_has 'holdfast break endless --yes'
expect 0 "which does it" "$HOLDFAST" break endless --yes
check "free" free endless
redis set string 8d3f0c4e5a6b7c8d9e0f px 20000
expect 0 "a string library's lock" "$HOLDFAST" why --for 100ms string
check "its kind" out_has 'a library that uses SET NX PX'
check "what to do" out_has '^What to do: use a URL with ?format=string'
refute "nothing that is refused" out_has 'holdfast break\|holdfast run'
expect 0 "as JSON" "$HOLDFAST" why --for 100ms --json string
check "its layout too" out_has '"layout":"string"'
refute "nothing that is refused" out_has 'holdfast break\|holdfast run'
for yes in '' --yes; do
    expect 78 "break $yes" "$HOLDFAST" break string $yes
    check "break $yes: refuses it" err_has 'string: cannot be broken: a string'
    check "break $yes: what to do" err_has 'a URL with ?format=string'
done
expect 78 "run" "$HOLDFAST" run -n string true
check "run: says what to ask" \
    err_has 'no lock is stored there.*(holdfast why says more)$'
refute "run: spares the server's words" err_has 'WRONGTYPE\|script'
check "it is still there" \
    same "$(redis-cli -p "$redis_port" exists string)" 1
expect 0 "as that says" "$HOLDFAST" why --for 100ms \
    --url "$redis&spin_us=0&format=string" string
check "what to do" out_has 'holdfast break string --yes'
expect 0 "which does it" "$HOLDFAST" break --url "$redis&format=string" \
    string --yes

# No answer.
redis rpush other thing
expect 78 "no lock at all" "$HOLDFAST" why other
check "what it is" err_has 'a list is stored there'
check "what to do" out_has 'Choose another name'
expect 69 "no server" "$HOLDFAST" why --url redis://127.0.0.1:1 x
check "why" err_has 'redis://127.0.0.1:1: connect: Connection refused'
check "what to check" out_has '^Check that the server runs'
expect 69 "as JSON" "$HOLDFAST" why --json --url redis://127.0.0.1:1 x
check "with the status" out_has '^{"lock":"x","error":"UNAVAILABLE",.*"advice"'
redis acl setuser poor on nopass '~*' '&*' +ping +time +client +hello
expect 77 "not permitted" "$HOLDFAST" why \
    --url "redis://poor:x@127.0.0.1:$redis_port" x
check "what to check" out_has 'Check the user and HOLDFAST_PASSWORD'
finish
