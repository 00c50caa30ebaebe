#!/bin/sh
# interop.sh BUILD [TEST...]: build the Java peer with Maven into BUILD/interop
# and run BUILD/test/interop against it.  The network is asked only for what
# Maven has not fetched before.
set -eu

cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
shift

for tool in java javac mvn redis-server; do
    command -v "$tool" >/dev/null 2>&1 && continue
    echo "interop.sh: $tool is not installed: ./dev interop installs it" >&2
    exit 1
done

out=$build/interop
log=$out/maven.log
mkdir -p "$out"

maven() {
    mvn -B -q -f test/interop/java/pom.xml -Dout="$out" "$@" process-classes
}

if ! maven -o >"$log" 2>&1 && ! maven >"$log" 2>&1; then
    cat "$log" >&2
    echo 'interop.sh: the Java peer cannot be built' >&2
    exit 1
fi

# Small and quick to start: there is one for every test.
flags='-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m'
exec "$build/test/interop" "$@" \
    "java=java $flags -cp '$out/classes:$out/jars/*' Peer"
