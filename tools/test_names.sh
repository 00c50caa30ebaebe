#!/bin/sh
# test_names.sh FOLDER...: "FOLDER/FILE.c: suite.name" for every test in these
# folders of test/, wherever below it the file is.  For the scripts that check
# which tests a page names.
set -u
cd "$(dirname "$0")/../test" || exit 1
for folder; do
    find "$folder" -name '*.c' | sort | while read -r path; do
        # The macro may span two lines.
        tr '\n' ' ' <"$path" |
            grep -oE 'TEST\([a-z_0-9]+, *[a-z_0-9]+\)' |
            sed "s|TEST(\\([a-z_0-9]*\\), *\\([a-z_0-9]*\\))|$folder/${path##*/}: \\1.\\2|"
    done
done
