#!/bin/sh
# walk.sh: the source files that a plain acquire on Redis visits, one a line,
# as the last of four acquires of one lock is seen by callgrind.
#
#     sh tools/walk.sh [BUILD]
#
# Needs valgrind, redis-server and the library of the build, with debug symbols.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$here/build}
work=$(mktemp -d)
server=
trap 'end' EXIT
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || :
    [ -z "$server" ] || wait "$server" 2>/dev/null || :
    rm -rf "$work"
}

cat >"$work/walk.c" <<'PROGRAM'
#include <holdfast/holdfast.h>
int walked(hf_lock *lock, hf_hold **hold);
__attribute__((noinline)) int walked(hf_lock *lock, hf_hold **hold)
{
    return hf_lock_acquire(lock, NULL, hold, NULL);
}
int main(int argc, char **argv)
{
    hf_client *client;
    hf_lock *lock;
    hf_hold *hold;
    if (argc != 2 || hf_client_open(argv[1], NULL, &client, NULL) != HF_OK
        || hf_lock_open(client, "walk", &lock, NULL) != HF_OK)
        return 1;
    for (int i = 0; i < 3; i++)
        if (hf_lock_acquire(lock, NULL, &hold, NULL) != HF_OK
            || hf_hold_release(hold, NULL) != HF_OK)
            return 1;
    int status = walked(lock, &hold);
    hf_client_close(client);
    return status != HF_OK;
}
PROGRAM
cc -g -I"$here/include" -o "$work/walk" "$work/walk.c" -L"$build" -lholdfast \
    -lhiredis -lpthread -ldl # these for a build with the archive alone

# A socket in the folder, and no port that another server could want.
redis-server --port 0 --unixsocket "$work/redis" --save '' --dir "$work" \
    >/dev/null &
server=$!
rounds=0
until [ -S "$work/redis" ]; do
    rounds=$((rounds + 1))
    [ $rounds -lt 600 ] || { echo "walk: no server" >&2; exit 1; }
    sleep 0.1
done
LD_LIBRARY_PATH=$build valgrind --tool=callgrind --toggle-collect=walked \
    --callgrind-out-file="$work/out" "$work/walk" "redis+unix://$work/redis" \
    2>"$work/log" || { cat "$work/log" >&2; exit 1; }

# A file has a number, and its name where it is first met, also as called.
awk '/^c?f[lie]=/ {
        is_own = !/^c/
        sub(/^[a-z]*=/, "")
        id = $1
        if (NF > 1) { sub(/^[^ ]* /, ""); name[id] = $0 }
        if (is_own) print name[id]
    }' "$work/out" | grep -o 'src/.*\.c$' | sort -u
