#!/bin/sh
# install_test.sh: what is installed can be used by a stranger's program, with
# pkg-config (shared and static) and with find_package, and exports exactly
# what api/holdfast.symbols lists.  BUILD names the build folder.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
: "${BUILD:=$source/build}" "${CMAKE:=cmake}" "${CC:=cc}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() {
    what=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok: $what"
    else
        failed=$((failed + 1))
        echo "FAILED: $what: $*"
        tail -n 20 "$work/log" | sed 's/^/    /'
    fi
}

# A build of its own, for the prefix is written into what is installed; by make,
# as the README says, in a folder in which nothing was built before.
install_there() {
    make -C "$source" BUILD="$work/build" PREFIX="$prefix" GENERATOR= JOBS=2 \
        CMAKE="$CMAKE" CMAKE_FLAGS="-DCMAKE_C_COMPILER=$CC \
            -DCMAKE_BUILD_TYPE=RelWithDebInfo -DHF_TESTS=OFF \
            -DCMAKE_INSTALL_LIBDIR=lib" install
}

prefix=$work/prefix
check 'installs into a prefix' install_there
[ "$failed" -eq 0 ] || exit 1 # nothing below can pass
check 'installs below DESTDIR' \
    env DESTDIR="$work/dest" "$CMAKE" --install "$work/build"
check 'DESTDIR holds the whole prefix' \
    diff -r "$prefix" "$work/dest$prefix"

# By make, as a package builder calls it; the prefix is as before, so that a
# DESTDIR that is not honoured does no harm.
make_install() {
    env DESTDIR="$work/made dest" make -C "$source" BUILD="$work/build" \
        PREFIX="$prefix" GENERATOR= JOBS=2 install
}
check 'make installs below DESTDIR of the environment' make_install
check 'and nowhere else' diff -r "$prefix" "$work/made dest$prefix"

lib=$prefix/lib
export PKG_CONFIG_PATH="$lib/pkgconfig"
unset LD_LIBRARY_PATH

for file in bin/holdfast include/holdfast/holdfast.h lib/libholdfast.a \
    lib/libholdfast.so lib/libholdfast.so.0 lib/pkgconfig/holdfast.pc \
    lib/cmake/holdfast/holdfastConfig.cmake share/man/man1/holdfast.1 \
    share/doc/holdfast/LICENSE share/bash-completion/completions/holdfast \
    share/zsh/site-functions/_holdfast \
    share/fish/vendor_completions.d/holdfast.fish; do
    check "$file is there" test -s "$prefix/$file"
done

completion_is_bash() {
    bash -n "$prefix/share/bash-completion/completions/holdfast"
}
if command -v bash >/dev/null 2>&1; then
    check 'the bash completion is bash' completion_is_bash
fi
check 'the command runs from where it is' "$prefix/bin/holdfast" version

soname() {
    objdump -p "$lib/libholdfast.so" | grep -q 'SONAME *libholdfast.so.0$'
}
check 'the soname is libholdfast.so.0' soname

exports() {
    nm -D --defined-only "$lib/libholdfast.so" |
        awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$work/has"
    grep '^hf_' "$source/api/holdfast.symbols" | sort >"$work/wants"
    diff "$work/wants" "$work/has"
}
check 'exported symbols are api/holdfast.symbols' exports

flags() {
    pkg-config "$@" holdfast
}

# It alone: a program that links the shared library needs no package of ours.
flags_alone() {
    env PKG_CONFIG_LIBDIR="$lib/pkgconfig" pkg-config --cflags --libs holdfast
}
check 'pkg-config: the shared library needs no other .pc file' flags_alone

build_shared() {
    # shellcheck disable=SC2046 # one flag per word
    "$CC" -Wall -Werror "$here/outside.c" -o "$work/shared" \
        $(flags --cflags --libs) "-Wl,-rpath,$lib"
}
check 'pkg-config: a program builds with the shared library' build_shared
check 'and runs' "$work/shared"
uses_shared() {
    ldd "$work/shared" | grep -q "$lib/libholdfast.so.0"
}
check 'and uses it' uses_shared

# No shared library at all, not even the C library's.
build_static() {
    # shellcheck disable=SC2046
    "$CC" -Wall -static "$here/outside.c" -o "$work/static" \
        $(flags --static --cflags --libs)
}
has_static_libraries() {
    echo 'int main(void) { return 0; }' >"$work/empty.c"
    # shellcheck disable=SC2046
    "$CC" -static "$work/empty.c" -o "$work/empty" \
        $(flags --static --libs-only-l | sed 's/-lholdfast//') 2>/dev/null
}
if has_static_libraries; then
    check 'pkg-config: a program builds fully static' build_static
    check 'and runs' "$work/static"
else
    echo 'skipped: this system has no static C library or hiredis'
fi

build_cmake() {
    "$CMAKE" -S "$here/outside" -B "$work/outside" \
        -DCMAKE_C_COMPILER="$CC" -DCMAKE_PREFIX_PATH="$prefix" &&
        "$CMAKE" --build "$work/outside"
}
check 'find_package: a project builds' build_cmake
check 'and its shared program runs' "$work/outside/outside-shared"
check 'and its static program runs' "$work/outside/outside-static"

build_cxx() {
    # shellcheck disable=SC2046
    c++ -Wall -Werror -x c++ "$here/outside.c" -o "$work/cxx" \
        $(flags --cflags --libs) "-Wl,-rpath,$lib"
}
build_hpp() {
    # shellcheck disable=SC2046
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror \
        "$here/outside_cpp/outside.cpp" -o "$work/hpp" \
        $(flags --cflags --libs) "-Wl,-rpath,$lib"
}
build_hpp_cmake() {
    "$CMAKE" -S "$here/outside_cpp" -B "$work/outside-cpp" \
        -DCMAKE_PREFIX_PATH="$prefix" &&
        "$CMAKE" --build "$work/outside-cpp"
}
if command -v c++ >/dev/null 2>&1; then
    check 'the headers are C++ too' build_cxx
    check 'and the program runs' "$work/cxx"
    check 'holdfast.hpp is there' build_hpp
    check 'and a program of it runs' "$work/hpp"
    check 'find_package: a C++ project builds' build_hpp_cmake
    check 'and its program runs' "$work/outside-cpp/outside-cpp"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
