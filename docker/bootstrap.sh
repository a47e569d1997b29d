#!/bin/sh
# Installs the system packages that Understudy needs; developers, CI and the container image share this list.
#
#   docker/bootstrap.sh run         to build and start it
#   docker/bootstrap.sh test        also to run its tests in Swift
#   docker/bootstrap.sh ci          also for all that .ci/run does: other people's clients, proxies, a browser
#   docker/bootstrap.sh bench       also to measure it beside nginx
#   docker/bootstrap.sh package     also to make packages of it (Debian and Ubuntu)
#   docker/bootstrap.sh container   also to run those packages (Debian and Ubuntu)
#
# Supports Debian and Ubuntu (as root or with sudo) and macOS with Homebrew. Installed packages are left alone; if none
# is missing, no package index is fetched. Swift is only checked for, not installed; its prerequisites come with it.
set -eu

swift_major=6
swift_minor=1

usage() {
    echo "usage: docker/bootstrap.sh run | test | ci | bench | package | container" >&2
    exit 2
}

fail() {
    printf 'bootstrap: %s\n' "$@" >&2
    exit 1
}

# The list for Debian and Ubuntu.
debian_packages() {
    echo "ca-certificates git libsqlite3-dev libssl-dev pkg-config"
    case $1 in test | ci | bench) echo "curl libpq5 openssl postgresql" ;; esac
    case $1 in ci | container) debian_npm ;; esac
    case $1 in ci | bench) echo "python3 python3-venv nginx haproxy apache2-bin apache2-utils wrk" ;; esac
    case $1 in ci) echo "zsh fish man-db mandoc nodejs node-typescript"; debian_jvm; debian_browser ;; esac
    # libpq5 goes into the image.
    case $1 in package | container) echo "binutils dpkg-dev file jq libpq5 python3 xz-utils" ;; esac
    case $1 in container) echo "buildah curl debootstrap iproute2 lintian nodejs openssl procps python3-venv systemd" ;; esac
}

# What the examples for Kotlin and Java are compiled and run with.
debian_jvm() {
    echo "default-jdk-headless kotlin libokhttp-java libandroid-json-java junit5"
}

# The headless browser, which needs half a desktop less than the full one. Ubuntu's is a snap, which no container can
# install: there, as on macOS, developers install Chromium or Chrome themselves, and the tests say so if it is missing.
debian_browser() {
    for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
        ! command -v "$name" >/dev/null || return 0
    done
    grep -q '^ID=ubuntu' /etc/os-release 2>/dev/null || echo chromium-headless-shell
}

# Node from elsewhere brings npm along, and Debian's does not go beside it.
debian_npm() {
    command -v npm >/dev/null || echo npm
}

# The list for Homebrew; git and curl come with Xcode's command line tools, Apache, zsh and man with macOS.
homebrew_packages() {
    echo "openssl@3 pkgconf"
    case $1 in test | ci | bench) echo "libpq postgresql@17" ;; esac
    case $1 in ci | bench) echo "python@3 nginx haproxy wrk" ;; esac
    case $1 in ci) echo "fish node typescript" ;; esac
}

missing_on_debian() {
    for package in $(debian_packages "$1"); do
        # dpkg still lists packages that were removed but not purged.
        dpkg -s "$package" 2>/dev/null | grep -q '^Status: .* installed$' || echo "$package"
    done
}

missing_on_homebrew() {
    for package in $(homebrew_packages "$1"); do
        brew list --formula "$package" >/dev/null 2>&1 || echo "$package"
    done
}

install_on_debian() {
    missing=$(missing_on_debian "$1" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail \
            "these packages are missing: $missing" \
            "you are not root and there is no sudo; ask an administrator for: apt-get install $missing"
        as_root=sudo
    fi
    echo "bootstrap: installing $missing"
    # An old index often suffices, but a fresh container has none.
    $as_root apt-get update -qq
    # shellcheck disable=SC2086  # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
}

install_on_homebrew() {
    command -v brew >/dev/null || fail "Homebrew is missing; see https://brew.sh, then run this again."
    missing=$(missing_on_homebrew "$1" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    echo "bootstrap: installing $missing"
    # shellcheck disable=SC2086  # a list of words
    brew install --quiet $missing
}

install_packages() {
    if [ "$(uname -s)" = Darwin ]; then
        case $1 in package | container) fail \
            "packages are made with Debian's tools, and this is macOS." \
            "Use Debian or Ubuntu, in a container for example; on macOS see docker/understudy.rb." ;; esac
        install_on_homebrew "$1"
    elif command -v dpkg >/dev/null && command -v apt-get >/dev/null; then
        install_on_debian "$1"
    else
        fail "this is neither Debian, Ubuntu nor macOS." \
            "Install what your system calls: $(debian_packages "$1" | tr '\n' ' ')"
    fi
}

require_swift() {
    wanted="Swift $swift_major.$swift_minor or newer"
    where="Install it from https://www.swift.org/install (macOS: Xcode), make sure that swift is in PATH, run this again."
    command -v swift >/dev/null || fail "$wanted is missing: there is no command swift in PATH." "$where"
    answer=$(swift --version 2>&1) || fail "swift --version fails: $answer" "$where"
    version=$(printf '%s\n' "$answer" | sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1)
    [ -n "$version" ] || fail "swift --version names no version: $answer" "$where"
    major=${version%%.*}
    minor=${version#*.}
    if [ "$major" -lt $swift_major ] || { [ "$major" -eq $swift_major ] && [ "$minor" -lt $swift_minor ]; }; then
        fail "$wanted is needed; $(command -v swift) is $version." "$where"
    fi
}

[ $# -eq 1 ] || usage
# What the packages are for, and how long what comes next takes on two quiet cores.
case $1 in
run) purpose="to build and start it" next="the first build takes about 3 minutes" ;;
test) purpose="to build it and run its tests in Swift" next="the first build takes about 5 minutes, the tests another 4" ;;
ci) purpose="to run all that CI does" next=".ci/run takes about 20 minutes" ;;
bench) purpose="to measure it beside nginx" next="the first release build takes about 5 minutes" ;;
package) purpose="to make packages of it" next="the first takes about 6 minutes" ;;
container) purpose="to make packages of it and run them" next="the first takes about 6 minutes" ;;
*) usage ;;
esac
install_packages "$1"
require_swift
echo "bootstrap: what it takes $purpose is installed; $next"
