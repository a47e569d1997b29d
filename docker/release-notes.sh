#!/bin/sh
# Writes the notes of a release, in Markdown as GitHub shows it: the part of CHANGELOG.md that is about the version.
#
#   docker/release-notes.sh 0.2.0              its heading is ## [0.2.0] - DAY; while it says Unreleased, there is no release
#   docker/release-notes.sh 0.2.0 CHANGELOG    of another file
set -eu

[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: docker/release-notes.sh VERSION [CHANGELOG]" >&2; exit 2; }
version=$1
changes=${2:-$(dirname "$0")/../CHANGELOG.md}

heading=$(grep -nF "## [$version] - " "$changes" | head -n 1)
if [ -z "$heading" ]; then
    echo "release-notes: $changes has no heading ## [$version] - DAY; it has: $(grep '^## ' "$changes" | tr '\n' ' ')" >&2
    exit 1
fi
# GitHub shows each line break, and the file breaks its lines for editors.
awk -v first="${heading%%:*}" '
    NR <= first { next }
    /^## / { exit }
    last != "" && !/^$/ && !/^#/ && !/^ *[-|]/ { sub(/^ +/, ""); printf " %s", $0; last = $0; next }
    { printf "%s%s", begun ? "\n" : "", $0; begun = 1; last = /^#/ ? "" : $0 }
    END { printf "\n" }' "$changes"
