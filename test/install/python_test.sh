#!/bin/sh
# python_test.sh: `pip install` of the Python package, as it is in the
# repository, gives a wheel for every machine, which uses the library that is
# installed, and says what is missing without it.  Where pip cannot fetch what
# it needs, this is skipped (exit 77), or fails if CI is set.  BUILD names the
# build folder.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$source/build}" "${CMAKE:=cmake}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset HOLDFAST_LIBRARY LD_LIBRARY_PATH PKG_CONFIG_PATH

skip() {
    echo "skipped: $*"
    tail -n 3 "$work/log" 2>/dev/null | sed 's/^/    /'
    [ -n "${CI:-}" ] || exit 77
    echo 'cannot be skipped, CI is set'
    exit 1
}
fail() {
    echo "FAILED: $*"
    tail -n 20 "$work/log" | sed 's/^/    /'
    exit 1
}

"$CMAKE" --install "$BUILD" --prefix "$work/prefix" >"$work/log" 2>&1 ||
    fail 'make install'
lib=$(dirname "$(find "$work/prefix" -name libholdfast.so.0)")

python3 -m venv "$work/venv" >"$work/log" 2>&1 || skip 'no venv'
python=$work/venv/bin/python
timeout 300 "$python" -m pip install -q --disable-pip-version-check \
    'setuptools>=61' wheel 'cffi>=1.15' >"$work/log" 2>&1 ||
    skip 'pip cannot fetch cffi'
# What git has, and nothing that a build has left there.
(cd "$source" && git ls-files bindings/python 2>/dev/null || true) >"$work/files"
[ -s "$work/files" ] || (cd "$source" && find bindings/python -type f) >"$work/files"
(cd "$source" && tar -cf - -T "$work/files") | tar -xf - -C "$work"
"$python" -m pip wheel -q --no-build-isolation --no-deps -w "$work" \
    "$work/bindings/python" >"$work/log" 2>&1 || fail 'pip wheel'
find "$work" -maxdepth 1 -name 'holdfast-*-py3-none-any.whl' | grep -q . ||
    fail 'a wheel for every machine'
"$python" -m pip install -q --no-build-isolation --no-deps \
    "$work/bindings/python" >"$work/log" 2>&1 || fail 'pip install'

cd "$work"
cat >use.py <<'PY'
import holdfast
with holdfast.Client("memory:") as client, client.lock("a") as hold:
    assert hold.fence > 0
PY
cat >miss.py <<'PY'
import holdfast
try:
    holdfast.Client("memory:")
except holdfast.LibraryMissing as error:
    assert str(error).startswith("holdfast: libholdfast.so.0: not found: ")
else:
    raise SystemExit("the library was found")
PY
LD_LIBRARY_PATH=$lib "$python" use.py 2>"$work/log" || fail 'by the linker'
HOLDFAST_LIBRARY=$lib/libholdfast.so.0 "$python" use.py 2>"$work/log" ||
    fail 'by its name'
PKG_CONFIG_PATH=$lib/pkgconfig "$python" use.py 2>"$work/log" ||
    fail 'beside holdfast.pc'
HOLDFAST_LIBRARY=$work/none "$python" miss.py 2>"$work/log" ||
    fail 'a missing library is a sentence'
echo 'python: installed, and used in three ways'
