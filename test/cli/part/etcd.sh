# etcd.sh: an etcd server in $dir/etcd; read by tests of it.
#
#   etcd_start    start it
#   etcd_url      its URL, without a prefix
need_program etcd
need_program etcdctl

etcd_is_up() { etcdctl --endpoints "127.0.0.1:$etcd_port" endpoint health; }
etcd_start() {
    redis_reserve
    etcd_port=$redis_port
    redis_reserve
    etcd --name one --data-dir "$dir/etcd" --unsafe-no-fsync \
        --listen-client-urls "http://127.0.0.1:$etcd_port" \
        --advertise-client-urls "http://127.0.0.1:$etcd_port" \
        --listen-peer-urls "http://127.0.0.1:$redis_port" \
        --initial-advertise-peer-urls "http://127.0.0.1:$redis_port" \
        --initial-cluster "one=http://127.0.0.1:$redis_port" \
        >"$dir/etcd.log" 2>&1 &
    started $!
    # shellcheck disable=SC2034 # used by the tests
    etcd_url=etcd://127.0.0.1:$etcd_port
    wait_for "etcd is up" etcd_is_up
}
