#!/usr/bin/env bash
# arm64.sh: runs gasm on aarch64, on a machine that is none: in a whole machine that QEMU emulates, with Debian's kernel and
# JDKs. The emulated machine takes samples, has uprobes and BPF, and two models of processor: neoverse-n1 has neither signed
# return addresses (PAC) nor SVE, and max has all there is.
#
# arm64.sh image: builds the image of the machine's disk, unless there is one with the newest packages. It is kept in the
#     user's cache (1.5 GB), with the packages.
# arm64.sh run [--cpu neoverse-n1|max] [--add PATH]... [--out FOLDER] [--limit SECONDS] COMMAND...: runs a command in the
#     machine, shows what it prints, and ends with its exit code. gasm is on its PATH, built of this source. Its folder,
#     /job, has a copy of each file or folder that is added. What it leaves in /job/out is copied to the FOLDER. The machine
#     is lost after that, and it is ended after the SECONDS (600); then the exit code is 124.
#
# arm64.sh test [FEATURE,...]: tries gasm's features (internal/features), or some of them, with all JDKs of the image, on
#     both models of processor, and prints a table for each. It takes 5 to 15 minutes for a JDK. Variables: CPUS, the models;
#     OPTIONS, options for the JVMs.
#
# arm64.sh gotest [--cpu neoverse-n1|max] [--limit SECONDS] PACKAGE [ARGUMENT]...: runs the tests of a package, such as
#     ./hotspot/nmethod, in the machine: of what is committed, with such arguments as -test.run TestCopy. Some of them need
#     more time than they have there.
#
# It needs Debian's apt and what `scripts/setup.sh arm64` installs, and no root. It never uses the network of the machine's
# owner from inside: the emulated machine has none. Variables: JDKS, the releases of Java in the image (17 21 25; others are
# taken from Debian unstable); KERNEL, the flavour of Debian's kernel (cloud-arm64; arm64-16k has pages of 16 kB).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/apt.sh
. "$root/scripts/apt.sh"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gasm/arm64
jdks=${JDKS:-17 21 25}
kernel=${KERNEL:-cloud-arm64}
work=
qemu=

say() { echo "arm64: $*" >&2; }

fail() {
  say "$*"
  exit 125
}

usage() {
  sed -n '/^# arm64.sh image/,/^set/s/^#  *//p' "$0" >&2
  exit 2
}

clean_up() {
  [ -z "$qemu" ] || kill "$qemu" 2>/dev/null || true
  [ -z "$work" ] || rm -rf "$work"
}

need() {
  local command
  for command in qemu-system-aarch64 mke2fs debugfs cpio xz; do
    command -v "$command" >/dev/null || fail "there is no $command: scripts/setup.sh arm64 installs it"
  done
}

# packages: prints the packages of the image. One of the JDKs is whole, since tests compile programs.
packages() {
  local jdk
  echo "linux-image-$kernel" busybox-static bash coreutils libc-bin libstdc++6
  for jdk in $jdks; do echo "openjdk-$jdk-jre-headless"; done
  echo "openjdk-$(tr ' ' '\n' <<<"$jdks" | sort -n | tail -n 1)-jdk-headless"
}

# releases: prints the releases of Debian that have the JDKs. Only the libraries of unstable suit its own JDKs.
releases() {
  case " $jdks " in
  *" 8 "* | *" 11 "* | *" 26 "* | *" 27 "* | *" 28 "*) echo sid ;;
  *) echo trixie bookworm ;;
  esac
}

# unpack_root FOLDER DEB...: unpacks packages, without what no test needs.
unpack_root() {
  local folder=$1 deb applet
  shift
  mkdir -p "$folder"/usr/{bin,sbin,lib} "$folder"/{dev,proc,sys,run,tmp,root,job,etc,var/tmp}
  chmod 1777 "$folder/tmp" "$folder/var/tmp"
  for applet in bin sbin lib; do ln -s "usr/$applet" "$folder/$applet"; done
  for deb; do
    case ${deb##*/} in
    linux-image-* | initramfs-* | dracut-* | systemd_* | udev_* | libsystemd-shared_* | openssl_* | libnss3_* | fonts-*) ;;
    *)
      dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$folder" --no-same-owner --keep-directory-symlink \
        --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale' --exclude='*/jmods'
      ;;
    esac
  done
  # What coreutils and bash do not have.
  for applet in mount umount ifconfig hostname tar gzip ps pgrep pkill sed grep find xargs awk vi less nc poweroff sysctl \
    mountpoint dmesg setsid tee kill strings free uptime top id su; do
    [ -e "$folder/usr/bin/$applet" ] || [ -e "$folder/usr/sbin/$applet" ] || ln -s busybox "$folder/usr/bin/$applet"
  done
  [ -e "$folder/usr/bin/sh" ] || ln -s bash "$folder/usr/bin/sh"
  printf '%s\n' root:x:0:0:root:/root:/bin/bash nobody:x:65534:65534:nobody:/:/bin/sh >"$folder/etc/passwd"
  printf '%s\n' root:x:0: nogroup:x:65534: >"$folder/etc/group"
  echo '127.0.0.1 localhost arm64' >"$folder/etc/hosts"
}

# link_jdks FOLDER: the newest JDK's java is the one on the PATH, and its javac compiles for the JREs too.
link_jdks() {
  local folder=$1 newest home
  newest=$(cd "$folder/usr/lib/jvm" && ls -d java-*-openjdk-arm64 | sort -V | tail -n 1)
  for home in "$folder"/usr/lib/jvm/java-*-openjdk-arm64; do
    [ -e "$home/bin/javac" ] || ln -s "../../$newest/bin/javac" "$home/bin/javac"
  done
  ln -s "../lib/jvm/$newest/bin/java" "$folder/usr/bin/java"
  ln -s "../lib/jvm/$newest/bin/javac" "$folder/usr/bin/javac"
}

# initramfs KERNEL_FOLDER FILE: makes what the kernel starts with: it loads the driver of the disks, and mounts them.
initramfs() {
  local folder=$work/initramfs module
  mkdir -p "$folder"/{bin,dev,proc,root}
  cp "$work/root/usr/bin/busybox" "$folder/bin/"
  ln -s busybox "$folder/bin/sh"
  module=$(find "$1/" -name 'virtio_blk.ko*')
  case $module in
  *.xz) xz -dc "$module" >"$folder/virtio_blk.ko" ;;
  *.ko) cp "$module" "$folder/" ;;
  *) fail "the kernel has no virtio_blk: $module" ;;
  esac
  cp "$root/scripts/arm64/initramfs" "$folder/init"
  (cd "$folder" && find . | cpio -o -H newc --quiet) | gzip -9 >"$2"
}

# as_root COMMAND...: runs it as root of a user namespace of its own, where that is allowed, so that files belong to root.
as_root() {
  if [ "$(id -u)" != 0 ] && unshare --map-root-user true 2>/dev/null; then unshare --map-root-user "$@"; else "$@"; fi
}

# file_system FOLDER FILE SPARE_MB: makes a file system of what is in the folder, with so much room left.
file_system() {
  local size
  size=$(du -sm "$1" | cut -f 1)
  as_root mke2fs -q -F -t ext4 -O ^has_journal -m 0 -N 65536 -d "$1" "$2" "$((size + size / 10 + $3))M" >/dev/null
}

# image: builds the image, or finds it, and prints its folder.
image() {
  local list key folder debs new name
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9 # one at a time; it is held until this ends
  say "looking for the newest packages of $(releases)"
  # shellcheck disable=SC2046 # several words
  apt_setup "$cache/apt" arm64 $(releases) >&2 || fail "could not get the lists of packages"
  # shellcheck disable=SC2046
  list=$(apt_own get install --simulate $(packages)) || fail "could not find the packages"
  # Inst mount (2.41.5-0+deb13u1 Debian:13.2/stable [arm64])
  list=$(sed -nE 's/^Inst ([^ ]+) \(([^ ]+) .*\[(arm64|all)\].*/\1_\2_\3.deb/p' <<<"$list" | sed 's/:/%3a/g' | sort)
  key=$({ echo "$list"; cat "$root/scripts/arm64.sh" "$root/scripts/arm64/initramfs"; } | sha256sum | cut -c 1-16)
  folder=$cache/image-$(flavour)/$key
  if [ -e "$folder/root.img" ]; then
    touch "$folder"
    exec 9>&-
    echo "$folder"
    return
  fi

  say "downloading $(wc -l <<<"$list") packages, unless they are there"
  # shellcheck disable=SC2046
  apt_own get install -y --download-only $(packages) >&2 || fail "could not download the packages"
  say "building the image"
  debs=()
  while read -r name; do debs+=("$cache/apt/cache/archives/$name"); done <<<"$list"
  unpack_root "$work/root" "${debs[@]}"
  link_jdks "$work/root"
  mkdir "$work/kernel" "$work/new"
  for name in "${debs[@]}"; do
    case ${name##*/} in linux-image-[0-9]*) dpkg-deb -x "$name" "$work/kernel" ;; esac
  done
  cp "$work"/kernel/boot/vmlinuz-* "$work/new/vmlinuz"
  initramfs "$work/kernel" "$work/new/initrd.gz"
  file_system "$work/root" "$work/new/root.img" 300
  new=$cache/image-$(flavour)
  rm -rf "$new" # of older packages
  mkdir -p "$new"
  cp -r --sparse=always "$work/new" "$new/.$key"
  mv "$new/.$key" "$folder"
  rm -rf "$work/root" "$work/kernel" "$work/new"
  find "$cache/apt/cache/archives" -name '*.deb' -mtime +30 -delete
  exec 9>&-
  echo "$folder"
}

# flavour: a name for the JDKs and the kernel of an image.
flavour() { echo "$kernel-${jdks// /-}"; }

# some_image: prints the folder of the image that is there, or of a new one.
some_image() {
  local folder
  for folder in "$cache/image-$(flavour)"/*/; do
    if [ -e "$folder/root.img" ]; then
      echo "${folder%/}"
      return
    fi
  done
  image
}

# run: see above. It returns the exit code.
run() {
  local cpu=neoverse-n1 out='' limit=600 image job=$work/job result=0 model
  rm -rf "$job" "$work/result" "$work/exit"
  mkdir -p "$job/out" "$job/bin" "$work/result"
  while [ $# -gt 0 ]; do
    case $1 in
    --cpu) cpu=$2 ;;
    --add) cp -rL "$2" "$job/" || fail "could not add $2" ;;
    --out) out=$2 ;;
    --limit) limit=$2 ;;
    --) shift; break ;;
    -*) usage ;;
    *) break ;;
    esac
    shift 2
  done
  [ $# -gt 0 ] || usage
  case $cpu in
  neoverse-n1) model=$cpu ;;
  max) model=max,pauth-impdef=on ;; # without it the kernel's own signatures take most of the time
  *) usage ;;
  esac
  image=$(some_image)
  [ -n "$image" ] || exit 125
  (cd "$root" && CGO_ENABLED=0 GOOS=linux GOARCH=arm64 scripts/go.sh build -buildvcs=false -o "$job/bin/" ./cmd/gasm) ||
    fail "could not build gasm"
  cp "$root/scripts/arm64/init" "$job/init"
  printf '%q ' "$@" >"$job/command"
  file_system "$job" "$work/job.img" 1500 || fail "could not make the disk of the job"

  timeout --kill-after 5 "$limit" nice qemu-system-aarch64 -M virt -cpu "$model" -smp 2 -m "${MEMORY:-3G}" \
    -accel tcg,thread=multi,tb-size=512 -kernel "$image/vmlinuz" -initrd "$image/initrd.gz" \
    -append "console=ttyAMA0 quiet loglevel=2 panic=-1 mitigations=off" \
    -drive "file=$image/root.img,if=virtio,format=raw,snapshot=on" -drive "file=$work/job.img,if=virtio,format=raw" \
    -nic none -display none -serial stdio -monitor none -no-reboot </dev/null &
  qemu=$!
  wait "$qemu" || result=$?
  qemu=
  debugfs -R "rdump /out $work/result" "$work/job.img" >/dev/null 2>&1 || true
  debugfs -R "dump /exit $work/exit" "$work/job.img" >/dev/null 2>&1 || true
  if [ -n "$out" ]; then
    mkdir -p "$out"
    cp -r "$work/result/out/." "$out/"
  fi
  if [ "$result" = 124 ]; then
    say "ended after $limit s"
    return 124
  fi
  [ -s "$work/exit" ] || fail "the machine did not run the command to its end"
  return "$(cat "$work/exit")"
}

# test_features: see above.
test_features() {
  local cpu failed=0 count
  mkdir "$work/classes" "$work/bin"
  javac -g -Xlint:-options --release 8 -d "$work/classes" "$root"/testdata/programs/{Shares,Features}.java || fail "could not compile the program"
  (cd "$root" && CGO_ENABLED=0 GOOS=linux GOARCH=arm64 scripts/go.sh build -buildvcs=false -o "$work/bin/" ./internal/features) ||
    fail "could not build the tests"
  count=$(wc -w <<<"$jdks")
  for cpu in ${CPUS:-neoverse-n1 max}; do
    say "$cpu"
    # shellcheck disable=SC2046 # a path for each JDK
    run --cpu "$cpu" --add "$work/classes" --add "$work/bin/features" --limit $((120 + 1200 * count)) ./features -classes classes \
      -only "${1:-}" -options "${OPTIONS:-}" $(printf '/usr/lib/jvm/java-%s-openjdk-arm64 ' $jdks) || failed=1
  done
  return "$failed"
}

# go_test: see above.
go_test() {
  local options=() package tree=$work/tree
  while [ $# -gt 1 ]; do
    case $1 in
    --cpu | --limit) options+=("$1" "$2"); shift 2 ;;
    *) break ;;
    esac
  done
  [ $# -gt 0 ] || usage
  package=${1#./}
  shift
  mkdir -p "$tree/testdata/captures" # by which tests find the others' folder
  git -C "$root" archive HEAD go.mod "$package" testdata/programs | tar -x -C "$tree" || fail "could not copy $package"
  (cd "$root" && CGO_ENABLED=0 GOOS=linux GOARCH=arm64 scripts/go.sh test -c -o "$tree/$package/go.test" "./$package") ||
    fail "could not build the tests"
  # shellcheck disable=SC2016 # for the other shell
  run "${options[@]}" --add "$tree" bash -c 'cd "tree/$1" && shift && exec ./go.test -test.v "$@"' bash "$package" "$@"
}

[ $# -gt 0 ] || usage
command=$1
shift
need
work=$(mktemp -d "${TMPDIR:-/var/tmp}/gasm-arm64.XXXXXX")
trap clean_up EXIT
trap 'exit 130' INT TERM HUP # and clean_up
case $command in
image) image ;;
run) run "$@" ;;
test) test_features "$@" ;;
gotest) go_test "$@" ;;
*) usage ;;
esac
