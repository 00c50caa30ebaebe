#!/bin/sh
# interop.sh BUILD [TEST...]: build the peers in the other languages into
# BUILD/interop and run BUILD/test/interop against them.  The network is asked
# only for what has not been fetched before.
set -eu

cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
shift

fail() {
    echo "interop.sh: $*" >&2
    exit 1
}

for tool in java javac mvn go node npm python3 redis-server etcd etcdctl \
    setpriv; do
    command -v "$tool" >/dev/null 2>&1 ||
        fail "$tool is not installed: ./dev interop installs it"
done
python3 -c 'import ensurepip, venv' 2>/dev/null ||
    fail 'Python cannot make a venv: ./dev interop installs python3-venv'

src=$PWD/test/interop
out=$build/interop
log=$out/log
mkdir -p "$out"

# LANGUAGE COMMAND...: its output is shown only if it fails.
make_peer() {
    language=$1
    shift
    "$@" >"$log" 2>&1 && return
    cat "$log" >&2
    fail "the $language peer cannot be built"
}

# FOLDER OUT [OPTION...]
maven() {
    pom=$1/pom.xml
    target=$2
    shift 2
    mvn -B -q -f "$pom" -Dout="$target" "$@" process-classes
}

java_peer() {
    maven "$1" "$2" -o || maven "$1" "$2"
}

# Older Redissons, for redisson_cluster: the jars alone, for the same classes.
older='3.21.3 3.25.2'

older_jars() {
    [ -d "$out/redisson-$1/jars" ] && return
    mvn -B -q -f "$src/java/pom.xml" -Dredisson="$1" \
        -Dout="$out/redisson-$1" \
        org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies@jars
}

# FOLDER PROGRAM.  The cache of modules is under BUILD too; what it holds can be
# deleted.
go_build() (
    cd "$src/$1" && CGO_ENABLED=0 GOPATH="$out/go" GOCACHE="$out/go/cache" \
        GOMODCACHE="$out/go/mod" GOWORK=off \
        GOFLAGS='-mod=readonly -modcacherw -buildvcs=false' \
        go build -o "$out/go/$2" .
)

go_peer() {
    go_build go peer && ln -sf peer "$out/go/redislock"
}

# FOLDER LIST COMMAND...: run it unless it has been done for this very list.
once_for() {
    folder=$1
    list=$2
    shift 2
    cmp -s "$list" "$folder/done" && return
    rm -rf "$folder"
    mkdir -p "$folder"
    "$@" && cp "$list" "$folder/done"
}

python_packages() {
    python3 -m venv "$out/py" &&
        "$out/py/bin/python" -m pip install -q --no-input \
            --disable-pip-version-check -r "$src/py/requirements.txt"
}

node_packages() {
    cp "$src/node/package.json" "$src/node/package-lock.json" "$out/node" &&
        npm ci --prefix "$out/node" --cache "$out/npm" --no-audit --no-fund \
            --loglevel=error
}

make_peer Java java_peer "$src/java" "$out"
make_peer 'Java of ZooKeeper' java_peer "$src/zookeeper/curator" \
    "$out/curator"
make_peer 'Java of ShedLock' java_peer "$src/shedlock" "$out/shedlock"
for version in $older; do
    make_peer "Redisson $version" older_jars "$version"
done
make_peer Go go_peer
make_peer 'Go of etcd' go_build etcd etcd
make_peer 'Go of ZooKeeper' go_build zookeeper/go zookeeper
make_peer Python once_for "$out/py" "$src/py/requirements.txt" python_packages
make_peer Node once_for "$out/node" "$src/node/package-lock.json" node_packages

# Small and quick to start: there is one for every test.
flags='-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m'
for version in $older; do
    set -- "$@" "java-$version=java $flags \
-cp '$out/classes:$out/redisson-$version/jars/*' Peer"
done
export HOLDFAST_MODULE_PATH="$build/module"
exec "$build/test/interop" "$@" \
    "java=java $flags -cp '$out/classes:$out/jars/*' Peer" \
    "go='$out/go/peer'" \
    "redislock='$out/go/redislock'" \
    "etcd-go='$out/go/etcd'" \
    "gozk='$out/go/zookeeper'" \
    "curator=java $flags -cp '$out/curator/classes:$out/curator/jars/*' Peer" \
    "shedlock=java $flags \
-cp '$out/shedlock/classes:$out/shedlock/jars/*' Peer" \
    "etcdctl=python3 '$src/etcd/etcdctl.py'" \
    "kazoo='$out/py/bin/python' '$src/zookeeper/kazoo/peer.py'" \
    "py='$out/py/bin/python' '$src/py/peer.py'" \
    "node=node '$src/node/peer.js' '$out/node'"
