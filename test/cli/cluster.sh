#!/bin/sh
# cluster.sh: the command on a Redis Cluster, of one master that has all slots.
. "$(dirname "$0")/lib.sh"

redis_start --cluster-enabled yes
redis-cli -p "$redis_port" cluster addslotsrange 0 16383 >/dev/null
is_ok() { redis-cli -p "$redis_port" cluster info | grep -q 'cluster_state:ok'; }
wait_for 'the cluster is up' is_ok
url=redis-cluster://127.0.0.1:$redis_port
export HOLDFAST_URL="$url?patience=20s&timeout=20s"

expect 0 'a command under a lock' "$HOLDFAST" run job -- true
expect 0 'a ticket' "$HOLDFAST" acquire 'a}b'
ticket=$(cat "$dir/out")
expect 0 'whose lock is held' "$HOLDFAST" status 'a}b'
expect 75 'by nobody else' "$HOLDFAST" run -n 'a}b' -- true
expect 0 'all locks' "$HOLDFAST" list
check 'are listed with their tokens' out_has '^a}b .* [1-9][0-9]\{15\} '
expect 0 'the lock is released' "$HOLDFAST" release 'a}b' "$ticket"

# ---- what it promises ----
expect 1 'the doctor' "$HOLDFAST" doctor --for 200ms "$url"
check 'knows a cluster' out_has "^$url: .*, of a cluster"
check 'and what a failover does' out_has '^failover  *by the fence'
check 'which is promised' out_has '^failover *by the fence'
expect 1 'of one node alone' "$HOLDFAST" doctor --for 200ms "$redis"
check 'the doctor names the other URL' out_has '^! role .*use redis-cluster://'

# ---- what it cannot do ----
expect 78 'another database' "$HOLDFAST" run --url "$url/3" job -- true
check 'says why' err_has 'a cluster has only database 0'
finish
