# zookeeper.sh: a ZooKeeper server in $dir/zookeeper; read by tests of it.
#
#   zookeeper_start    start it
#   zookeeper_url      its URL, without a chroot
need_program java
zookeeper_jar=/usr/share/java/zookeeper.jar
[ -e "$zookeeper_jar" ] || skip "$zookeeper_jar is missing: ./dev test installs it"

zookeeper_is_up() { "$HOLDFAST" list --url "$zookeeper_url/"; }
zookeeper_start() {
    redis_reserve
    mkdir -p "$dir/zookeeper/data"
    cat >"$dir/zookeeper/zoo.cfg" <<CONF
dataDir=$dir/zookeeper/data
clientPort=$redis_port
clientPortAddress=127.0.0.1
admin.enableServer=false
CONF
    java -Xmx96m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
        -Dzookeeper.extendedTypesEnabled=true -Dzookeeper.forceSync=no \
        -Dzookeeper.jmx.log4j.disable=true \
        -cp "$zookeeper_jar:/usr/share/java/slf4j-simple.jar" \
        org.apache.zookeeper.server.quorum.QuorumPeerMain \
        "$dir/zookeeper/zoo.cfg" >"$dir/zookeeper/log" 2>&1 &
    started $!
    zookeeper_url=zookeeper://127.0.0.1:$redis_port
    wait_for "ZooKeeper is up" zookeeper_is_up
}
