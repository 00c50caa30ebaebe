#!/bin/sh
# tidy.sh: the rules that a machine can judge.  Prints file:line: rule for each
# breach and fails if there was one.  `tidy.sh --no-format` leaves out
# clang-format, `tidy.sh --quick` clang-tidy and abi.sh, which take
# minutes.
# shellcheck disable=SC2016 # the quoted programs are awk's
set -u
cd "$(dirname "$0")/.." || exit 1

breaches=$(mktemp) || exit 1
trap 'rm -f "$breaches" "$breaches.log"' EXIT

# Every file of the given kinds; build folders and the kept headers of the
# first release are not ours to judge.
files() {
    folder=$1
    shift
    for kind; do
        find "$folder" -name "*.$kind" ! -path "test/abi/v0/*" 2>/dev/null
    done | sort
}

c_files() {
    for folder in include src cli lab test bench examples; do
        files "$folder" c h cpp hpp
    done
}

# An awk program that sees C without its comments and strings: code(line).
strip='
function code(line,    out, c, d, i, n) {
    out = ""; n = length(line)
    for (i = 1; i <= n; i++) {
        c = substr(line, i, 1); d = substr(line, i, 2)
        if (in_comment) {
            if (d == "*/") { in_comment = 0; i++ }
        } else if (quote != "") {
            if (c == "\\") i++
            else if (c == quote) quote = ""
        } else if (d == "/*") { in_comment = 1; i++ }
        else if (d == "//") break
        else if (c == "\"" || c == "\047") { quote = c; out = out c }
        else out = out c
    }
    quote = ""
    return out
}
FNR == 1 { in_comment = 0; quote = "" }
function breach(rule) { print FILENAME ":" FNR ": " rule }
'

rule_text() {
    c_files | xargs awk '
        length($0) > 80 { print FILENAME ":" FNR ": longer than 80 columns" }
        /\t/ { print FILENAME ":" FNR ": a tab" }
        /[ \t]$/ { print FILENAME ":" FNR ": blanks at the end" }
        FNR == 1 && !/^\/\*/ {
            print FILENAME ":1: no comment on what the file is for"
        }'
    c_files | xargs grep -nE '(TODO|FIXME)' /dev/null |
        sed 's/^\([^:]*:[0-9]*\):.*/\1: unfinished (TODO or FIXME)/'
}

# The resolver's thread may outlive every client, and so its allocator.
rule_banned() {
    c_files | xargs awk "$strip"'
    {
        text = code($0)
        rest = text
        while (match(rest, /[A-Za-z_][A-Za-z0-9_]*[ ]*\(/)) {
            name = substr(rest, RSTART, RLENGTH - 1)
            before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : " "
            rest = substr(rest, RSTART + RLENGTH)
            sub(/ +$/, "", name)
            if (before == "." || before == ">") continue
            if (name ~ /^(sprintf|vsprintf|strcpy|strcat|atoi|atol|strtok|rand|srand|time|gettimeofday|sleep|usleep|gets)$/)
                breach(name "() is banned")
            if (name ~ /^(secure_)?getenv$/ && FILENAME ~ /^(src|cli)\// &&
                FILENAME !~ /^(src\/sys\/env|cli\/common\/environment)\.c$/)
                breach(name "() is banned: hf__env(), environment_get()")
            if (FILENAME !~ /^src\//) continue
            if (name ~ /^(malloc|calloc|realloc|free|strdup|strndup)$/ &&
                FILENAME !~ /^src\/(sys\/alloc|net\/resolve|backend\/mysql\/wire)\.c$/)
                breach(name "() is banned in the library: hf__alloc()")
            if (name == "clock_gettime" && FILENAME != "src/sys/clock.c")
                breach("only src/sys/clock.c reads a clock")
        }
    }'
}

# Pure folders ask the system for nothing.
rule_pure() {
    { files src/core c h; files src/kind c h; files src/rules c h; } | xargs awk "$strip"'
    { text = code($0) }
    /^[ ]*#[ ]*include[ ]*</ && text !~ /</ { next }
    # A sentence with a number in it is made by snprintf().
    FILENAME ~ /^src\/rules\// && /<stdio\.h>/ { next }
    /^[ ]*#[ ]*include[ ]*</ &&
    !/<(stdint|stddef|string|assert|stdbool|limits|inttypes)\.h>/ {
        breach("system include in a pure folder")
    }'
}

# The pure core states what must hold: docs/internals/core.md.
rule_asserts() {
    files src/core c | xargs awk '
    /assert\(/ { found++ }
    END {
        if (found * 50 < NR)
            print "src/core:1: fewer than 20 assertions in 1,000 lines"
    }'
}

rule_layers() {
    files src c h | xargs awk "$strip"'
    BEGIN {
        rank["base"] = 0; rank["sys"] = 1
        rank["core"] = 2; rank["kind"] = 2; rank["rules"] = 2
        rank["backend"] = 3; rank["net"] = 3
        rank["engine"] = 4; rank["api"] = 5
    }
    { code($0) }
    /^[ ]*#[ ]*include[ ]*"/ {
        split($0, part, "\"")
        n = split(part[2], path, "/")
        split(FILENAME, here, "/")
        if (part[2] ~ /^\.\./)
            breach("an include must not begin with ..")
        else if (n > 1 && path[1] in rank) {
            if (rank[path[1]] > rank[here[2]])
                breach("upward include: " here[2] " must not know " path[1])
            if (path[n] ~ /_parts\.h$/ && path[1] != here[2])
                breach("private header of " path[1] ": " part[2])
        } else if (n > 1 && path[1] != "holdfast")
            breach("include of no layer: " part[2])
    }'
    { files cli c h; files examples c h cpp; } | xargs awk "$strip"'
    { code($0) }
    /^[ ]*#[ ]*include[ ]*"/ {
        split($0, part, "\"")
        if (part[2] !~ /\// || part[2] ~ /^holdfast\//) next
        if (FILENAME ~ /^cli\/play\// && part[2] ~ /^lab\//) next
        own = FILENAME ~ /^cli\// ? "cli/" part[2] : ""
        if (own != "" && (getline line < own) >= 0)
            close(own)
        else
            breach("sees only include/holdfast: " part[2])
    }'
    files lab c h | xargs awk '
    /^[ ]*#[ ]*include[ ]*"/ && !/"lab\// {
        print FILENAME ":" FNR ": lab knows only itself"
    }'
}

# The command asks the library what a URL says (hf_url_traits(),
# hf_client_settings()) and what an error or a node is, not their words.
rule_cli() {
    files cli c h | xargs awk "$strip"'
    { text = code($0) }
    text ~ /str(n?(case)?cmp|str|chr|rchr|c?spn|pbrk)\([^,;]*[uU]rl/ {
        breach("reads a URL: hf_url_traits() or hf_client_settings()")
    }
    text ~ /strstr\([^,;]*text/ {
        breach("compares prose: ask for a status or an enum")
    }'
}

# Symbols: exported, listed and documented are the same set.
rule_symbols() {
    files include h | xargs awk '
    FNR == 1 { last = ""; wanted = 0 }
    wanted && match($0, /hf_[a-z0-9_]+\(/) {
        print FILENAME ":" line " " substr($0, RSTART, RLENGTH - 1) " " docs
        wanted = 0
    }
    /^HF_API/ {
        line = FNR
        docs = last ~ /\*\/$/ ? "documented" : "bare"
        if (match($0, /hf_[a-z0-9_]+\(/))
            print FILENAME ":" line " " substr($0, RSTART, RLENGTH - 1) " " docs
        else
            wanted = 1
    }
    { last = $0 }' | awk '
    FILENAME != "-" {
        if ($0 !~ /^#/ && NF) {
            listed[$1] = FILENAME ":" FNR
            if ($1 <= before) print FILENAME ":" FNR ": not in order: " $1
            before = $1
        }
        next
    }
    {
        if ($3 == "bare") print $1 ": exported but not documented: " $2
        if (!($2 in listed))
            print $1 ": not in api/holdfast.symbols: " $2
        seen[$2] = 1
    }
    END {
        for (name in listed)
            if (!(name in seen))
                print listed[name] ": declared in no public header: " name
    }' api/holdfast.symbols -
}

rule_lua() {
    files src lua | xargs awk '
    function done() {
        if (file != "" && step < 4)
            print file ":1: header must be: purpose, KEYS, ARGV, returns"
    }
    FNR == 1 {
        done()
        file = FILENAME; step = 0; open = 1
        name = file; sub(/.*\//, "", name)
        if (index($0, "-- " name ": ") == 1) step = 1
    }
    !/^--/ { open = 0 }
    open && step == 1 && /^-- KEYS/ { step = 2 }
    open && step == 2 && /^-- ARGV/ { step = 3 }
    open && step == 3 && /^-- returns/ { step = 4 }
    END { done() }' /dev/null
}

# The glossary: each word once, in order, with a file that exists.
rule_words() {
    LC_ALL=C awk -F ' *[|] *' '
    /^## / { exit }
    NF != 5 || $2 == "word" || $2 ~ /^-/ { next }
    {
        if ($2 in seen) print FILENAME ":" FNR ": a word twice: " $2
        else if ($2 < last) print FILENAME ":" FNR ": not in order: " $2
        seen[$2] = 1
        last = $2
        if ($3 == "") print FILENAME ":" FNR ": no meaning: " $2
        if ($4 !~ /^`[^`]+`$/) print FILENAME ":" FNR ": no file: " $2
    }' docs/internals/words.md
}

# hf__<noun>_ belongs to one layer: the noun tells where to look.
rule_prefixes() {
    files src c | xargs awk '
    /^[a-z].*[( *]hf__[a-z0-9]+_|^hf__[a-z0-9]+_/ && !/;$/ {
        match($0, /hf__[a-z0-9]+_[a-z0-9_]*\(/)
        if (RSTART == 0) next
        noun = substr($0, RSTART + 4, RLENGTH - 5)
        sub(/_.*/, "", noun)
        split(FILENAME, path, "/")
        layer = path[2] == "backend" ? path[2] "/" path[3] : path[2]
        if (!(noun in at)) at[noun] = layer
        if (at[noun] != layer)
            print FILENAME ":" FNR ": hf__" noun "_ is of src/" at[noun]
    }'
}

# Every path that the pages for contributors name in backquotes exists; a file
# that was moved is named as a proposal.
rule_paths() {
    awk '
    {
        rest = $0
        while (match(rest, /`(src|cli|lab|test|tools|include|docs|cmake|bench|api|examples)\/[A-Za-z0-9_.*\/-]*`/)) {
            print FILENAME ":" FNR, substr(rest, RSTART + 1, RLENGTH - 2)
            rest = substr(rest, RSTART + RLENGTH)
        }
    }' ARCHITECTURE.md CONTRIBUTING.md docs/internals/*.md |
        while read -r where path; do
            # shellcheck disable=SC2086 # a pattern of the page
            ls -d $path >/dev/null 2>&1 && continue
            moved=$(find "${path%%/*}" -name "${path##*/}" 2>/dev/null |
                head -n 1)
            echo "$where: no such file: $path${moved:+ (now $moved?)}"
        done
}

# Words that leave out their subject, or a value: CONTRIBUTING.md, "Plain
# English", says what to write instead.  `who` may follow a word for people, or
# begin "who holds" and "who leads".  What is in backquotes or italics is not
# read.  The brackets in the patterns keep them from being found themselves.
rule_plain() {
    {
        ls ./*.md
        files docs md
        files docs/man 1
        files include h hpp
        for folder in src cli bench tools test lab examples bindings; do
            files "$folder" c h cpp hpp lua md sh awk py
        done
    } | xargs awk '
    {
        text = tolower($0)
        gsub(/`[^`]*`|[*][a-z]+( [a-z]+)*[*]/, " ", text)
        gsub(/(people|person|users?|operators?|programmers?|anyone),? wh[o]/, "", text)
        gsub(/wh[o] (holds|leads)/, "", text)
        gsub(/[^a-z0-9_]+/, "  ", text)
        text = " " text " "
        while (match(text, / (h[e]|h[i]s|h[i]m|h[i]mself|wh[o]|wh[o]m|wh[o]ever) | s[o]  (many|long|much) /)) {
            word = substr(text, RSTART + 1, RLENGTH - 2)
            gsub(/  /, " ", word)
            print FILENAME ":" FNR ": not plain: \"" word "\""
            text = substr(text, RSTART + RLENGTH - 1)
        }
    }'
}

rule_format() {
    if ! command -v clang-format >/dev/null 2>&1; then
        echo 'tidy.sh:1: clang-format is not installed'
        return
    fi
    c_files | xargs clang-format --dry-run -Werror 2>&1 |
        sed -n 's/^\([^: ]*:[0-9]*\):[0-9]*: error: .*/\1: format/p' |
        awk '!seen[$0]++'
}

# What .clang-tidy asks for, in all of src/ and cli/.  One file per process:
# clang-tidy 14 finds uninitialised va_lists in the second file of several.
rule_analysis() {
    if ! command -v clang-tidy >/dev/null 2>&1; then
        echo 'tidy.sh:1: clang-tidy is not installed'
        return
    fi
    if ! { cmake -S . -B build-tidy -DHF_TESTS=OFF -DHF_WERROR=OFF &&
        cmake --build build-tidy --target redis-scripts &&
        { ! cmake --build build-tidy --target help | grep -q etcd-messages ||
            cmake --build build-tidy --target etcd-messages; }; } \
        >"$breaches.log" 2>&1
    then
        sed 's/^/tidy.sh:1: /' "$breaches.log"
        return
    fi
    { files src c; files cli c; } | sed "s|^|$PWD/|" | built |
        xargs -P "$(nproc)" -n 1 sh -c '
            clang-tidy -p build-tidy --quiet "$1" 2>/dev/null |
                sed -n "s|^$PWD/||;s/^\([^: ]*:[0-9]*\):[0-9]*: [a-z]*: /\1: /p" |
                grep "]$"' sh | awk '!seen[$0]++'
}

# Of these files, those that this system has the libraries for.
built() {
    while read -r path; do
        grep -qF "\"$path\"" build-tidy/compile_commands.json && echo "$path"
    done
}

# The command's tests are parts of one program: lib.sh and one topic.
rule_shell() {
    command -v shellcheck >/dev/null 2>&1 || return 0
    {
        { files tools sh; files bindings sh; files test/install sh; files test/abi sh; files bench sh; } |
            xargs shellcheck -S warning -f gcc dev .ci/run
        files test/cli sh |
            xargs shellcheck -s sh -S warning -f gcc -e SC2034,SC2154 /dev/null
    } 2>&1 | sed 's/^\([^:]*:[0-9]*\):[0-9]*: */\1: shellcheck: /'
}

# Each page of docs/ can be found from docs/README.md, by a link there or in the
# README of a folder that has one; and no link on our pages leads nowhere.
rule_pages() {
    find README.md docs examples bindings -name '*.md' | while read -r page; do
        sed -n 's/](/\n](/gp' "$page" | sed -n 's/^](\([^)#]*\.[a-z]*\).*/\1/p' |
            grep -v : | while read -r link; do
            [ -e "$(dirname "$page")/$link" ] || echo "$page:1: dead link: $link"
        done
        case $page in docs/*) ;; *) continue ;; esac
        index=$(dirname "$page")/README.md
        [ -e "$index" ] && [ "$page" != "$index" ] || index=docs/README.md
        [ "$page" = docs/README.md ] ||
            grep -qF "(${page#"$(dirname "$index")"/})" "$index" ||
            echo "$page:1: no link to it in $index"
    done
}

{
    rule_pages
    rule_text
    rule_banned
    rule_pure
    rule_asserts
    rule_layers
    rule_cli
    rule_symbols
    rule_lua
    rule_words
    rule_prefixes
    rule_paths
    rule_plain
    rule_shell
    [ "${1:-}" = --no-format ] || rule_format
    [ "${1:-}" = --quick ] || sh tools/abi.sh
    [ "${1:-}" = --quick ] || rule_analysis
} >"$breaches"

cat "$breaches"
count=$(wc -l <"$breaches")
echo "tidy: $((count)) breaches"
[ "$count" -eq 0 ]
