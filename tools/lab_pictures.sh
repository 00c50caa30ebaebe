#!/bin/sh
# lab_pictures.sh: the drawings of docs/lab/, made from real runs: one for each
# scenario, and that of the README.
#
#     sh tools/lab_pictures.sh [NAME...]
#
# HOLDFAST is the command (build/holdfast).  On a busy machine the times in the
# drawings are those of a busy machine: let it be idle.
set -eu
cd "$(dirname "$0")/.."
HOLDFAST=${HOLDFAST:-build/holdfast}
HOLDFAST_MODULE_PATH=${HOLDFAST_MODULE_PATH:-$(dirname "$HOLDFAST")/module}
export HOLDFAST_MODULE_PATH
# shellcheck disable=SC2046 # a word for each name
[ $# -gt 0 ] || set -- $("$HOLDFAST" lab list -q)
for name; do
    echo "$name"
    "$HOLDFAST" lab run "$name" -q --svg "docs/lab/$name.svg"
    [ "$name" != pause ] || "$HOLDFAST" lab run pause -q --way holdfast \
        --svg docs/lab/pause-holdfast.svg
done
