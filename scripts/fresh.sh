#!/usr/bin/env bash
# fresh.sh RELEASE [demo|test]: runs `make demo` and `make test` (or one of them) in a new, bare Debian of that release
# (bookworm, trixie), which has nothing but git and make, and prints how long each took. It needs root, Debian or Ubuntu,
# 6 GB in TMPDIR (/var/tmp), and leaves nothing there.
#
# fresh.sh RELEASE arm64: builds the image of scripts/arm64.sh in such a Debian, as root, and again as an ordinary user, who
# starts the emulated machine.
#
# fresh.sh RELEASE package: installs the .deb that `make dist` has left in dist/ in such a Debian, and runs gasm there.
#
# What is tested is a clone of this repository's last commit. What this machine needs to reach the registries is passed
# on: the proxy variables, Go's (GOPROXY …) and pip's, apt's proxy, the certificates in /usr/local/share/ca-certificates,
# /etc/pip.conf, root's settings of pip, npm and Maven. MIRROR is the Debian mirror; by default it is this machine's. CI=1 is
# passed on too: then a test that is skipped unexpectedly is a failure.
#
# The Debian is the root of a mount namespace of its own: its mounts (/proc, /sys, /dev) are seen nowhere else, and they
# are gone when its last process is.
set -euo pipefail

usage() {
  echo "usage: scripts/fresh.sh RELEASE [demo|test|arm64|package]" >&2
  exit 2
}

say() { echo "fresh: $*"; }

fail() {
  say "$*" >&2
  exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/apt.sh
. "$root/scripts/apt.sh"
variables=(http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY
  GOPROXY GONOPROXY GOSUMDB GONOSUMDB GOPRIVATE GOINSECURE
  PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST NODE_EXTRA_CA_CERTS NPM_CONFIG_REGISTRY MAVEN_OPTS MAVEN_ARGS CI)

# copy PATH...: copies those that are there to the same place in the Debian.
copy() {
  local path
  for path in "$@"; do
    [ -e "$path" ] || continue
    mkdir -p "$dir$(dirname "$path")"
    cp -RL "$path" "$dir$(dirname "$path")/"
  done
}

# kernel_file_system TYPE FOLDER: mounts it in the Debian where this machine has not, and the kernel knows it.
kernel_file_system() {
  mountpoint -q "$dir$2" || mount -t "$1" "$1" "$dir$2" 2>/dev/null || say "no $1 in $2: tests may be skipped"
}

# install_package: installs the package in the Debian, and has gasm say what works there. The doctor finds no JDK in a bare
# Debian, and ends with 1 for that; anything else is a failure.
install_package() {
  local doctor result=0
  env -i "$@" sh -c 'dpkg -i /srv/gasm.deb && gasm version && dpkg -L gasm' || return 1
  doctor=$(env -i "$@" gasm doctor) || result=$?
  echo "$doctor"
  [ "$result" = 0 ] || { [ "$result" = 1 ] && grep -q 'there is no JDK' <<<"$doctor"; } || return 1
  env -i "$@" dpkg -r gasm
}

# emulate ENVIRONMENT...: builds the image of the emulated machine as both users, and starts it.
emulate() {
  local command='scripts/setup.sh arm64 && scripts/arm64.sh image && useradd -m user && cp -r /srv/gasm /home/user/ && chown -R user: /home/user'
  env -i "$@" sh -c "cd /srv/gasm && $command" || return 1
  env -i "$@" HOME=/home/user setpriv --reuid user --regid user --init-groups sh -c 'cd ~/gasm && scripts/arm64.sh run gasm version'
}

# enter: makes the Debian the root of all that runs in the mount namespace, as a machine's own is. With chroot alone it is not a
# mount, and tests that make a namespace of their own see paths of this machine.
enter() {
  mkdir "$dir/.machine"
  cd "$dir"
  pivot_root . .machine
  cd /
  hash -r
  umount -l /.machine
  rmdir /.machine
}

# inside: makes the Debian and runs the commands in it. It is called in the mount namespace.
inside() {
  readlink /proc/self/ns/mnt >"$work/namespace"
  say "making a bare Debian $release of $(debian_mirror)"
  debootstrap --variant=minbase --include=git,make "$release" "$dir" "$(debian_mirror)" >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; fail "debootstrap failed"; }

  mount --bind "$dir" "$dir"
  mount -t proc proc "$dir/proc"
  mount --rbind /sys "$dir/sys"
  mount --rbind /dev "$dir/dev"
  kernel_file_system tracefs /sys/kernel/tracing # uprobes
  kernel_file_system debugfs /sys/kernel/debug   # DTrace
  kernel_file_system bpf /sys/fs/bpf             # DTrace

  copy /etc/resolv.conf /etc/hosts /usr/local/share/ca-certificates /etc/pip.conf \
    /root/.config/pip/pip.conf /root/.pip/pip.conf /root/.npmrc /root/.m2/settings.xml /root/.m2/settings-security.xml
  apt-config dump | grep -E '^Acquire::[a-z]+::Proxy' >"$dir/etc/apt/apt.conf.d/90proxy" || true
  git clone -q "$root" "$dir/srv/gasm" # where all users can run the JDKs in testdata
  case ${parts[*]} in *package*) cp "$root"/dist/gasm_*_"$(dpkg --print-architecture)".deb "$dir/srv/gasm.deb" ;; esac
  enter

  local name environment=(HOME=/root "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
  for name in "${variables[@]}"; do
    if [ -n "${!name:-}" ]; then environment+=("$name=${!name}"); fi
  done
  local part start took result failed=0 summary=()
  for part in "${parts[@]}"; do
    say "$part, in Debian $release"
    start=$SECONDS
    result=passed
    case $part in
    package) install_package "${environment[@]}" || result=FAILED ;;
    arm64) emulate "${environment[@]}" || result=FAILED ;;
    *)
      env -i "${environment[@]}" sh -c 'cd /srv/gasm && exec make "$1"' sh "$part" || result=FAILED
      ;;
    esac
    [ "$result" = passed ] || failed=1
    took=$((SECONDS - start))
    summary+=("$part $result in Debian $release after $((took / 60)) min $((took % 60)) s")
    say "${summary[-1]}"
  done
  [ ${#parts[@]} = 1 ] || for name in "${summary[@]}"; do say "$name"; done
  return "$failed"
}

# clean_up: ends what still runs in the Debian, and removes it. It is called outside of the mount namespace, where
# nothing is mounted in it; this is checked all the same, since rm would empty /dev.
clean_up() {
  trap '' INT TERM HUP
  local namespace process
  [ -z "$child" ] || kill -TERM -- "-$child" 2>/dev/null || true
  namespace=$(cat "$work/namespace" 2>/dev/null || true)
  if [ -n "$namespace" ]; then
    for process in /proc/[0-9]*; do
      if [ "$(readlink "$process/ns/mnt" 2>/dev/null)" = "$namespace" ]; then
        kill -KILL "${process#/proc/}" 2>/dev/null || true
      fi
    done
  fi
  if grep -qF " $work/" /proc/self/mountinfo; then
    say "something is mounted in $work: it is left there" >&2
    return
  fi
  rm -rf --one-file-system "$work"
}

[ $# -ge 1 ] && [ $# -le 2 ] || usage
release=$1
case ${2:-all} in
all) parts=(demo test) ;;
demo | test | arm64) parts=("$2") ;;
package)
  ls "$root"/dist/gasm_*.deb >/dev/null 2>&1 || fail "there is no package in dist/: make dist"
  parts=(package)
  ;;
*) usage ;;
esac

if [ -n "${FRESH_WORK:-}" ]; then # called by itself, in the mount namespace
  work=$FRESH_WORK
  dir=$work/debian
  inside
  exit
fi

[ "$(id -u)" = 0 ] || fail "making a Debian needs root: sudo scripts/fresh.sh $*"
if ! command -v debootstrap >/dev/null; then
  say "installing debootstrap"
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap; } >/dev/null ||
    fail "could not install debootstrap"
fi
if [ -n "$(git -C "$root" status --porcelain)" ]; then say "what is not committed is not tested"; fi

work=$(mktemp -d "${TMPDIR:-/var/tmp}/gasm-fresh.XXXXXX")
mkdir -m 755 "$work/debian"
child=
trap clean_up EXIT
trap 'exit 130' INT TERM HUP # and clean_up
set -m                       # the child is a process group of its own
FRESH_WORK=$work unshare --mount --propagation private "$0" "$@" </dev/null &
child=$!
wait "$child"
