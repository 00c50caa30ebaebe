#!/bin/sh
# hiredis_test.sh: the reader of replies, compiled with hiredis 1.x, keeps its
# bounds.  The sources come with the Python package of hiredis; where that
# cannot be fetched, this is skipped (exit 77) and says so, or fails if CI is
# set.  BUILD names the build folder, where they are kept.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
: "${BUILD:=$source/build}" "${CC:=cc}"
version=3.2.1 # of the package; it carries hiredis 1.3.0
kept=$BUILD/hiredis
sources=$kept/hiredis-$version/vendor

fetch() {
    mkdir -p "$kept"
    timeout 120 python3 -m pip download --quiet --no-deps --dest "$kept" \
        --disable-pip-version-check --no-binary :all: "hiredis==$version" \
        >"$kept/log" 2>&1 &&
        tar -xzf "$kept/hiredis-$version.tar.gz" -C "$kept"
}

if [ ! -f "$sources/hiredis/read.c" ] && ! fetch; then
    why="hiredis 1.x: cannot fetch hiredis $version from PyPI:"
    [ -n "${CI:-}" ] || why="skipped: $why"
    echo "$why"
    tail -n 3 "$kept/log" | sed 's/^/    /'
    [ -n "${CI:-}" ] || exit 77
    echo "cannot be skipped, CI is set"
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/version.c" <<'C'
#include <hiredis/hiredis.h>
#include <stdio.h>
int main(void)
{
    printf("hiredis %d.%d.%d\n", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
    return HIREDIS_MAJOR == 1 ? 0 : 1;
}
C
# Its own files without our warnings.
for file in read sds alloc; do
    "$CC" -O1 -g -w -fsanitize=address,undefined -c \
        "$sources/hiredis/$file.c" -o "$work/$file.o"
done
"$CC" -I "$sources" "$work/version.c" -o "$work/version"
"$work/version"
"$CC" -std=c11 -O1 -g -Wall -Wextra -Werror -D_GNU_SOURCE \
    -fsanitize=address,undefined -fno-sanitize-recover=all \
    -isystem "$sources" -I "$source/include" -iquote "$source/src" \
    -iquote "$source/test" -o "$work/test" \
    "$source/src/backend/redis/link/resp.c" "$source/src/base/number.c" \
    "$source/src/sys/alloc.c" "$source/test/lib/test_main.c" \
    "$source/test/unit/backend/redis/redis_reply_test.c" "$work/read.o" "$work/sds.o" \
    "$work/alloc.o" -lpthread
"$work/test"
