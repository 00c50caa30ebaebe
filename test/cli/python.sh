#!/bin/sh
# python.sh: the Python package, on the library of this build: pytest on this
# process, this host and a Redis server; declarations.h is what the headers say;
# and mypy, where it is installed, finds nothing.
. "$(dirname "$0")/lib.sh"
package=$(cd "$tests/../../bindings/python" && pwd)
python=
for one in python3 /usr/bin/python3; do
    if "$one" -c 'import cffi, pytest' 2>/dev/null; then
        python=$one
        break
    fi
done
[ -n "$python" ] || skip "cffi or pytest is not installed: ./dev test installs them"
redis_start

declared() {
    sh "$package/declarations.sh" | diff "$package/declarations.h" - >"$dir/diff"
}
check "declarations.h is what declarations.sh prints" declared

# As if it were installed; nothing is written into the sources.
mkdir "$dir/site"
cp -r "$package/src/holdfast" "$dir/site/holdfast"
check "the calls are made" \
    "$python" "$package/build_native.py" "$dir/site/holdfast/_native.py"
HOLDFAST_LIBRARY=$(dirname "$HOLDFAST")/libholdfast.so.0
HOLDFAST_TEST_REDIS="$redis_url?patience=20s"
PYTHONPATH=$dir/site
PYTHONDONTWRITEBYTECODE=1
export HOLDFAST_LIBRARY HOLDFAST_TEST_REDIS PYTHONPATH PYTHONDONTWRITEBYTECODE
cd "$dir" || exit 1
expect 0 "pytest" "$python" -m pytest -q -p no:cacheprovider "$package/tests"
[ "$got" -eq 0 ] || cat "$dir/out"

# Each program of its pages.
blocks=0
for page in README.md docs/how-to/python.md; do
    awk -v out="$dir/block-$(basename "$page" .md)" '
        /^```python$/ { n++; inside = 1; next }
        /^```/ { inside = 0 }
        inside { print >(out n ".py") }' "$package/../../$page"
done
for block in "$dir"/block-*.py; do
    sed -i "s,redis://127\.0\.0\.1,$HOLDFAST_TEST_REDIS," "$block"
    expect 0 "$(basename "$block")" "$python" "$block"
    check "and it gets the lock" out_has '^mine, fence [1-9]'
    blocks=$((blocks + 1))
done
check "the pages have programs" test "$blocks" -ge 3

if "$python" -m mypy --version >/dev/null 2>&1; then
    expect 0 "mypy" "$python" -m mypy --config-file "$package/pyproject.toml" \
        --cache-dir "$dir/mypy" "$dir/site/holdfast"
    [ "$got" -eq 0 ] || cat "$dir/out"
fi
finish
