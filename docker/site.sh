#!/bin/sh
# Builds the documentation as a static site, with the toolchain's docc:
#
#   docker/site.sh [FOLDER] [BASE]    FOLDER is .build/site; BASE is the path it is served below, such as /understudy
#
# To read it:  python3 -m http.server --directory .build/site    then open http://127.0.0.1:8000/documentation/understudy/
# Opened as files the pages stay empty: they fetch their content.
set -eu

[ $# -le 2 ] || { echo "usage: docker/site.sh [FOLDER] [BASE]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/.build/site}

docc=$(command -v docc || xcrun --find docc 2>/dev/null || true)
if [ -z "$docc" ] && swift=$(command -v swift); then
    # A toolchain whose swift is a link in PATH has docc beside what the link names.
    beside=$(dirname "$(readlink -f "$swift")")/docc
    [ ! -x "$beside" ] || docc=$beside
fi
[ -n "$docc" ] || { echo "site: there is no docc; it is part of the Swift toolchain, so put that in PATH." >&2; exit 1; }

mkdir -p "$(dirname "$folder")"
exec "$docc" convert "$root/Sources/Understudy/Understudy.docc" \
    --output-path "$folder" --hosting-base-path "${2:-/}" --fallback-display-name Understudy \
    --fallback-bundle-identifier understudy --transform-for-static-hosting --warnings-as-errors
