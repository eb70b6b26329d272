# Shared by the scripts in this folder: sourced first, it enters the project's root folder.
# shellcheck shell=bash
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

minimum_swift=6.2

say() { printf '==> %s\n' "$*"; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# package: what it is needed for
# shellcheck disable=SC2034  # used by the scripts that source this
build_packages=(
    "libcurl4-openssl-dev: asks HTTP servers for URLs"
    "libmicrohttpd-dev: the HTTP server"
    "libmnl-dev: news of the network from the kernel"
    "libsqlite3-dev: the durable store"
    "libssl-dev: TLS to wss:// upstreams"
    "libuv1-dev: the event loop"
    "libyaml-dev: the configuration file"
    "zlib1g-dev: compressed WebSocket messages"
    "pkg-config: finds these libraries"
)
# shellcheck disable=SC2034
test_packages=(
    "ca-certificates: the roots that TLS tests must not trust by accident"
    "caddy: a web server in front of the bridge"
    "chromium: opens the page for its tests"
    "curl: the client that the end-to-end tests use"
    "dante-server: a SOCKS proxy for the proxy tests"
    "fish: a shell for which there are completions"
    "haproxy: another web server in front of the bridge"
    "iproute2: makes networks for the tests to break"
    "jq: takes JSON apart in the recipes"
    "mandoc: lints the manual page"
    "microsocks: another SOCKS proxy"
    "nginx: a third web server in front of the bridge"
    "openssl: makes certificates for the TLS tests"
    "prometheus: reads the metrics, and judges them and the alerts"
    "python3: runs the end-to-end tests and their upstream"
    "python3-venv: keeps their packages inside this folder"
    "shellcheck: lints the scripts"
    "squid: an HTTP proxy for the proxy tests"
    "strace: counts system calls"
    "systemd: checks the units in config"
    "tinyproxy-bin: another HTTP proxy"
    "zsh: another shell for which there are completions"
)

# Runs a command as root.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Runs apt-get as root; quietly, unless it fails. Asks nothing, so it needs no terminal.
apt_get() {
    local output
    output=$(as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" \
        2>&1 </dev/null) || fail "apt-get $* failed:
$output"
}

is_installed() {
    local states
    states=$(dpkg-query -W -f ' ${db:Status-Status} ' "$1" 2>/dev/null) && [[ $states == *" installed "* ]]
}

# Installs those of the given "package: reason" lines that are not there.
need_packages() {
    local line missing=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "not a Debian system: these packages, or your system's own, must be there:"
        printf '      %s\n' "$@"
        return
    fi
    for line in "$@"; do
        is_installed "${line%%:*}" && continue
        [ ${#missing[@]} -gt 0 ] || say "installing with apt what is missing:"
        printf '      %s\n' "$line"
        missing+=("${line%%:*}")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
        fail "that needs root, and there is no sudo. As root, run: apt-get update && apt-get install ${missing[*]}"
    apt_get update
    without_services apt_get install --yes --no-install-recommends "${missing[@]}"
}

# Runs a command that installs packages; services among them are not started, their programs are what is wanted.
without_services() (
    policy=/usr/sbin/policy-rc.d
    # Where the system says so itself, as in most containers, it is there already.
    if [ ! -e $policy ]; then
        trap 'as_root rm -f $policy' EXIT
        printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null
        as_root chmod +x $policy
    fi
    "$@"
)

# Fails with advice unless a Swift toolchain that is new enough is on PATH.
need_swift() {
    local advice="Swift $minimum_swift or newer is needed.
  Install it as https://www.swift.org/install/linux/ says (there is a build for Debian 12);
  if it is installed already, add the toolchain's usr/bin folder to PATH. Then run this again."
    command -v swift >/dev/null || fail "no Swift toolchain on PATH. $advice"
    local text version
    text=$(swift --version 2>&1) || fail "'swift --version' fails: $text
$advice"
    version=$(sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' <<<"$text" | head -n 1)
    [ "$(printf '%s\n' "$minimum_swift" "${version:-0}" | sort -V | head -n 1)" = "$minimum_swift" ] ||
        fail "this is Swift ${version:-of an unknown version} ($(command -v swift)). $advice"
}

# Prepares .venv with exactly Tests/requirements.txt.
need_venv() { need_python Tests/requirements.txt .venv; }

# need_python REQUIREMENTS VENV: prepares a virtual environment with exactly these; quick if it is that already.
need_python() {
    local wanted=$1 venv=$2 python
    cmp -s "$wanted" "$venv/installed.txt" && "$venv/bin/python" -c '' 2>/dev/null && return
    for python in python3 /usr/bin/python3 ""; do
        "${python:-false}" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break
    done
    [ -n "$python" ] || fail "Python 3.11 or newer with its venv module is needed"
    say "installing $wanted into $venv"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -r "$wanted"
    cp "$wanted" "$venv/installed.txt"
}
