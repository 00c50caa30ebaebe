#!/bin/sh
# acl.sh CONTRACT USE TEST...: the contract's tests as a user with exactly the
# rights that docs/how-to/acl.md has for a use; and each of these commands must
# have been called.  The server counts the calls of all users together: of a use
# that is run beside others, redis_acl_page_test tells whether it calls them.
set -eu

contract=$1
use=$2
shift 2
page=$(cd "$(dirname "$0")/../.." && pwd)/docs/how-to/acl.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/used"

# Some tests of a use need a lock beside it.  With looking on, the client that
# looks (rig_looker) has no other right.
url=redis-acl
look=
case $use in
value) rights=lock,$use ;;
guard) rights=lock,value,$use ;;
inspect)
    rights=lock,fair,readwrite,semaphore,$use
    look=look=$use
    ;;
quorum)
    rights=lock,$use
    url=redlock-acl
    ;;
*) rights=$use ;;
esac

"$contract" url=$url acl="$rights" $look used="$work/used" jobs=4 "$@"

sed -n "/^\`\`\`acl $use\$/,/^\`\`\`\$/p" "$page" | tr ' ' '\n' |
    sed -n 's/^+//p' | sort -u >"$work/given"
sort -u "$work/used" >"$work/called"
# EVAL is for servers that have lost their scripts, PING for silent ones; a
# queue's ZRANGEBYSCORE clears away marks of the past, for which no test waits.
rare='eval|ping'
[ "$use" != fair ] || rare="$rare|zrangebyscore"
unused=$(comm -23 "$work/given" "$work/called" | grep -vxE "$rare" || :)
[ -z "$unused" ] || {
    echo "$page: $use: rights that no test needed:" $unused
    exit 1
}
