#!/bin/sh
# pages.sh: the commands of README.md and of every page of docs/ do what the
# page says, each page by itself, in a new directory, in the page's order.
#
#   ```sh       run as it stands; every command must succeed
#   ```console  "$ COMMAND", then what it prints: "..." is any text, a number
#               of four digits or more is any number; without such lines the
#               output is not compared
#   ```c        if its first line is "/* NAME.c", it is in that file; ```cpp the
#               same
#
# docs/NAME.md is left to NAME_page.sh if there is one, and bare blocks are not
# run.  Ports 7001 to 7009 are free ones here, redis://10.0.0.5 and
# redis://127.0.0.1 a server of our own, postgres://USER@db1/app a database,
# etcd://etcd1,etcd2,etcd3 and zookeeper://zk1,zk2,zk3 servers as well, and a program
# ./NAME says "NAME ran".
. "$(dirname "$0")/lib.sh"
root=$(cd "$tests/../.." && pwd)
build=$(dirname "$HOLDFAST")
need_program pkg-config
need_program openssl
need_program sqlite3
. "$tests/part/postgres.sh"
. "$tests/part/etcd.sh"
. "$tests/part/zookeeper.sh"
redis_start
postgres_start
etcd_start
zookeeper_start
ports=
for i in 1 2 3 4 5 6 7 8 9; do
    redis_reserve
    ports="$ports;s/700$i/§$redis_port§/g"
done

# The library as if it were installed; a program needs what it was built with.
mkdir "$dir/bin"
ln -s "$HOLDFAST" "$dir/bin/holdfast"
sanitizer=$(nm -D "$build/libholdfast.so" 2>/dev/null |
    sed -n 's/.* __asan_init$/-fsanitize=address/p;s/.* __tsan_init$/-fsanitize=thread/p')
cat >"$dir/bin/holdfast.pc" <<PC
Name: holdfast
Description: the library under test
Version: 0
Libs: -L$build -lholdfast -Wl,-rpath,$build $sanitizer
Cflags: -I$root/include
libdir=$build
PC
PATH=$dir/bin:$PATH
PKG_CONFIG_PATH=$dir/bin
export PATH PKG_CONFIG_PATH

# fits EXPECTED GOT: line by line, as above.
cat >"$dir/bin/fits" <<'AWK'
function pattern(line) {
    gsub(/[][\\.^$*+?(){}|]/, "\\\\&", line)
    gsub(/\\\.\\\.\\\./, ".*", line)
    gsub(/[0-9][0-9][0-9][0-9]+/, "[0-9]+", line)
    return "^" line "$"
}
NR == FNR { want[++wanted] = $0; next }
FNR > wanted || $0 !~ pattern(want[FNR]) { print "    printed: " $0; bad = 1 }
END { exit bad || FNR < wanted }
AWK

# script PAGE: its blocks as one script, in which a failure ends it.
script() {
    awk -v dir="$dir" '
    function console_end() {
        if (command == "") return
        print "set +e; (exit $status)\n{ " command "\n} >\"$dir/got\" 2>&1"
        print "status=$?; set -e"
        if (command !~ /holdfast (doctor|status|why)/ && next_is !~ /^\$ echo \$\?/)
            print "[ $status -eq 0 ] || { cat \"$dir/got\"; exit $status; }"
        if (output != "") {
            print "cat >\"$dir/want\" <<\"END OF OUTPUT\"\n" output "END OF OUTPUT"
            print "awk -f \"$dir/bin/fits\" \"$dir/want\" \"$dir/got\""
        } else
            print "cat \"$dir/got\""
        command = output = ""
    }
    /^```/ {
        next_is = ""
        if (in_console) console_end()
        was = kind; kind = in_console = ""
        if (was == "" ) kind = $0 == "```" ? "bare" : substr($0, 4)
        in_console = kind == "console"
        if (in_console) print "status=0"
        file = ""
        next
    }
    kind == "sh" { print }
    in_console && /^\$ / { next_is = $0; console_end(); command = substr($0, 3); next }
    in_console && command != "" { output = output $0 "\n" }
    kind ~ /^c(pp)?$/ && file == "" {
        file = match($0, /^\/\* [a-z]+\.c(pp)?/) ? substr($0, 4, RLENGTH - 3) : "none"
    }
    kind ~ /^c(pp)?$/ && file != "none" { print >(dir "/tree/" file) }
    ' "$1"
}
# here: what is of our own in place of what the page has, and time for a busy
# machine; each page has a database of its own.
here() {
    server="$redis_url/$count?patience=20s"
    sed -e "$ports" -e 's,\(redis://127.0.0.1:§[0-9]*§\)$,\1?patience=20s,' \
        -e 's,\(redlock://[^ ?]*§\)$,\1?patience=20s,' \
        -e 's/§//g' \
        -e "s,postgres://[a-z]*@db1/app?,$postgres_url\&patience=20s\&,g" \
        -e "s,postgres://[a-z]*@db1/app,$postgres_url\&patience=20s,g" \
        -e "s|etcd://etcd1,etcd2,etcd3/locks|$etcd_url/locks?patience=20s|g" \
        -e "s|zookeeper://zk1,zk2,zk3\(/[a-z]*?\)|$zookeeper_url\1patience=20s\&|g" \
        -e "s,redis://10\.0\.0\.5,$server,g" \
        -e "s,redis://127\.0\.0\.1\([^:0-9]\),$server\1,g" "$@"
}
# programs PAGE: those that it has as ./NAME.
programs() {
    for program in $(grep -o '\./[a-z][a-z0-9-]*' "$1" | sort -u); do
        printf '#!/bin/sh\necho "%s ran"\n' "${program#./}" >"$program"
        chmod +x "$program"
    done
}
# stop: end the servers that the page has started.
stop() {
    for file in ./*.pid; do
        [ -s "$file" ] || continue
        pid=$(cat "$file")
        started "$pid"
        redis_stop "$pid"
    done
}
# page PATH: run it.
page() {
    mkdir "$dir/tree"
    cd "$dir/tree" || exit 1
    programs "$root/$1"
    script "$root/$1" >"$dir/blocks"
    for source in ./*.c ./*.cpp; do
        [ ! -s "$source" ] || here -i "$source"
    done
    { echo 'set -eu'; here "$dir/blocks"; } >"$dir/script"
    expect 0 "$1: the commands run" sh "$dir/script"
    [ "$got" -eq 0 ] || sed 's/^/    stdout: /' "$dir/out"
    stop
    cd "$dir" || exit 1
    rm -rf "$dir/tree"
}

count=0
for path in README.md $(cd "$root" && find docs -name '*.md' | sort); do
    [ ! -e "$tests/$(basename "$path" .md)_page.sh" ] ||
        [ "$(dirname "$path")" != docs ] || continue
    grep -q -e '^```sh$' -e '^```console$' "$root/$path" || continue
    count=$((count + 1))
    page "$path"
done
check 'there are pages' test "$count" -ge 8

# A command that nothing runs is not in a bare block of the pages for users.
bare=$(cd "$root" && awk '
    FNR == 1 { kind = "" }
    /^```/ { kind = kind == "" ? ($0 == "```" ? "bare" : "other") : ""; next }
    kind == "bare" && /^(\$ |holdfast |HOLDFAST_)/ { print FILENAME ":" FNR }' \
    README.md docs/README.md docs/tutorial*.md docs/how-to/*.md)
check "run by no test: $bare" test -z "$bare"

# docs/url.md has every option that a URL can have.
for url in redis://h redis-sentinel://h/n redis-cluster://h file:; do
    "$HOLDFAST" status --url "$url?nosuch=1" name 2>&1 |
        sed -n 's/.*known are //p' | tr ' ' '\n' | grep -v '^\.' >"$dir/options"
    check "$url has options" test -s "$dir/options"
    while read -r option; do
        check "docs/url.md has $option=" grep -q "\`$option=" "$root/docs/url.md"
    done <"$dir/options"
done
finish
