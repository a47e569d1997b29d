#!/bin/sh
# Writes the manual pages of a built understudy, one a command, with the argument parser's own tool:
#
#   docker/manual.sh .build/debug/understudy FOLDER    then: man -l FOLDER/understudy.1, man -l FOLDER/understudy.journal.1
#
# The tool is part of the package swift-argument-parser, which the build has fetched already; nothing else is.
set -eu

[ $# -eq 2 ] || { echo "usage: docker/manual.sh PROGRAM FOLDER" >&2; exit 2; }
program=$1
folder=$2
cd "$(dirname "$0")/.." && root=$PWD && cd "$OLDPWD"
parser=$root/.build/checkouts/swift-argument-parser
[ -d "$parser" ] || { echo "manual: $parser is missing; run swift package resolve first." >&2; exit 1; }

# In a folder of its own: as part of Understudy's package the tool has no product that could be built.
swift build --package-path "$parser" --scratch-path "$root/.build/manual" --product generate-manual >&2
mkdir -p "$folder"
set -- "$program" --multi-page --output-directory "$folder"
# A page bears a day; packages that are made again must be the same.
[ -z "${SOURCE_DATE_EPOCH-}" ] || set -- "$@" --date "$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%d)"
"$root/.build/manual/debug/generate-manual" "$@"

# The tool takes texts as they are. Paragraphs, examples and sentences begin as mdoc(7) wants them.
for page in "$folder"/understudy*.1; do
    awk '
        /^$/ { print ".Pp"; next }
        /^Example: / && last ~ /^(Example: |  )/ { print ".br" }
        { last = $0 }
        !/^\./ { gsub(/[.] +/, ".\n") }
        { print }' "$page" >"$page.new"
    mv "$page.new" "$page"
done
