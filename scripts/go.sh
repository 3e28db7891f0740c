#!/usr/bin/env bash
# go.sh ARGUMENTS...: runs go with these arguments, in a version that go.mod accepts: the go on PATH, or the one that
#                     `go.sh --install` has put into the user's cache.
# go.sh --install:    fetches that one, as a go command that is too old for go.mod would: the module
#                     golang.org/toolchain from the module proxy. It needs curl or wget, and unzip.
set -euo pipefail

version=1.26.8

# sum_of PLATFORM: the toolchain's checksum in Go's checksum database. For a new version take them from
#   https://sum.golang.org/lookup/golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64
# (or from the module proxy, which has the same under https://proxy.golang.org/sumdb/sum.golang.org/lookup/…).
sum_of() {
  case $1 in
  linux-amd64) echo "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=" ;;
  linux-arm64) echo "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=" ;;
  darwin-amd64) echo "h1:7/9KPPN8PckcA9s91hm2jmQMhzW4KyTJXHIs45L0C9M=" ;;
  darwin-arm64) echo "h1:dFjGhY6f8DTsY8/rLchUTDRRfjJP4pCrGCwxvHFT2Fg=" ;;
  *) fail "no Go is known for $1: install Go ${wanted} or newer from https://go.dev/dl/ and put it on PATH" ;;
  esac
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
wanted=$(sed -nE 's/^go ([0-9]+\.[0-9]+).*/\1/p' "$root/go.mod") # 1.26
cached=${XDG_CACHE_HOME:-$HOME/.cache}/gasm/go$version

fail() {
  echo "go.sh: $*" >&2
  exit 1
}

# accepted GO: whether this go command runs in this module. One of Go 1.21 to 1.25 may fetch a newer toolchain by itself
# when it is asked (see https://go.dev/doc/toolchain); an older one prints its own version, or fails.
accepted() {
  local has
  has=$(cd "$root" && "$1" env GOVERSION 2>/dev/null) || return 1 # go1.26.8
  has=$(sed -nE 's/^go1\.([0-9]+).*/\1/p' <<<"$has")
  [ "${has:-0}" -ge "${wanted#*.}" ]
}

download() { # download URL FILE
  if command -v curl >/dev/null; then curl -fsSL -o "$2" "$1"; else wget -q -O "$2" "$1"; fi
}

# proxies: the addresses in GOPROXY, one a line: "https://a,https://b|direct" has two. Without any it is Go's own proxy.
proxies() {
  [ "${GOPROXY:-}" != off ] || fail "Go $version is missing, and GOPROXY=off forbids to download it"
  tr ',|' '\n\n' <<<"${GOPROXY:-}" | grep :// || echo https://proxy.golang.org
}

sha256() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

# h1 FOLDER: the checksum of a module's files, as in go.sum: the SHA-256 of the list "SHA-256  name", sorted by name
# (golang.org/x/mod/sumdb/dirhash). FOLDER is what the module's zip was unpacked into.
h1() {
  local hex
  export -f sha256
  hex=$(cd "$1" && find . -type f -print | sed 's|^\./||' | LC_ALL=C sort | tr '\n' '\0' |
    xargs -0 bash -c 'sha256 "$@"' sha256 | sha256 | cut -d ' ' -f 1)
  # shellcheck disable=SC2059 # the format is the text: \x64\xe9…
  printf "$(sed 's/../\\x&/g' <<<"$hex")" | base64 | sed 's/^/h1:/'
}

install_go() {
  local platform module work proxy proxies sum
  platform=$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m | sed 's/^x86_64$/amd64/; s/^aarch64$/arm64/')
  sum=$(sum_of "$platform")
  module=golang.org/toolchain@v0.0.1-go$version.$platform
  mkdir -p "$(dirname "$cached")"
  work=$(mktemp -d "$cached.XXXXXX") # beside its place, so that moving it there is one step
  # shellcheck disable=SC2064 # work is local
  trap "rm -rf '$work'" EXIT
  proxies=$(proxies)
  for proxy in $proxies; do
    download "${proxy%/}/${module/@//@v/}.zip" "$work/zip" && break
    rm -f "$work/zip"
  done
  [ -s "$work/zip" ] || fail "Go $version could not be downloaded from ${proxies//$'\n'/ }"
  mkdir "$work/files"
  unzip -q "$work/zip" -d "$work/files"
  [ "$(h1 "$work/files")" = "$sum" ] ||
    fail "what was downloaded as $module has the checksum $(h1 "$work/files"); it should be $sum"

  # A module's zip has no executables, and no go.mod but its own: those are named _go.mod in it. The go command undoes
  # both in the same way (cmd/go/internal/toolchain/select.go).
  local files=$work/files/$module
  chmod +x "$files"/bin/* "$files"/pkg/tool/*/*
  find "$files/src" -name _go.mod -exec bash -c 'mv "$1" "${1%_go.mod}go.mod"' mv {} \;
  rm -rf "$cached"
  mv "$files" "$cached"
  accepted "$cached/bin/go" || fail "$cached/bin/go does not run, or is older than go.mod's $wanted"
}

if [ "${1:-}" = --install ]; then
  install_go
elif command -v go >/dev/null && accepted go; then
  exec go "$@"
elif [ -x "$cached/bin/go" ]; then
  exec "$cached/bin/go" "$@"
else
  fail "there is no Go $wanted or newer on PATH, nor in $cached: make setup fetches it"
fi
