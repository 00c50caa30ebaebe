#!/bin/sh
# complete.sh: the completions, in the shells themselves: what is offered, what
# is not, and that no name of a lock is ever expanded.
. "$(dirname "$0")/lib.sh"

mkdir "$dir/bin" "$dir/here"
ln -s "$HOLDFAST" "$dir/bin/holdfast"
PATH=$dir/bin:$PATH
export PATH
for shell in bash zsh fish; do
    holdfast __complete $shell >"$dir/completion.$shell"
done
cd "$dir/here" || exit 1 # where there are no files to be offered
holdfast acquire --lease 1h job:nightly >/dev/null
holdfast acquire --lease 1h plain-lock >/dev/null
# A shell would expand these, take them apart, or take them for options.
for name in '{1..9999999}' 'pl{a,b}' 'pl$(touch x)' 'pl`touch x`' 'pl*' 'pl?' \
    'pl[a]' '~nobody-here' 'pl an' "pl'x" 'pl"x' 'pl;x' 'pl&x' 'pl|x' 'pl<x' 'pl>x' \
    'pl\x' 'pl!x' 'pl^x' 'pl#x' '=ls' '%self' '$HF_no' '-plain' 'pl=x' 'pl~'; do
    holdfast acquire --lease 1h -- "$name" >/dev/null
    printf '%s\n' "$name" >>"$dir/unsafe"
done
check "all of them are locks" test "$(holdfast list | wc -l)" -eq 29
expect 0 "the names" holdfast __complete names
check "only plain ones are offered" same "$(sort "$dir/out" | tr '\n' ' ')" \
    'job:nightly plain-lock '

# offers SHELL LINE: what is offered with the cursor at its end, sorted, with
# blanks between; a shell that hangs is ended.
offers() {
    offers_$1 "$2" 2>"$dir/err" | sort | tr '\n' ' '
}
# Bash itself splits the line into its words.
offers_bash() {
    line=$1 timeout 60 bash -c '
        . "$dir/completion.bash"
        COMP_LINE=$line COMP_POINT=${#line} COMP_WORDS=($line)
        [[ $line != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _holdfast
        [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"'
}
# Zsh completes on a terminal of its own, and tells what it would add.
offers_zsh() {
    line=$1 timeout 60 zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "PS1= PS2=; autoload -Uz compinit; compinit -u -d $dir/dump
            source $dir/completion.zsh
            compadd() {
                local -a added; builtin compadd -A added \"\$@\"
                (( \${#added} )) && print -rl -- \${added/#/OFFER:} >>$dir/offers
            }
            tell() { : >$dir/offers; zle complete-word; print -r -- end >>$dir/offers }
            zle -N tell; bindkey \"^X\" tell; zle_highlight=(none)"
        zpty -w shell "print -r -- ready >$dir/ready"
        while [[ ! -s $dir/ready ]] { sleep 0.05 }
        rm -f $dir/ready $dir/offers
        zpty -w -n shell "$line"$'"'\\030'"'
        until grep -qx end $dir/offers 2>/dev/null; do sleep 0.05; done
        zpty -d shell'
    sed -n 's/^OFFER://p' "$dir/offers" | sort -u
}
offers_fish() {
    line=$1 HOME=$dir timeout 60 fish --no-config -c '
        source "$dir/completion.fish"
        complete -C "$line"' | cut -f1
}

for shell in bash zsh fish; do
    [ -z "${CI:-}" ] || need_program $shell
    if ! command -v $shell >/dev/null; then
        echo "skipped: $shell is not installed: ./dev test installs it"
        continue
    fi
    check "$shell: a command" same "$(offers $shell 'holdfast acq')" 'acquire '
    check "$shell: an option" same "$(offers $shell 'holdfast run --max')" \
        '--max-hold '
    check "$shell: a name" same "$(offers $shell 'holdfast status p')" \
        'plain-lock '
    check "$shell: all names" same "$(offers $shell 'holdfast status ')" \
        'job:nightly plain-lock '
    want=job:nightly
    [ $shell != bash ] || want=nightly # behind the colon, at which bash breaks
    check "$shell: a name with a colon" same \
        "$(offers $shell 'holdfast status job:n')" "$want "
    # The shell may offer what it has of its own: users, variables.
    for word in '{' '{1..9999999}' '~' '=' '%' '$H' 'pl*' 'pl{'; do
        check "$shell: no name is offered, or expanded, for $word" same \
            "$(offers $shell "holdfast status $word" | tr ' ' '\n' |
                grep -c -x -F -e 99 -e 9999999 -f "$dir/unsafe")" 0
    done
    check "$shell: actions of latch" same "$(offers $shell 'holdfast latch ')" \
        'delete down set status wait '
    check "$shell: actions of stock" same "$(offers $shell 'holdfast stock ')" \
        'audit cancel close confirm create drain open pin reserve restock '
    check "$shell: actions of guard" same \
        "$(offers $shell 'holdfast guard file')" 'file file-token file-touch '
    check "$shell: what to do with a lost lock" same \
        "$(offers $shell 'holdfast run --on-lost ')" 'kill term warn '
    check "$shell: where to fall back" same \
        "$(offers $shell 'holdfast run --fallback ')" 'fail local wait '
    check "$shell: where to fall back, by its letter" same \
        "$(offers $shell 'holdfast run --fallback l')" 'local '
    want=--fallback=local
    [ $shell != bash ] || want=local
    check "$shell: with an equals sign" same \
        "$(offers $shell 'holdfast run --fallback=l')" "$want "
    check "$shell: a value is no name" same \
        "$(offers $shell 'holdfast run -w 5 pl')" 'plain-lock '
    for line in 'holdfast run plain-lock -- --' 'holdfast run a -- true --' \
        'holdfast barrier b 2 -- --' 'holdfast run a true --'; do
        check "$shell: no option of ours: $line" same \
            "$(offers $shell "$line" | grep -c -e --max-hold -e --url)" 0
    done
    check "$shell: words of others" same \
        "$(offers $shell 'holdfast run a -- acq' | grep -c acquire)" 0
    check "$shell: nothing was run" test ! -e x
done
finish
