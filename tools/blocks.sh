#!/bin/sh
# blocks.sh: every C program on our pages compiles.  A block that begins with
# ```c and has an #include is a program; others are excerpts.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for page in README.md docs/*.md; do
    awk -v out="$work/$(basename "$page" .md)" '
        /^```c$/ { n++; inside = 1; text = ""; next }
        /^```/ && inside {
            inside = 0
            if (text ~ /#include/) printf "%s", text >(out "-" n ".c")
        }
        inside { text = text $0 "\n" }' "$page"
done

count=0 failed=0
for block in "$work"/*.c; do
    count=$((count + 1))
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude \
        -fsyntax-only "$block" || failed=$((failed + 1))
done
echo "blocks: $count programs, $failed do not compile"
[ "$failed" -eq 0 ] && [ "$count" -gt 1 ]
