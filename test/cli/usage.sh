#!/bin/sh
# usage.sh: wrong use is refused with 64 and a sentence, and changes nothing.
. "$(dirname "$0")/lib.sh"

# bad TEXT PATTERN ARGUMENT...: refused, with PATTERN in the sentence.
bad() {
    text=$1 pattern=$2
    shift 2
    expect 64 "$text" "$HOLDFAST" "$@"
    check "$text: says why" err_has "$pattern"
}

bad "no command at all" 'usage: holdfast'
bad "an unknown command" 'wibble: no such command' wibble
bad "no name" 'NAME and COMMAND are missing' run
bad "no command to run" 'COMMAND is missing' run a
bad "no command behind --" 'COMMAND is missing' run a --
bad "an unknown option" '\-\-wibble: no such option' run --wibble a true
bad "an unknown letter" '\-Z: no such option' run -Z a true
bad "a missing value" 'needs a value' run a -w
bad "a value for a flag" 'takes no value' run --nonblock=1 a true
bad "a time that is none" 'not a time' run -w soon a true
bad "a negative time" 'not a time' run -w -1 a true
bad "an unknown unit" 'not a time' run -w 3x a true
bad "a time that is none is shown" 'run: -w soon: not a time' run -w soon a true
bad "also behind =" 'run: --wait=soon: not a time' run --wait=soon a true
bad "an empty time" "run: -w '': not a time" run -w '' a true
bad "a time with its units in disorder" 'not a time' run -w 30m1h a true
bad "one unit twice" 'not a time' run -w 1h1h a true
bad "a number without a unit behind a unit" 'not a time' run -w 1h30 a true
bad "a time beyond all bounds" 'not a time' run -w 99999999999w a true
bad "a number that is none is shown" 'run: -E 600: not a number' \
    run -E 600 a true
bad "a choice that is none is shown" '\-\-fallback hope: must be one of' \
    run --fallback hope a true
bad "a backoff that is none is shown" '\-\-backoff wild: ' \
    run --backoff wild a true
bad "a descriptor that is none is shown" '\-\-json=x: ' run --json=x a true
for word in trem 'echo lost' exec: exec stop sig SIGKIL ''; do
    for command in run once elect; do
        bad "$command --on-lost '$word'" "on-lost .*: must be term, kill, warn" \
            $command --on-lost "$word" a true
    done
done
bad "and is shown" '\-\-on-lost trem: ' run --on-lost trem a true
for word in term kill warn TERM SIGTERM int sighup USR1 'exec:echo lost'; do
    expect 0 "--on-lost $word" "$HOLDFAST" run --on-lost "$word" a true
done
for time in 1h30m 1w 1d12h 1m30s500ms 1.5h; do
    expect 0 "-w $time" "$HOLDFAST" run -w $time a true
done
bad "what is summed up" 'too long: at most 1d00h' run --lease 23h60m1s a true
bad "a lease of nothing" 'too short' run --lease 0 a true
bad "a lease that is over too soon" 'at least 100ms' \
    run --url memory: --lease 99ms a true
bad "a lease beyond a day" 'too long' run --lease 25h a true
bad "-E 600" 'not a number from 0 to 255' run -E 600 a true
bad "-E x" 'not a number' run -E x a true
bad "-c and a command" 'exclude each other' run a -c true true
bad "-n and -w" 'exclude each other' run -n -w 1 a true
bad "-F and -o" 'exclude each other' run -F -o a true
bad "-F and --max-hold" '\-F leaves no process' run -F --max-hold 1s a true
bad "--skip-ok and -E" 'exclude each other' run --skip-ok -E 1 a true
bad "two URLs" 'only one' run --url file: --url-file x a true
bad "a JSON descriptor that is not open" 'not open' run --json=77 a true
bad "a JSON descriptor that is none" 'not the number' run --json=x a true
bad "an empty name" 'empty' run '' true
bad "a name too long" 'too long' \
    run "$(printf '%0600d' 0)" true
bad "a grace too long for the lease" 'three times --grace' \
    run --url memory: --lease 5s --grace 2s a true
bad "a grace too long for the lease of the URL" 'three times --grace' \
    run --url 'memory:?lease=5s' --grace 2s a true
bad "-n and -w forever" 'exclude each other' run -n -w forever a true
bad "-n and -w of acquire" 'exclude each other' acquire -n -w 1 a
bad "a fallback that is none" 'must be one of fail|wait|local' \
    run --fallback hope a true
bad "a ticket of this host" 'must be one of fail|wait' \
    acquire --fallback local a
bad "a kept lock of this host" 'exclude each other' \
    run --min-hold 1s --fallback local a true
bad "a renewal too late" 'half of --lease' run --lease 10s --renew 6s a true
bad "a backoff that is none" 'the kind must be' run --backoff wild a true
bad "a pause that is none" 'first pause' run --backoff jitter:x a true
bad "a longest pause of nothing" 'longest pause' run --backoff jitter:1ms:0 \
    a true
bad "a factor that is none" 'factor' acquire --backoff jitter:::0 a
bad "one colon too many" 'too many colons' acquire --backoff jitter::::1 a
bad "pauses for none" 'none has no pauses' acquire --backoff none:1ms a
bad "a backoff that shrinks" 'shorter than the first' \
    run --backoff exponential:2s:1s a true
bad "once without a command" 'once: COMMAND is missing' once a
bad "losers of no kind" 'must be one of skip|wait|status' \
    once --losers cry a true
bad "losers that wait and do not wait" 'exclude each other' \
    once -n --losers wait a true
bad "a once of this host" 'must be one of fail|wait;' \
    once --fallback local a true
bad "a period of nothing" 'too short' once --per 0 a true
bad "a period beyond a year" 'too long' once --per 400d a true
bad "holds that contradict" 'must not be less' \
    once --min-hold 2s --max-hold 1s a true
bad "a name too long for once" '480' once "$(printf '%0490d' 0)" true
bad "why without a name" 'NAME is missing' why
bad "guard without an action" 'guard: ACTION is missing' guard
for command in status why; do
    bad "$command does not wait" 'must be one of fail|local;' \
        $command --fallback wait a
done
bad "break without --yes" 'nothing to break' break a
bad "release without a ticket" 'no ticket' release a
bad "one argument too many" 'too many' status a b
bad "help for what is not there" 'no such command' help wibble

expect 0 "help" "$HOLDFAST" help
check "lists the commands" out_has 'acquire'
refute "but not the hidden ones" out_has '__man'
for command in run once acquire renew release status list why break stress \
    lab help version; do
    expect 0 "help $command" "$HOLDFAST" help $command
    check "$command: usage" out_has "^usage: holdfast $command"
    cp "$dir/out" "$dir/help"
    expect 0 "$command --help" "$HOLDFAST" $command --help
    check "$command: both say the same" cmp -s "$dir/help" "$dir/out"
    check "$command: 80 columns" \
        test "$(awk 'length > 80' "$dir/out" | wc -l)" -eq 0
done
expect 0 "version" "$HOLDFAST" version
check "tells the version" out_has '^holdfast [0-9]'
check "tells the backends" out_has '^backends: file.* memory'
expect 0 "--version" "$HOLDFAST" --version
expect 0 "version --json" "$HOLDFAST" version --json
check "as JSON" out_has '^{"version":"[0-9.]*",.*}$'
check "no lock was left behind" free a
finish
