#!/bin/sh
# doctor.sh: holdfast doctor on real servers: what is right, what is wrong with
# them, and what is said about it.
. "$(dirname "$0")/lib.sh"

doctor() { "$HOLDFAST" doctor --for 200ms "$@"; }
warned() { grep -q -e "^! $1" "$dir/out"; }
# members A B C: the URL of these ports, each with an address of its own: the
# doctor warns of nodes on one host.
members() { echo "redlock://127.0.0.1:$1,127.0.0.2:$2,127.0.0.3:$3"; }
all_hosts='127.0.0.1 127.0.0.2 127.0.0.3 127.0.0.4'

# ---- this host ----
expect 64 'two URLs' doctor file: --url file:
expect 78 'no such scheme' doctor wibble:
check 'says so' err_has 'doctor: .*scheme wibble.* redlock, quorum$'
expect 0 'a directory' doctor "file:$dir/locks"
check 'its file system is told' out_has "disk .*$dir/locks is on "
check 'a pause does no harm' out_has '^client pauses *yes'
refute 'no word of drift' out_has 'drift='
expect 0 'the default' doctor
check 'is the directory of this user' out_has "^file: answers"
expect 0 'quietly' doctor -q
check 'nothing is said' test ! -s "$dir/out"

# ---- one server, as it comes ----
redis_start
a=$redis_port a_pid=$redis_pid
expect 1 'a server that keeps nothing' doctor "$redis_url"
check 'is told by name' out_has "^$redis_url: answers in .* ms, Redis [0-9]"
check 'and by its role' out_has ', primary$'
check 'it forgets' warned 'disk .*nothing on disk'
check 'a restart is for the fence' out_has '^restart without data *by the fence'
check 'its clock is ours' out_has 'clock .* from ours, runs '
check 'the drift budget is told' out_has 'Clocks may run 1.0 % apart'
check 'the warnings are counted' out_has '^1 warning, marked with !'
expect 1 'with HOLDFAST_URL' env HOLDFAST_URL="$redis_url?drift=5%25" \
    "$HOLDFAST" doctor --for 10ms
check 'another budget' out_has 'Clocks may run 5.0 % apart'
expect 69 'nobody there' doctor redis://127.0.0.1:1
check 'says why' out_has '! link .*redis://127.0.0.1:1: connect: '
check 'promises nothing' same "$(grep -c '^client crashes' "$dir/out")" 0
refute 'and explains nothing' out_has '^By the fence'

# ---- as JSON ----
expect 1 'as JSON' doctor --json "$redis_url"
check 'the node' out_has "^{\"node\":\"$redis_url\",\"status\":\"OK\""
check 'its facts' out_has '"appendfsync":"everysec"'
check 'a finding' out_has '^{"finding":"disk","level":"warning"'
check 'a promise' out_has '^{"when":"client pauses","exclusion":"by the fence"'
check 'the sum' out_has '"drift_ppm":10000,"warnings":1}$'

# ---- what it throws away; its replicas are in doctor_replicas.sh ----
redis-cli -p "$a" config set maxmemory 100mb >/dev/null
redis-cli -p "$a" config set maxmemory-policy volatile-ttl >/dev/null
expect 1 'it evicts' doctor "$redis_url"
check 'locks go first' warned 'memory .*maxmemory-policy volatile-ttl: .*noev'
redis-cli -p "$a" config set maxmemory-policy noeviction >/dev/null
redis-cli -p "$a" config set maxmemory 1 >/dev/null
expect 1 'it is full' doctor "$redis_url"
check 'says so' warned 'memory .* % of maxmemory is used'
redis-cli -p "$a" config set maxmemory 0 >/dev/null

# ---- one server, as it should be ----
mkdir "$dir/c"
redis_start --dir "$dir/c" --appendonly yes --appendfsync always \
    --aclfile /dev/null
c=$redis_port
expect 0 'a server that keeps all' doctor "$redis_url"
check 'says so' out_has 'disk .*every grant is on its disk'
check 'a crash does no harm' out_has '^server crashes *yes *yes'
redis-cli -p "$c" config set no-appendfsync-on-rewrite yes >/dev/null
expect 1 'but for its rewrites' doctor "$redis_url"
check 'says what to set' warned 'disk .*set no-appendfsync-on-rewrite to no'
redis-cli -p "$c" config set no-appendfsync-on-rewrite no >/dev/null
redis-cli -p "$c" acl setuser default -info -config >/dev/null
expect 1 'one that says nothing of itself' doctor "$redis_url"
check 'INFO' warned 'rights .*INFO is not permitted'
check 'CONFIG' warned 'rights .*CONFIG GET is not permitted'
check 'is not believed' warned 'disk .*not known'
redis-cli -p "$c" acl setuser default '>secret' resetkeys '~*' +@all >/dev/null
expect 77 'a password is wanted' doctor "$redis_url"
expect 0 'and given' env HOLDFAST_PASSWORD=secret \
    "$HOLDFAST" doctor --for 10ms "$redis_url"

# ---- a quorum ----
for name in d e f; do
    mkdir "$dir/$name"
    redis_start --dir "$dir/$name" --bind $all_hosts
    eval "$name=\$redis_port ${name}_pid=\$redis_pid"
done
url=$(members "$d" "$e" "$f")
expect 1 'members that are new' doctor "$url"
check 'have no marker' warned 'member .*it has no marker: .*holdfast init'
check 'nothing can be had' warned 'nodes .*no lock can be had now: 0 of 3'
check 'nor after a restart' out_has '^restart without .* not before 2 of 3 vote'
check 'and it wrote none' same "$(redis-cli -p "$d" exists holdfast:boot)" 0
"$HOLDFAST" init -q --max-lease 3s "$url"
expect 0 'members whose leases are short' doctor "$url"
check 'vote' same "$(grep -c ', primary, votes, leases up to 3s$' "$dir/out")" 3
redis-cli -p "$f" del holdfast:boot >/dev/null
expect 1 'one has lost its data' doctor "$url"
check 'and does not vote for as long as the others say' \
    warned 'member .* it does not vote for 3s$'
"$HOLDFAST" init -q --force "$url"
expect 0 'members' doctor "$url"
check 'vote' same "$(grep -c ', primary, votes, leases up to 30s$' "$dir/out")" 3
check 'are compared' out_has 'clock .* from the median'
check 'one may go' out_has '^server crashes *yes *yes *at once, .*1 of 3 fail'
expect 78 'on one host' doctor "redlock://127.0.0.1:$d,127.0.0.1:$e,127.0.0.1:$f"
check 'fail together' warned 'hosts .*3 of 3 nodes are on 127.0.0.1: they fail'
check 'are of the same quorum by another name' warned \
    'member .*it is a member of another quorum'
expect 78 'a server by two names' doctor "$(members "$d" "$d" "$e")"
check 'is found out' warned 'member .*it is the same server as '
expect 78 'two nodes, of another quorum' doctor \
    "redlock://127.0.0.1:$d,127.0.0.2:$e"
check 'survive nothing' warned 'nodes .*2 nodes: no lock can be had while one'
redis_stop "$f_pid"
expect 1 'one is away' doctor "$url"
check 'is told' out_has "^redis://127.0.0.3:$f: no answer"
check 'the others are just enough' out_has \
    '^server crashes *yes *yes *not before it is back: 2 of 3 vote now'
check 'and one that lost its data keeps them waiting' out_has \
    '^restart without data *yes *yes *after a quarantine'
redis_stop "$e_pid"
expect 69 'two are away' doctor "$url"
check 'nothing can be had' same \
    "$(grep -c ' not before 2 of 3 vote: 1 do now$' "$dir/out")" 7
redis_port=$e redis_env=
redis_run --dir "$dir/e" --bind $all_hosts || fail 'cannot be restarted'
e_pid=$redis_pid
redis_port=$f
redis_run --dir "$dir/f" --bind $all_hosts || fail 'cannot be restarted'
f_pid=$redis_pid
# A client may leave before it has heard of the slower one.
is_met() {
    "$HOLDFAST" run -n --url "$url" job -- true
    [ "$(redis-cli -p "$1" exists holdfast:boot)" -eq 1 ]
}
wait_for 'one is met' is_met "$e"
wait_for 'and the other' is_met "$f"
expect 1 'they are back, empty' doctor "$url"
check 'and sit out' out_has "^redis://127.0.0.3:$f: .*, votes in [23].*s, leases"
check 'which is said' warned 'member .*it may not vote for '
"$HOLDFAST" init -q --force --durable "$url"
expect 1 'a word that is not kept' doctor "$url"
check 'is doubted' warned 'disk .*marked as durable .*, but it is not'
expect 78 'a replica among them' env HOLDFAST_URL="$(members "$d" "$e" "$f")" sh -c '
    redis-cli -p '"$f"' replicaof 127.0.0.1 '"$d"' >/dev/null
    "$HOLDFAST" doctor --for 10ms'
check 'is refused' warned 'member .*it is a replica'
redis-cli -p "$f" replicaof no one >/dev/null

# ---- clocks ----
: >"$dir/clock"
redis_stop "$f_pid"
redis_port=$f redis_env="LD_PRELOAD=$CLOCK_SHIM HF_CLOCK_PPM=83000"
redis_run --dir "$dir/f" --bind $all_hosts || fail 'cannot be restarted'
f_pid=$redis_pid
redis_env=
expect 1 'a clock that is slewed' "$HOLDFAST" doctor --for 5s "$url"
check 'runs fast' warned 'clock .*runs [789].[0-9] % too fast, and the drift budget'
check 'says what to set' warned 'clock .*maxslewrate 1000'
expect 1 'with a wider budget' "$HOLDFAST" doctor --for 1s "$url?drift=10%25"
refute 'it may' warned 'clock .*too fast'
redis_stop "$f_pid"
# An hour ahead, in nanoseconds: 3600000000000 is 0x34630b8a000.
printf '\000\240\270\060\106\003\000\000' >"$dir/clock"
redis_env="LD_PRELOAD=$CLOCK_SHIM HF_CLOCK_FILE=$dir/clock"
redis_run --dir "$dir/f" --bind $all_hosts || fail 'cannot be restarted'
redis_env=
expect 1 'a clock that is ahead' doctor "$url"
check 'is told' warned 'clock .*it is +3600.* s from the other nodes'
"$HOLDFAST" doctor --for 12s "$url" >"$dir/out" 2>"$dir/err" &
job=$!
started $job
# Its clock has been looked at a few times, by our only client there.
looks() {
    redis-cli -p "$f" info commandstats |
        sed -n 's/^cmdstat_time:calls=\([0-9]*\).*/\1/p'
}
is_looked_at() { [ "$(looks)" -gt $((before + 5)) ]; }
before=$(looks)
wait_for 'its clock is looked at' is_looked_at
printf '\000\000\000\000\000\000\000\000' | dd of="$dir/clock" conv=notrunc \
    2>/dev/null
finished_with 1 'a clock that jumps'
check 'is seen' warned 'clock .*it jumped by -3600.* s while we looked'
finish
