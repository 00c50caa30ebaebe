#!/bin/sh
# kinds_page.sh: the commands of README.md, "More than a mutex", and of
# docs/kinds.md do what they say, each as it stands.
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
for program in read change encode api import publish phase-2; do
    printf '#!/bin/sh\necho "%s ran"\n' "$program" >"$program"
    chmod +x "$program"
done
printf 'deploy:\n\t@echo deploy ran\n' >Makefile

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
    *--follow*)
        background sh -c "exec $1" >"$dir/seen" 2>"$dir/err"
        need_file "$dir/seen"
        kill "$job"
        finished_with 143 "$1"
        ;;
    *barrier*) together 3 "$1" ;;
    *'latch down'*) for i in 2 1 0; do
        expect 0 "$1" sh -c "$1"
        check "$i are left" out_has "^$i$"
    done ;;
    *) expect 0 "$1" sh -c "$1" ;;
    esac
}

sed -n '/^## More than a mutex/,/^## On several/s/^\$ //p' "$pages/README.md" \
    >"$dir/readme"
sed -n 's/^    \(.*holdfast .*\)/\1/p' "$pages/docs/kinds.md" >"$dir/kinds"
for page in readme kinds; do
    check "$page has commands" test "$(wc -l <"$dir/$page")" -ge 4
    while read -r line <&3; do one "$line"; done 3<"$dir/$page"
done
check "what waits for a latch went on" out_has '^publish ran$'
for name in deploy config encode api import import-42; do
    check "nothing is left of $name" free "$name"
done
finish
