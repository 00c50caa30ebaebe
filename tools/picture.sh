#!/bin/sh
# picture.sh: run two clients on one lock, pause the first past its lease, and
# print what was measured as an SVG: docs/picture/pause.svg.
#
#     HOLDFAST_URL=redis://127.0.0.1 sh tools/picture.sh >docs/picture/pause.svg
#
# HOLDFAST is the command (build/holdfast); the URL must be one of Redis.
# PICTURE_LOG keeps the events: milliseconds, event, value.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
HOLDFAST=${HOLDFAST:-$here/build/holdfast}
: "${HOLDFAST_URL:?set it to a Redis server}"
work=$(mktemp -d)
log=${PICTURE_LOG:-$work/log}
pids=
export HOLDFAST HOLDFAST_URL work log
trap 'end' EXIT
end() {
    # shellcheck disable=SC2086 # one pid per word
    [ -z "$pids" ] || kill -CONT $pids 2>/dev/null || :
    [ -z "$pids" ] || kill $pids 2>/dev/null || :
    rm -rf "$work"
}

# say EVENT [VALUE]: with the time, in milliseconds.
say='say() { echo "$(date +%s%3N) $*" >>"$log"; }'
eval "$say"
# wait_for EVENT: for at most a minute.
wait_for() {
    rounds=0
    while ! grep -q " $1" "$log"; do
        rounds=$((rounds + 1))
        [ $rounds -lt 3000 ] || { echo "picture: no $1" >&2; exit 1; }
        sleep 0.02
    done
}

# Each client shows its fence to the file first, and writes when told to.
cat >"$work/client" <<CLIENT
$say
say \$1-has \$HOLDFAST_FENCE
while read -r state ms; do say \$1-\$state \$ms; done <&"\$HOLDFAST_STATUS_FD" &
"\$HOLDFAST" guard file-touch "\$work/report"
say \$1-touched
while [ ! -e "\$work/\$1-go" ]; do sleep 0.02; done
say \$1-writes
if echo \$1 | "\$HOLDFAST" guard file "\$work/report" 2>"\$work/\$1-error"; then
    say \$1-written
else
    say \$1-refused
fi
while [ ! -e "\$work/\$1-end" ]; do sleep 0.02; done
sleep 0.3
kill \$!
CLIENT
# client NAME EVENT: start it, and wait for that event.
client() {
    : >"$work/$1-events"
    (
        code=0
        "$HOLDFAST" run --lease 3s --json=1 report -- sh "$work/client" "$1" \
            >"$work/$1-events" 2>/dev/null || code=$?
        say "$1-exit" $code
    ) &
    wait_for "$2"
}
# The processes of client A: holdfast, its guardian, the command.
family() {
    command=$(sed -n 's/.*"started".*"pid":\([0-9]*\).*/\1/p' "$work/a-events")
    guardian=$(ps -o ppid= -p "$command")
    supervisor=$(ps -o ppid= -p "$guardian")
    echo "$supervisor $guardian $command"
}

: >"$log"
say start
client a a-touched
sleep 1.3 # a renewal later
pids=$(family)
# shellcheck disable=SC2086 # one pid per word
kill -STOP $pids
say a-paused
sleep 0.4
say b-asks
client b b-touched
sleep 0.4
: >"$work/b-go"
wait_for b-written
sleep 0.6
touch "$work/a-go" "$work/a-end"
say a-wakes
# The command wakes a moment before holdfast, which would stop it.
kill -CONT "${pids##* }"
wait_for 'a-\(refused\|written\)'
# shellcheck disable=SC2086
kill -CONT $pids 2>/dev/null || : # the command may have ended
wait_for a-exit
sleep 0.2
: >"$work/b-end"
wait_for b-exit
pids=
awk -v version="$("$HOLDFAST" version | head -n 1)" -v day="$(date +%F)" \
    -f "$here/tools/picture.awk" "$log"
