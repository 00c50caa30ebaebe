#!/bin/sh
# bare_build_test.sh: a machine without hiredis, OpenSSL, libuv and libevent,
# and a build without assertions.  One rule: everything that is left builds
# without a warning, says what is left out, and passes its tests.  And a store
# needs nothing but its folder.  CMAKE and CC are those of the build that runs
# this.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
: "${CMAKE:=cmake}" "${CC:=cc}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# Where pkg-config finds nothing.
export PKG_CONFIG_LIBDIR="$work" PKG_CONFIG_PATH=
# What is left out on purpose is skipped in CI, too.
unset CI

fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
}

# step TEXT COMMAND...: or nothing further can pass.
step() {
    text=$1
    shift
    "$@" >"$work/log" 2>&1 && return
    fail "$text"
    tail -n 40 "$work/log"
    exit 1
}

# A copy of the tree with the folder of one more store, as
# docs/internals/stores.md says, and of one that lacks its library.
mkdir "$work/tree"
(cd "$source" && tar -cf - --exclude=./.git --exclude='./build*' .) |
    (cd "$work/tree" && tar -xf -)
stores=$work/tree/src/backend
mkdir "$stores/hello" "$stores/absent"
sed 's/echo/hello/g' "$source/test/module/echo.c" >"$stores/hello/hello.c"
cat >"$stores/hello/module.cmake" <<'END'
hf_backend(hello MODULE IF TRUE SCHEMES hello PROBES hello=hello://here)
END
cat >"$stores/absent/module.cmake" <<'END'
pkg_check_modules(ABSENT IMPORTED_TARGET libabsent)
hf_backend(absent MODULE IF ABSENT_FOUND SCHEMES absent absents
  WITHOUT "install the package libabsent-dev" PKG ABSENT)
END

step 'configuring' "$CMAKE" -S "$work/tree" -B "$work/out" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS_RELEASE='-O1 -DNDEBUG' -DHF_WERROR=ON
for text in 'backend redis: left out' 'libuv not found' 'libevent not found'; do
    grep -q "$text" "$work/log" || fail "configuring does not say: $text"
done

# The programs of all tests that can be run, though only some are run here.
step 'building' "$CMAKE" --build "$work/out" -j 2

step 'a lock in a file' "$work/out/holdfast" run --url "file:$work/locks" a true
if "$work/out/holdfast" run --url redis://127.0.0.1:1 a true 2>"$work/log"; then
    fail 'a URL of a backend that is left out works'
fi
grep -q 'not built in: install the package libhiredis-dev' "$work/log" ||
    fail "no word of what is missing: $(cat "$work/log")"

# refused URL WORDS: the command says WORDS of the URL.
refused() {
    if "$work/out/holdfast" run --url "$1" a true 2>"$work/log"; then
        fail "$1 works"
    fi
    grep -q "$2" "$work/log" || fail "$1: no \"$2\" in: $(cat "$work/log")"
}

refused absents://here 'not built in: install the package libabsent-dev'
refused hello://here 'there is no module libholdfast-hello.so'
refused gopher://here 'known are absent, absents, .*file, hello, memory, .*redis'
HOLDFAST_MODULE_PATH="$work/out/module" "$work/out/holdfast" version \
    >"$work/log"
grep -q '^backends: file hello memory zookeeper$' "$work/log" ||
    fail "the module is not found: $(cat "$work/log")"

tests='^(contract-(memory|file|quorum)|cli-(doctor|elect|exit|json|usage|env)'
tests="$tests|.*_test|url_fuzz)\$"
step 'the tests' ctest --test-dir "$work/out" -R "$tests" -LE slow -j 16 \
    --output-on-failure
sed -n '/tests passed/p' "$work/log"
for name in redis_split_test tls_cert_test; do
    if grep -q " $name " "$work/log"; then fail "$name is not left out"; fi
done
echo "$failed failed"
[ "$failed" -eq 0 ]
