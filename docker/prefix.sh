#!/bin/sh
# Lays out what is installed below a prefix such as /usr or /usr/local; the image, the packages and the tarball share it.
#
#   docker/prefix.sh FOLDER            builds the release program first
#   docker/prefix.sh FOLDER PROGRAM    takes this one
#
# FOLDER then has bin/understudy (stripped), share/understudy/Fixtures, which the program looks for beside its own bin,
# share/man/man1, completions for bash, zsh and fish, and the licences of what is linked into the program. With
# SOURCE_DATE_EPOCH the manual pages bear that day; without it, today.
set -eu

[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: docker/prefix.sh FOLDER [PROGRAM]" >&2; exit 2; }
# The folder may not exist yet; the program must.
case $1 in /*) folder=$1 ;; *) folder=$PWD/$1 ;; esac
[ -z "${2-}" ] || { [ -x "$2" ] && [ -f "$2" ]; } || { echo "prefix: $2 is not a program." >&2; exit 1; }
program=${2:+$(realpath "$2")}
cd "$(dirname "$0")/.."

if [ -z "$program" ]; then
    options=$(grep -v '^#' docker/release-options)
    # The program must not depend on the folder in which it was built: assertions of C name their files.
    maps="-Xswiftc -file-prefix-map -Xswiftc $PWD=. -Xcc -ffile-prefix-map=$PWD=."
    # shellcheck disable=SC2086  # lists of words
    swift build $options $maps >&2
    # shellcheck disable=SC2086
    program=$(swift build $options $maps --show-bin-path)/understudy
fi

umask 022
share=$folder/share
mkdir -p "$folder/bin" "$share/understudy" "$share/doc/understudy/licenses" "$share/bash-completion/completions" \
    "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
# The toolchain's own tool: binutils' strip drops the entry that has relocated data protected (RELRO).
objcopy=$(dirname "$(realpath "$(command -v swift)")")/llvm-objcopy
[ -x "$objcopy" ] || objcopy=$(command -v llvm-objcopy) || {
    echo "prefix: there is no llvm-objcopy; it is part of the Swift toolchain, and of Debian's package llvm." >&2
    exit 1
}
# Hashes of modules and of debug information depend on the folder of the build, and nothing reads them when it runs.
hashes=$(objdump --section-headers "$program" | awk '$2 == ".swift_modhash" { print $3 }')
zeros=$(mktemp)
trap 'rm -f "$zeros"' EXIT
head -c "$((0x${hashes:-0}))" /dev/zero >"$zeros"
"$objcopy" --strip-all --remove-section .note.gnu.build-id ${hashes:+--update-section ".swift_modhash=$zeros"} \
    "$program" "$folder/bin/understudy"
chmod 755 "$folder/bin/understudy"

cp -R Fixtures "$share/understudy/"
rm "$share/understudy/Fixtures/FixtureResources.swift"
# Where understudy init looks for the clients of test suites.
mkdir "$share/understudy/Clients"
cp -R Sources/Clients/Python Sources/Clients/JavaScript Sources/Clients/Swift "$share/understudy/Clients/"
rm -rf "$share/understudy/Clients/Swift/.build" "$share/understudy/Clients/Swift/Package.resolved"
find "$share/understudy/Clients" -name __pycache__ -prune -exec rm -rf {} +

"$folder/bin/understudy" --generate-completion-script bash | sed '1{/^#!/d}' >"$share/bash-completion/completions/understudy"
"$folder/bin/understudy" --generate-completion-script zsh >"$share/zsh/site-functions/_understudy"
"$folder/bin/understudy" --generate-completion-script fish >"$share/fish/vendor_completions.d/understudy.fish"
docker/manual.sh "$folder/bin/understudy" "$share/man/man1"

cp LICENSE "$share/doc/understudy/LICENSE"
for checkout in .build/checkouts/*/; do
    cp "$checkout"LICENSE* "$share/doc/understudy/licenses/$(basename "$checkout").txt"
done
# Debian's, whose archive is linked; with Homebrew OpenSSL stays a library of its own.
openssl=/usr/share/doc/libssl-dev/copyright
[ ! -e "$openssl" ] || cp "$openssl" "$share/doc/understudy/licenses/openssl.txt"

# As a clone has them, whatever the umask was when cloning.
chmod -R u=rwX,go=rX "$folder"
