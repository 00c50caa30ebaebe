#!/bin/sh
# man.sh: the man pages that are checked in are those the binary prints, and the
# completions are good shell.  man.sh -u writes the pages.
. "$(dirname "$0")/lib.sh"
pages=$tests/../../docs/man
commands='run once elect acquire renew release status list why break init
    install-schema doctor guard latch barrier stock stress lab help
    version'

# page FILE ARGUMENT...
page() {
    file=$1
    shift
    expect 0 "__man $*" "$HOLDFAST" __man "$@"
    if [ "${update:-no}" = yes ]; then cp "$dir/out" "$pages/$file"; fi
    check "$file is up to date (make it so with: man.sh -u)" \
        cmp -s "$dir/out" "$pages/$file"
}
[ "${1:-}" != -u ] || update=yes
page holdfast.1
for command in $commands; do page "holdfast-$command.1" $command; done
for section in NAME SYNOPSIS DESCRIPTION OPTIONS ENVIRONMENT 'EXIT STATUS'; do
    check "holdfast-run.1 has $section" grep -q "^.SH $section\$" \
        "$pages/holdfast-run.1"
done
if command -v man >/dev/null && command -v groff >/dev/null; then
    for file in "$pages"/*.1; do
        check "$file has no warning" test -z \
            "$(groff -man -Tutf8 -ww -z "$file" 2>&1)"
    done
fi

for shell in bash zsh fish; do
    expect 0 "completions for $shell" "$HOLDFAST" __complete $shell
    cp "$dir/out" "$dir/completion.$shell"
    if command -v $shell >/dev/null; then
        check "$shell: can be read" $shell -n "$dir/completion.$shell"
    fi
done
expect 64 "no such shell" "$HOLDFAST" __complete wibble
"$HOLDFAST" acquire some-lock >/dev/null
expect 0 "names of locks" "$HOLDFAST" __complete names
check "are told" file_is "$dir/out" some-lock
finish
