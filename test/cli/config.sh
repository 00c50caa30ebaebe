#!/bin/sh
# config.sh: the configuration file says where locks live and what a store must
# promise; what is wrong with it is refused with 78 and a sentence.
. "$(dirname "$0")/lib.sh"
unset HOLDFAST_CONFIG
HOME=$dir/home
export HOME
mkdir -p "$HOME/.config"
mine=$HOME/.config/holdfast.conf
value() { sed -n "s/^$1=//p" "$dir/out"; }
# url_is TEXT URL ARGUMENT...: of a run with these words in front of the command.
url_is() {
    text=$1 want_url=$2
    shift 2
    expect 0 "$text" "$HOLDFAST" "$@" env
    check "$text: the URL" same "$(value HOLDFAST_URL)" "$want_url"
}

cat >"$mine" <<EOF
# where the locks live
url = memory:default
  lease = 20s

[prod]
url=memory:prod
label = of prod
; and one more
[ other ]
url = file:$dir/locks/other
EOF
chmod 644 "$mine"
url_is "the user's file" 'memory:default?lease=20s' run a
url_is "a profile" 'memory:prod?label=of%20prod' -p prod run a
url_is "by its long name" 'memory:prod?label=of%20prod' --profile=prod run a
url_is "behind the command" 'memory:prod?label=of%20prod' run --profile prod a
url_is "a name with blanks around it" "file:$dir/locks/other" -p other run a
url_is "--url wins" memory:x run --url memory:x a
HOLDFAST_URL=memory:env url_is "the environment wins" memory:env run a
HOLDFAST_URL=memory:env url_is "but not over -p" \
    'memory:prod?label=of%20prod' -p prod run a
HOLDFAST_PROFILE=prod url_is "HOLDFAST_PROFILE" \
    'memory:prod?label=of%20prod' run a
HOLDFAST_PROFILE=prod url_is "-p wins over it" "file:$dir/locks/other" \
    -p other run a
echo 'url = memory:elsewhere' >"$dir/conf"
url_is "--config" memory:elsewhere --config "$dir/conf" run a
url_is "behind the command" memory:elsewhere run --config="$dir/conf" a
HOLDFAST_CONFIG=$dir/conf url_is "HOLDFAST_CONFIG" memory:elsewhere run a
expect 0 "other commands use it, too" "$HOLDFAST" -p other acquire a
expect 0 "so that they see it" "$HOLDFAST" status --profile other a
expect 64 "-p and --url" "$HOLDFAST" -p prod run --url file: a true
check "are one too many" err_has 'only one of them'
expect 64 "-p with nothing behind it" "$HOLDFAST" -p

# bad TEXT PATTERN LINE...: a file with these lines is refused.
bad() {
    text=$1 pattern=$2
    shift 2
    printf '%s\n' "$@" >"$dir/bad"
    chmod 600 "$dir/bad"
    expect 78 "$text" "$HOLDFAST" --config "$dir/bad" run a touch "$dir/ran"
    check "$text: says why" err_has "$pattern"
    refute "$text: and runs nothing" test -e "$dir/ran"
}
bad "an unknown key" 'wibble' 'url = memory:' 'wibble = 1'
check "and the file is named" err_has "those of $dir/bad"
bad "a wrong type" 'lease' 'url = memory:' 'lease = soon'
bad "no key" 'bad: line 2: neither KEY = VALUE' 'url = memory:' 'wibble'
bad "no value" 'line 1: url: has no value' 'url ='
bad "a key that is none" 'line 1: a key is one word' 'my url = memory:'
bad "a key twice" 'line 2: url: given twice' 'url = memory:' 'url = file:'
bad "a bracket that is open" 'line 1: a profile is' '[prod'
bad "a profile that has no name" 'line 1: the name of a profile' '[ ]'
bad "keys without a URL" 'bad: there is no url, which the other' 'lease = 20s'
bad "a url with a typo" 'there is no url' 'urll = redis://127.0.0.1'
bad "a user without a URL" 'there is no url' 'user = me'
bad "a password without a URL" 'there is no url' 'password = secret-word'
bad "a profile that was not asked for" 'there is no url' '[p]' 'url = memory:'
bad "an option beside a quorum" 'lease: the options of a quorum stand in its' \
    'url = redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3' 'lease = 20s'
bad "a level that is none" 'or fenced, or several of them, separated by commas' \
    'url = memory:' 'require = much'
bad "a line too long" 'too long' "url = memory:$(printf '%05000d' 0)"
printf 'url = memory:\n' >"$dir/bad"
expect 78 "a profile that is not there" "$HOLDFAST" --config "$dir/bad" \
    -p nosuch run a true
check "is named" err_has "nosuch: no such profile in $dir/bad"
expect 78 "nor in the usual files" "$HOLDFAST" -p nosuch run a true
expect 78 "a file that is not there" "$HOLDFAST" --config "$dir/no" run a true
check "is named" err_has "$dir/no: cannot be read"
printf '[p]\nlease=1s\n' >"$dir/bad"
expect 78 "a profile without a URL" "$HOLDFAST" --config "$dir/bad" \
    -p p run a true

expect 78 "a directory" "$HOLDFAST" --config "$dir" run a true
check "cannot be read" err_has "$dir: cannot be read: .*irectory"

# The user's file is not passed over if there is a typo in it.
for line in 'urll = redis://127.0.0.1' 'lease = 20s' 'user = me' \
    'password = secret-word'; do
    printf '%s\n' "$line" >"$mine"
    chmod 600 "$mine"
    expect 78 "the user's file with no more than $line" "$HOLDFAST" run a true
    check "has no url" err_has "$mine: there is no url, which the other keys"
    expect 0 "but a URL may be from elsewhere" \
        "$HOLDFAST" run --url memory: a true
done
echo 'url = memory:mine' >"$mine"
chmod 646 "$mine"
expect 77 "a user's file that others may change" "$HOLDFAST" run a true
check "is refused" err_has "$mine: refused: another user may change it"
expect 0 "but not if it is named" "$HOLDFAST" --config "$mine" run a true
chmod 644 "$mine"
if [ "$(id -u)" -eq 0 ]; then
    chown 1 "$mine"
    expect 77 "that of another user" "$HOLDFAST" run a true
    check "is refused" err_has "$mine: refused: another user may change it"
    rm "$mine"
    # What only points to a file of ours, or is none, is another user's, too.
    echo 'url = memory:mine' >"$dir/ours"
    ln -s "$dir/ours" "$mine"
    expect 0 "a link of ours" "$HOLDFAST" run a true
    chown -h 1 "$mine"
    expect 77 "a link of another user" "$HOLDFAST" run a true
    check "is refused" err_has "$mine: refused: another user may change it"
    rm "$mine"
    mkfifo "$mine"
    chown 1 "$mine"
    printf 'url = memory:mine\n' >"$mine" 2>/dev/null &
    expect 77 "a pipe of another user" timeout 60 "$HOLDFAST" run a true
    check "is refused" err_has "$mine: refused: another user may change it"
    kill $! 2>/dev/null
    wait
    expect 77 "also if nothing writes there" timeout 60 "$HOLDFAST" run a true
    rm "$mine"
    ln -s /dev/null "$mine"
    expect 0 "a link to nothing" "$HOLDFAST" run a true
fi
rm "$mine"
mkdir "$mine"
expect 78 "a user's file that is a directory" "$HOLDFAST" run a true
check "is named" err_has "$mine: cannot be read"
rmdir "$mine"

# The file of the system, in a namespace of our own.
with_etc() {
    unshare -rm sh -c 'mount --bind "$0" /etc && exec "$@"' "$dir/etc" "$@"
}
mkdir "$dir/etc"
if with_etc true 2>/dev/null; then
    printf 'url = memory:etc\n[q]\nurl = memory:q\n' >"$dir/etc/holdfast.conf"
    etc_url_is() {
        expect 0 "$1" with_etc "$HOLDFAST" run a env
        check "$1: the URL" same "$(value HOLDFAST_URL)" "$2"
    }
    etc_url_is "the system's file" memory:etc
    HOLDFAST_PROFILE=q etc_url_is "a profile of it" memory:q
    echo 'url = memory:mine' >"$mine"
    etc_url_is "the user's file wins" memory:mine
    HOLDFAST_PROFILE=q etc_url_is "but not without the profile" memory:q
    echo '# nothing' >"$mine"
    etc_url_is "a user's file that is empty hides nothing" memory:etc
    printf 'require = distributed\n' >"$mine"
    expect 78 "require of the user's file" with_etc "$HOLDFAST" run a true
    check "holds for the URL of the system's" err_has 'memory:etc: refused'
    HOLDFAST_PROFILE=q expect 78 "and for its profiles" \
        with_etc "$HOLDFAST" run a true
    echo 'lease = 20s' >"$mine"
    expect 78 "a typo is not hidden by it" with_etc "$HOLDFAST" run a true
    check "but found" err_has "$mine: there is no url"
    printf 'url = memory:mine\n' >"$mine"
    echo 'require = quorum' >"$dir/etc/holdfast.conf"
    expect 78 "require of the system's file" with_etc "$HOLDFAST" run a true
    check "holds for the URL of the user's" err_has 'memory:mine: refused'
    rm "$mine"
fi

# A password must be ours alone; it goes to no other profile.
printf 'url = memory:\n[p]\nurl = memory:\npassword = secret-word\n' >"$dir/bad"
chmod 644 "$dir/bad"
expect 78 "a password that others may read" \
    "$HOLDFAST" --config "$dir/bad" run a true
check "is refused" err_has 'every user of this host may read it'
refute "and not shown" err_has secret-word
chmod 640 "$dir/bad"
expect 0 "one that they may not" "$HOLDFAST" --config "$dir/bad" run a true

# What is required.
for level in distributed quorum fenced fenced,quorum; do
    for url in file: memory: "sqlite:$dir/x.db" "file:$dir/locks"; do
        case $url in sqlite:*) "$HOLDFAST" version | grep -q sqlite ||
            continue ;; esac
        expect 78 "$url is not $level" "$HOLDFAST" --require $level \
            run --url "$url" a true
        check "which is said" err_has 'refused, because distributed is required'
    done
done
expect 78 "--require behind the command" \
    "$HOLDFAST" run --require distributed a true
HOLDFAST_REQUIRE=quorum expect 78 "HOLDFAST_REQUIRE" "$HOLDFAST" run a true
printf 'require = distributed\n[p]\nurl = memory:\n' >"$dir/conf"
expect 78 "in the file" "$HOLDFAST" --config "$dir/conf" run --url file: a true
check "which is named" err_has \
    "see --require, HOLDFAST_REQUIRE and $dir/conf\$"
expect 78 "where it holds for profiles" \
    "$HOLDFAST" --config "$dir/conf" -p p run a true
expect 78 "and for --url" \
    "$HOLDFAST" --config "$dir/conf" run --url file: a true
expect 78 "also for once" "$HOLDFAST" --config "$dir/conf" once a true
expect 78 "and for acquire" "$HOLDFAST" --config "$dir/conf" acquire a
expect 78 "in front and behind add up" "$HOLDFAST" --require quorum \
    run --require distributed --url redis://127.0.0.1:1 a true
check "to both" err_has 'because quorum is required'
expect 78 "so does one behind the other" "$HOLDFAST" run --require quorum \
    --require distributed --url redis://127.0.0.1:1 a true
check "to both" err_has 'because quorum is required'
expect 78 "also in front" "$HOLDFAST" --require quorum --require distributed \
    run --url redis://127.0.0.1:1 a true
check "to both" err_has 'because quorum is required'
for option in --require --profile --config; do
    expect 64 "$option that is empty" "$HOLDFAST" run $option '' a true
    check "is refused" err_has "^holdfast: $option: empty"
    expect 64 "also in front" "$HOLDFAST" $option '' run a true
    check "is refused" err_has "^holdfast: $option: empty"
done
for name in HOLDFAST_REQUIRE HOLDFAST_PROFILE HOLDFAST_CONFIG; do
    expect 78 "$name that is empty" env $name= "$HOLDFAST" run a true
    check "is refused" err_has "^holdfast: $name: empty"
done
HOLDFAST_REQUIRE=some expect 78 "a level that is none" "$HOLDFAST" run a true
check "is shown" err_has 'HOLDFAST_REQUIRE: some: must be distributed'

# Nothing is configured: said to a user who looks.
expect 0 "nothing is configured" "$HOLDFAST" run -v a true
check "is said with -v" err_has 'a: this lock is for this host only'
check "once" test "$(grep -c 'this host only' "$dir/err")" -eq 1
expect 0 "once, with nothing configured" "$HOLDFAST" once -v b true
check "says so, too" err_has 'b: this lock is for this host only'
expect 0 "without -v and a terminal" "$HOLDFAST" run a true
refute "nothing is said" err_has .
expect 0 "--url file: is meant" "$HOLDFAST" run -v --url file: a true
refute "so nothing is said" err_has 'this host only'
expect 0 "a file is a file" "$HOLDFAST" run -v "$dir/file" true
refute "so nothing is said" err_has 'this host only'
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    timeout 60 script -qec "$HOLDFAST run a true" /dev/null >"$dir/out" 2>&1 \
        </dev/null
    check "at a terminal it is said" out_has 'this host only'
fi
HOLDFAST_URL='' expect 78 "an empty HOLDFAST_URL" "$HOLDFAST" run a true
check "is refused with a sentence" err_has '^holdfast: HOLDFAST_URL: empty'
expect 0 "doctor" sh -c '"$HOLDFAST" doctor file: || [ $? -eq 1 ]'
check "tells of other hosts" out_has '^other hosts *no '
expect 0 "the guarantee" "$HOLDFAST" run a env
check "is of this host" same "$(value HOLDFAST_GUARANTEE)" host

redis_start --requirepass secret-word
echo secret-word >"$dir/password"
chmod 600 "$dir/password"
cat >"$dir/conf" <<EOF
require = distributed
[file]
url = $redis_url
password_file = $dir/password
patience = 20s
timeout = 20s
[word]
url = $redis
password = secret-word
[bare]
url = $redis
[user]
url = $redis
user = default
password_file = $dir/password
[string]
url = $redis&format=string&fence=off
password_file = $dir/password
[local]
url = $redis
password = secret-word
fallback = local
EOF
chmod 600 "$dir/conf"
HOLDFAST_CONFIG=$dir/conf
export HOLDFAST_CONFIG
expect 0 "a password_file" "$HOLDFAST" -p file run a env
check "the guarantee is the store's" same "$(value HOLDFAST_GUARANTEE)" store
expect 0 "holdfast inside it gets in as well" "$HOLDFAST" -p file run a -- \
    "$HOLDFAST" status a
# Credentials of the environment are for another server.
echo wrong-word >"$dir/wrong"
chmod 600 "$dir/wrong"
expect 0 "HOLDFAST_PASSWORD is not that of the file" \
    env HOLDFAST_PASSWORD=wrong-word "$HOLDFAST" -p file run a true
expect 0 "HOLDFAST_PASSWORD_FILE is not, either" \
    env HOLDFAST_PASSWORD_FILE="$dir/wrong" "$HOLDFAST" -p word run a env
refute "and not for the command" out_has HOLDFAST_PASSWORD_FILE
expect 0 "HOLDFAST_USER is not, either" \
    env HOLDFAST_USER=nobody "$HOLDFAST" -p file run a env
refute "and not for the command" out_has HOLDFAST_USER
expect 0 "HOLDFAST_PASSWORD for a URL without one" \
    env HOLDFAST_PASSWORD=secret-word "$HOLDFAST" -p bare run a true
expect 0 "the user of a profile" "$HOLDFAST" -p user run a env
check "is passed on" out_has '^HOLDFAST_USER=default$'
expect 0 "so that a holdfast inside gets in" "$HOLDFAST" -p user run a -- \
    "$HOLDFAST" status a
expect 0 "a password" "$HOLDFAST" -p word run a env
refute "is not passed on" out_has secret-word
expect 78 "a fence is required" "$HOLDFAST" -p string --require fenced run a true
check "which is said" err_has 'because fenced is required: .* no fencing token'
expect 78 "a quorum is required" "$HOLDFAST" -p file --require quorum run a true
check "which is said" err_has 'because quorum is required'
refute "without the password" err_has secret-word
expect 78 "a quorum of files is of this host" "$HOLDFAST" run --require quorum \
    --url "quorum:file:$dir/a|file:$dir/b|file:$dir/c" a true
check "which is said" err_has 'because distributed is required'
expect 0 "a fence is there" "$HOLDFAST" -p file --require fenced run a true
expect 78 "a fallback to this host is refused" "$HOLDFAST" -p local run a true
check "which is said" err_has 'fallback=local'
finish
