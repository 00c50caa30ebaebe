#!/bin/sh
# elect.sh: one of the candidates runs its command; when it is gone, another one
# does, and every client can see the leader.
. "$(dirname "$0")/lib.sh"
redis_start

# A command that says where it is, and goes on until it is told to end.
cat >"$dir/daemon" <<'EOF'
echo "$HOLDFAST_FENCE" >"$dir/$1.fence"
echo $$ >"$dir/$1.pid"
trap 'echo told >"$dir/$1.told"; exit 7' TERM
while :; do sleep 0.05; done
EOF
leads() { "$HOLDFAST" elect --observe --json "$1" | grep -q "\"value\":\"$2\""; }
lines() { if [ -f "$1" ]; then wc -l <"$1"; else echo 0; fi; }
lines_are() { [ "$(lines "$1")" -ge "$2" ]; }

for url in file: "$redis"; do
    HOLDFAST_URL=$url
    export HOLDFAST_URL
    rm -f "$dir"/*.fence "$dir"/*.pid "$dir"/*.told "$dir"/runs*

    expect 1 "$url: before the first campaign" \
        "$HOLDFAST" elect --observe post
    check "$url: there is no leader" out_has '^post: no leader$'
    expect 1 "$url: the same" "$HOLDFAST" elect --json --observe post
    check "$url: as JSON" out_has '^{"election":"post","led":false}$'

    # Two campaign: one leads, and shows what it publishes.
    background "$HOLDFAST" elect --value one post sh "$dir/daemon" one \
        2>"$dir/one.err"
    one=$job
    need_file "$dir/one.pid"
    background "$HOLDFAST" elect --value two post sh "$dir/daemon" two \
        2>"$dir/two.err"
    two=$job
    expect 0 "$url: somebody leads" "$HOLDFAST" elect --observe post
    check "$url: and the leader is told" \
        out_has '^post: led by .* pid [1-9].*, fence [1-9].*: one$'
    expect 0 "$url: the leader holds the lock" "$HOLDFAST" status post
    expect 75 "$url: without a wait" "$HOLDFAST" elect -n post true
    check "$url: the leader is named" err_has 'post: not elected: held by '
    expect 75 "$url: nor with a short one" "$HOLDFAST" elect -w 3s post true
    expect 5 "$url: -E" "$HOLDFAST" elect -n -E 5 post true
    refute "$url: the second one does not run" test -f "$dir/two.pid"

    # TERM resigns: the command is told, and the next one leads.
    kill "$one"
    job=$one
    finished_with 7 "$url: with the status of the command that was told"
    check "$url: it was told" test -s "$dir/one.told"
    need_file "$dir/two.pid"
    wait_for "$url: the other one leads" leads post two
    check "$url: with a higher fence" test \
        "$(cat "$dir/two.fence")" -gt "$(cat "$dir/one.fence")"
    kill "$two"
    job=$two
    finished_with 7 "$url: the other one, too"
    check "$url: nothing is left" free post

    # A candidate that is told to end leaves at once.
    background "$HOLDFAST" run post sh "$dir/daemon" holder 2>/dev/null
    holder=$job
    need_file "$dir/holder.pid"
    background "$HOLDFAST" elect -v post true 2>"$dir/err"
    wait_for "$url: it campaigns" err_has 'post: campaigning'
    kill -TERM "$job"
    finished_with 143 "$url: TERM ends a campaign"
    kill "$holder"
    wait_quietly gone "$holder"

    # A command that ends by itself.
    expect 3 "$url: its status is ours" "$HOLDFAST" elect post sh -c 'exit 3'
    export log="$dir/runs"
    expect 0 "$url: on-failure ends with success" "$HOLDFAST" elect \
        --restart on-failure --restart-delay 10ms post -c \
        'echo run >>"$log"; [ "$(wc -l <"$log")" -ge 3 ]'
    check "$url: after three runs" same "$(lines "$log")" 3
    check "$url: of which it tells" err_has 'campaigning again in 20ms'
    rm -f "$log"
    background "$HOLDFAST" elect --restart always --restart-delay 10ms post \
        -c 'echo run >>"$log"' 2>"$dir/err"
    wait_for "$url: always is always" lines_are "$log" 3
    kill "$job"
    wait_quietly gone "$job"
    wait "$job"
    code=$?
    # Between two runs the status is holdfast's own, otherwise the command's.
    check "$url: until it is told to end" test $code -eq 143 -o $code -eq 0
    check "$url: and nothing is left" free post
    expect 127 "$url: what is not there" "$HOLDFAST" elect post ./nowhere
done

# Lost: the command is ended, and run again where it leads next.
HOLDFAST_URL=$redis
rm -f "$dir"/*.pid "$dir"/*.told
background "$HOLDFAST" elect --lease 9s --renew 300ms --json=3 again \
    sh "$dir/daemon" again 3>"$dir/events" 2>"$dir/err"
need_file "$dir/again.pid"
first=$(cat "$dir/again.pid")
rm "$dir/again.pid"
expect 0 "broken" "$HOLDFAST" break --yes again
need_file "$dir/again.pid"
check "the first command was told" test -s "$dir/again.told"
check "and is gone" gone "$first"
has_event() { grep -q "\"event\":\"$1\"" "$dir/events"; }
wait_for "it is told as an event" has_event lost
check "the round has ended" has_event ended
refute "it goes on" gone "$job"
kill "$job"
finished_with 7 "until it is told to end"
check "the last event is the end" sh -c \
    'tail -n 1 "$dir/events" | grep -q "\"event\":\"end\".*\"exit\":7"'

# Killed: its guardian ends the command, and the next one is elected.
rm -f "$dir"/*.pid
background "$HOLDFAST" elect --lease 3s dead sh "$dir/daemon" dead \
    2>/dev/null
need_file "$dir/dead.pid"
daemon=$(cat "$dir/dead.pid")
kill -9 "$job"
expect 0 "the next one is elected" "$HOLDFAST" elect -w 20 dead true
check "and the command of the first is gone" gone "$daemon"

# --follow tells one change after the other.
background "$HOLDFAST" elect --observe --follow post >"$dir/seen" 2>"$dir/err"
watcher=$job
need_file "$dir/seen"
expect 0 "a short leadership" "$HOLDFAST" elect --value short post sleep 1.5
wait_for "is seen" grep -q 'post: led by .*: short$' "$dir/seen"
nobody_again() { [ "$(grep -c 'no leader' "$dir/seen")" -eq 2 ]; }
wait_for "and its end" nobody_again
kill -INT "$watcher"
job=$watcher
finished_with 130 "--follow goes on until it is told to end"

# A store that is not there is waited for, and that is said; in a queue, too.
for fair in '' --fair; do
    background "$HOLDFAST" elect $fair --url redis://127.0.0.1:1 post true \
        2>"$dir/err"
    wait_for "elect $fair says what it waits for" err_has \
        '^holdfast: post: waiting: redis://127.0.0.1:1: connect: '
    kill "$job"
    finished_with 143 "elect $fair, until it is told to end"
done

# Wrong use.
expect 64 "no name" "$HOLDFAST" elect
expect 64 "no command" "$HOLDFAST" elect post
expect 64 "--follow without --observe" "$HOLDFAST" elect --follow post true
expect 64 "--observe with a command" "$HOLDFAST" elect --observe post true
expect 64 "--observe with --value" "$HOLDFAST" elect --observe --value a post
for option in -n -w1 -E5 --skip-ok --fair --lease=10s --renew=3s --grace=1s \
    --on-lost=kill --max-hold=1 --hold-until-idle --foreground --label=a; do
    expect 64 "--observe with $option" "$HOLDFAST" elect --observe $option post
    check "$option is not for it" err_has 'observe does not campaign'
done
expect 64 "a delay of nothing" "$HOLDFAST" elect --restart-delay 1s post true
expect 64 "another policy" "$HOLDFAST" elect --restart maybe post true
long=$(printf '%0481d' 0)
expect 64 "a long name" "$HOLDFAST" elect "$long" true
check "and why" err_has 'may have 480 bytes'
finish
