#!/bin/sh
# declarations.sh: print the C declarations of the public headers as cffi reads
# them: no comments, no macros but numbers.  Its output is kept in
# declarations.h, so that a build needs no C compiler:
#
#     sh bindings/python/declarations.sh >bindings/python/declarations.h
set -eu
include=$(cd "$(dirname "$0")/../../include" && pwd)

echo '/* Made from include/holdfast by declarations.sh. */'
awk '/^#define HF_[A-Z_]+ (0x)?[0-9a-fA-F]+u?( |$)/ { sub(/u$/, "", $3); print $1, $2, $3 }' \
    "$include"/holdfast/*.h
echo '#include <holdfast/holdfast.h>' |
    "${CC:-cc}" -E -DHF_API= -I"$include" - |
    awk '
    /^# [0-9]+ "/ { ours = $3 ~ /\/holdfast\/[a-z]+\.h"$/; next }
    !ours || /^[ \t]*$/ { next }
    /^static inline/ { skipping = 1 }
    !skipping { print }
    /^}/ { skipping = 0 }'
