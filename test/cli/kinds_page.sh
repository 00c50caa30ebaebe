#!/bin/sh
# kinds_page.sh: the commands of docs/kinds.md do what they say, each as it
# stands.
. "$(dirname "$0")/lib.sh"
pages=$tests/../..
redis_start
HOLDFAST_URL=$redis
export HOLDFAST_URL

# Our binary where the pages have it, and programs by the names they have.
mkdir "$dir/bin" "$dir/tree"
ln -s "$HOLDFAST" "$dir/bin/holdfast"
ln -s "$dir/bin" "$dir/tree/build"
PATH=$dir/bin:$PATH
export PATH
cd "$dir/tree" || exit 1
for program in import publish phase-2; do
    printf '#!/bin/sh\necho "%s ran"\n' "$program" >"$program"
    chmod +x "$program"
done

# together N LINE: N times at once; all must end well.
together() {
    parties=
    for _ in $(seq "$1"); do
        background sh -c "$2" >"$dir/party" 2>&1
        parties="$parties $job"
    done
    for job in $parties; do finished_with 0 "$2"; done
}

# one LINE: run it, as often as it takes.
one() {
    case $1 in
    *barrier*) together 3 "$1" ;;
    *'latch down'*) for i in 2 1 0; do
        expect 0 "$1" sh -c "$1"
        check "$i are left" out_has "^$i$"
    done ;;
    *) expect 0 "$1" sh -c "$1" ;;
    esac
}

sed -n 's/^    \(.*holdfast .*\)/\1/p' "$pages/docs/kinds.md" >"$dir/kinds"
check "the page has commands" test "$(wc -l <"$dir/kinds")" -ge 4
while read -r line <&3; do one "$line"; done 3<"$dir/kinds"
check "what waits for a latch went on" out_has '^publish ran$'
check "nothing is left of the latch" free import-42
finish
