#!/bin/sh
# run.sh - what ctest calls: "install" makes node_modules agree with package-lock.json, "test"
# runs the *.test.mjs that are named after it, or every one, "demo" runs the demo that is named after it, or lists them and runs one,
# "gate" asks whether the sample server may be released and keeps the evidence in a folder, "record"
# draws docs/demo-consent.svg anew, "pages" does what pages of the documentation say, "conformance"
# fetches the official conformance suites with the newer Node.js they need, and runs them. Exit code 77
# means skipped, and is only given when there is no node, npm or, for demos, curl on this machine, or,
# by "conformance", when the suites cannot be had; a registry that cannot be reached is a failure
# otherwise.
set -eu
cd "$(dirname "$0")"

for program in node npm; do
    if ! command -v "$program" >/dev/null 2>&1; then
        echo "SKIPPED: '$program' is not installed, so NO end-to-end test runs." >&2
        echo "         Debian: apt-get install nodejs npm (Node 18.19 or newer)." >&2
        exit 77
    fi
done

stamp=node_modules/.package-lock-installed.json

install() {
    if cmp -s package-lock.json "$stamp"; then
        echo "node_modules is up to date"
        return
    fi
    echo "npm ci: fetching the packages named in tests/e2e/package-lock.json ..."
    if ! npm ci --prefer-offline --no-audit --no-fund; then
        echo "FAILED: npm ci could not install the packages the end-to-end tests need." >&2
        echo "        Is the npm registry reachable? 'npm config get registry' names it." >&2
        echo "        An offline machine can bring a filled npm cache: npm ci --offline" >&2
        exit 1
    fi
    cp package-lock.json "$stamp"
}

# The suites are a matter of their own: what is missing there makes conformance.mjs skip, loudly.
suite() {
    if cmp -s suite/package-lock.json suite/node_modules/.package-lock-installed.json; then
        return
    fi
    echo "npm ci: fetching the official conformance suites and Node.js 22 ..."
    if (cd suite && npm ci --prefer-offline --no-audit --no-fund); then
        cp suite/package-lock.json suite/node_modules/.package-lock-installed.json
    fi
}

# Runs a command with a loopback that nobody else listens on, where the machine allows that. The words
# in single quotes are for perl and for another shell.
# shellcheck disable=SC2016,SC2086
own_loopback() {
    user=
    [ "$(id -u)" -eq 0 ] || user=--map-root-user
    up='my $lo = pack("Z16 s x22", "lo", 0x41); socket(my $s, 2, 2, 0); ioctl($s, 0x8914, $lo) or die $!'
    if unshare $user --net perl -e "$up" 2>/dev/null; then
        exec unshare $user --net sh -c 'perl -e "$0" && exec "$@"' "$up" "$@"
    fi
    exec "$@"
}

case "${1:-}" in
install) install ;;
test)
    install
    shift
    [ $# -gt 0 ] || set -- ./*.test.mjs
    exec node --test --test-reporter=spec "$@"
    ;;
demo)
    if ! command -v curl >/dev/null 2>&1; then
        echo "SKIPPED: 'curl' is not installed, so NO demo runs (apt-get install curl)." >&2
        exit 77
    fi
    ./quietly 'fetching packages' ./run.sh install
    shift
    exec node demo.mjs "$@"
    ;;
gate)
    exec node gate.mjs "$2"
    ;;
example)
    install
    exec node examples.mjs "${2:-}"
    ;;
pages)
    install
    shift
    own_loopback node pages.mjs "$@"
    ;;
record)
    install
    exec node record.mjs
    ;;
secrets)
    shift
    cd ../secrets
    exec node "$@"
    ;;
conformance)
    install
    suite
    exec node conformance.mjs
    ;;
*)
    echo "usage: $0 install|test [FILE...]|demo [NUMBER]|gate FOLDER|record|conformance|example NAME|pages PAGE...|secrets PROGRAM FOLDER" >&2
    exit 2
    ;;
esac
