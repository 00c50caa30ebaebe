#!/bin/sh
# doctor_replicas.sh: holdfast doctor on servers that others follow: a primary
# with a replica, Sentinels, a cluster; and what wait= is worth there.
. "$(dirname "$0")/lib.sh"

doctor() { "$HOLDFAST" doctor --for 50ms "$@"; }
warned() { grep -q -e "^! $1" "$dir/out"; }
noted() { grep -q -e "^  $1" "$dir/out"; }
said() { redis-cli -p "$1" "$2" "$3" 2>/dev/null | grep -q "$4"; }

# ---- a primary and its replica ----
mkdir "$dir/a" "$dir/b"
redis_start --dir "$dir/a" --appendonly yes --appendfsync always
a=$redis_port
redis_start --dir "$dir/b" --replicaof 127.0.0.1 "$a"
b=$redis_port
a_url=redis://127.0.0.1:$a
wait_for 'the replica is there' said "$a" info replication 'slave0:.*online'
expect 1 'a primary' doctor "$a_url"
check 'may lose a lock' warned 'replica 1 replica.*failover may grant .*wait=all'
check 'and goes on when cut off' warned 'replica min-replicas-to-write 0: cut off'
check 'a failover is for the fence' out_has \
    '^failover *by the fence *by the clocks'
check 'the clocks are explained' out_has '^By the clocks: while a replica'
expect 1 'one of the replicas' doctor "$a_url?wait=1"
check 'is not all' warned 'replica 1 replica, and wait=1: .*say wait=all'
expect 1 'all of them' doctor "$a_url?wait=all"
check 'for grants alone' warned 'replica .*wait=all: .*say wait_renew=on'
check 'keep the fence' out_has '^failover *by the fence *yes'
expect 0 'renewals as well' doctor "$a_url?wait=all&wait_renew=on"
check 'is as good as it gets' noted 'replica 1 replica, and wait=all with wait_r'
check 'if clocks agree' out_has '^failover *by the clocks *yes'
expect 1 'more than there are' doctor "$a_url?wait=2"
check 'is told' warned 'replica wait= asks for 1 more than follow it: no lock'
redis-cli -p "$a" config set min-replicas-to-write 1 >/dev/null
redis-cli -p "$a" config set min-replicas-max-lag 7 >/dev/null
expect 1 'a primary that needs its replica' doctor "$a_url"
check 'grants for a while' noted 'replica min-replicas-to-write 1, .* 7 s more'
redis-cli -p "$a" config set min-replicas-to-write 2 >/dev/null
expect 1 'a primary that needs another' doctor "$a_url"
check 'grants nothing' warned 'replica min-replicas-to-write 2, and 1 can be'
redis-cli -p "$a" config set min-replicas-to-write 0 >/dev/null
redis-cli -p "$a" config set appendonly no >/dev/null
expect 1 'a primary that keeps nothing' doctor "$a_url"
check 'empties its replicas' warned 'disk .*, and its replicas copy that'
expect 78 'the replica' doctor "redis://127.0.0.1:$b"
check 'names its primary' warned "role .*it is a replica of $a_url: no lock"

# ---- what was achieved is in the result ----
expect 0 'acquire with replicas' "$HOLDFAST" acquire --json --url "$a_url?wait=1" x
check 'says how many' out_has '"replicas":1}$'
expect 0 'acquire without' "$HOLDFAST" acquire --json --url "$a_url" y
check 'asked none' out_has '"replicas":0}$'

# ---- a Sentinel ----
mkdir "$dir/s"
redis_reserve
s=$redis_port
sentinel_run "$dir/s" "sentinel monitor m 127.0.0.1 $a 1"
wait_for 'the Sentinel is there' said "$s" sentinel masters '^m$'
s_url=redis-sentinel://127.0.0.1:$s/m
expect 1 'through a Sentinel' doctor "$s_url"
check 'the primary is named' out_has "^$s_url: answers .*, primary $a_url\$"
check 'its replica may lack a lock' warned 'replica 1 replica'
check 'a crash is a failover' out_has '^failover *by the fence *by the clocks'
refute 'and no more' out_has '^server crashes'
expect 1 'through a Sentinel, waiting' doctor "$s_url?wait=all&wait_renew=on"
check 'by the clocks' out_has '^failover *by the clocks *yes'
expect 1 'as JSON' doctor --json "$s_url?wait=all"
check 'what the URL says is a fact' out_has \
    "\"endpoint\":\"$a_url\",\"wait\":\"all\""
expect 69 'no such name' doctor "redis-sentinel://127.0.0.1:$s/other"
check 'says so' warned 'link .*other'
expect 69 'a Sentinel for a server' doctor "redis://127.0.0.1:$s"
check 'says what to write' warned 'link .*it is a Sentinel: write redis-sentinel:'

# ---- a cluster ----
cluster_node() {
    mkdir "$dir/$1"
    redis_start --dir "$dir/$1" --cluster-enabled yes
    eval "$1=$redis_port ${1}_pid=$redis_pid ${1}_bus=$((redis_port + 10000))"
}
cluster_node c
cluster_node d
redis-cli -p "$c" cluster addslotsrange 0 8191 >/dev/null
redis-cli -p "$d" cluster addslotsrange 8192 16383 >/dev/null
redis-cli -p "$d" cluster set-config-epoch 2 >/dev/null
is_cluster() {
    said "$c" cluster info cluster_state:ok && said "$d" cluster info 'nodes:2' &&
        said "$d" cluster info cluster_state:ok
}
redis-cli -p "$d" cluster meet 127.0.0.1 "$c" "$c_bus" >/dev/null
wait_for 'the cluster is there' is_cluster
expect 1 'a cluster' doctor "redis-cluster://127.0.0.1:$c"
check 'one of its masters' out_has "^redis://127.0.0.1:$c: answers"
check 'and the other' out_has "^redis://127.0.0.1:$d: answers"
refute 'any lock can be taken' out_has 'only locks whose slots'
check 'has no replicas' same "$(grep -c '^! replica no replica' "$dir/out")" 2
check 'may fail over' out_has '^failover *by the fence'
expect 1 'one node of it, by itself' doctor "redis://127.0.0.1:$c"
check 'says what to write' warned 'role .*use redis-cluster://'
redis_stop "$d_pid"
expect 1 'a cluster without one' doctor "redis-cluster://127.0.0.1:$c"
check 'still tells of the other' out_has "^redis://127.0.0.1:$c: answers"
check 'and of the one that is away' warned "link .*127.0.0.1:$d"
finish
