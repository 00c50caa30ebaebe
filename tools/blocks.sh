#!/bin/sh
# blocks.sh: every C block on our pages is a program that compiles without a
# warning, as C11 and as C++17; so does the example at the top of each header,
# inside a function that declares what it takes for granted, and each of the
# macros that initialise a struct.  A block of C++ is one as C++17.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# A block begins with ```c or ```cpp, and ends with ```.
find README.md docs examples src -name '*.md' | while read -r page; do
    awk -v out="$work/$(echo "${page%.md}" | tr / -)" '
        /^```c(pp)?$/ { n++; inside = 1; kind = substr($0, 4); next }
        /^```/ { inside = 0 }
        inside { print >(out "-" n "." kind) }' "$page"
done

# The example of a header: in its first comment, after an empty line, indented.
# "..." and what stands far behind a statement are for the reader.
given='hf_client *client, hf_lock *lock, hf_hold *hold, hf_latch *latch,
    hf_lock *account_a, hf_lock *account_b, struct hf_error err'
for header in include/holdfast/*.h; do
    awk -v given="$(echo "$given" | tr -d "\n")" '
        / \*\/$/ { if (inside) print "}\n}"; exit }
        /^ \*     (struct )?hf_/ && before == " *" {
            print "#include <holdfast/holdfast.h>"
            print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>"
            print "void do_work(void); void write_with_token(uint64_t fence);"
            print "void example(" given ");\nvoid example(" given ")\n{"
            print "(void)client, (void)lock, (void)hold, (void)latch;"
            print "(void)account_a, (void)account_b, (void)err;\n{"
            inside = 1
        }
        $0 == " *" && inside { inside = 0; print "}\n}"; exit }
        { before = $0 }
        inside {
            sub(/^ \*/, "")
            sub(/\.\.\. .*|\.\.\.$/, "")
            sub(/;    +[^ ].*/, ";")
            print
        }' "$header" >"$work/$(basename "$header").c"
    [ -s "$work/$(basename "$header").c" ] || rm "$work/$(basename "$header").c"
done

{
    echo '#include <holdfast/holdfast.h>'
    echo 'int main(void) {'
    sed -n 's/^#define HF_\([A-Z_]*\)_INIT.*/\1/p' include/holdfast/*.h |
        while read -r name; do
            lower=$(echo "$name" | tr '[:upper:]' '[:lower:]')
            echo "struct hf_$lower $lower = HF_${name}_INIT;"
            echo "hf_${lower}_init(&$lower);"
        done
    echo 'return 0; }'
} >"$work/init.c"

count=0 failed=0
# compile COMPILER LANGUAGE STANDARD FILE
compile() {
    "$1" -x "$2" -std="$3" -D_GNU_SOURCE -Wall -Wextra -pedantic -Werror \
        -Iinclude -fsyntax-only "$4" || failed=$((failed + 1))
}
for block in "$work"/*.c; do
    count=$((count + 1))
    compile "${CC:-cc}" c c11 "$block"
    compile "${CXX:-c++}" c++ c++17 "$block"
done
for block in "$work"/*.cpp; do
    compile "${CXX:-c++}" c++ c++17 "$block"
done
echo "blocks: $count programs in two languages, $failed do not compile"
[ "$failed" -eq 0 ] && [ "$count" -gt 25 ]
