#!/bin/sh
# Builds the documentation as a static site, with the toolchain's docc and Python 3:
#
#   docker/site.sh [FOLDER] [BASE]    FOLDER is .build/site; BASE is the path it is served below, such as /understudy
#
# Opened as a file, index.html lists and searches all pages; the pages themselves fetch their content, so they need a server.
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

command -v python3 >/dev/null || { echo "site: there is no python3, which makes the index and the search." >&2; exit 1; }

mkdir -p "$(dirname "$folder")"
"$docc" convert "$root/Sources/Understudy/Understudy.docc" \
    --output-path "$folder" --hosting-base-path "${2:-/}" --fallback-display-name Understudy \
    --fallback-bundle-identifier understudy --transform-for-static-hosting --warnings-as-errors
python3 "$root/docker/site/make.py" "$folder" "${2:-/}"
echo "To read it: python3 -m http.server --bind 127.0.0.1 --directory $folder    then open http://127.0.0.1:8000/"
