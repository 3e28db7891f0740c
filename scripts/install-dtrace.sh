#!/usr/bin/env bash
# install-dtrace.sh [PREFIX]: installs DTrace 2.x for Linux under PREFIX (/opt/dtrace), and a link to it as
# /usr/local/bin/dtrace.
#
# Where the distribution has it (Debian unstable, Oracle Linux, Fedora) its own package is the better way. Debian 12 and
# 13 have none: this takes Debian unstable's, with the libc and the libraries it was built for, and puts all of it beside
# the system, not into it. It needs root, apt and a kernel with BTF and uprobes.
#
# DTrace compiles its libraries (types and constants in D) each time that it starts. That takes 7 s of CPU time, because it
# then also reads the types of the kernel. gasm's programs use nothing of them but the variable cpu, whose definition here
# needs no such types. So the libraries are moved to PREFIX/libraries, and DTrace starts in 0.3 s. A test starts it with
# them. Programs that need them get them with dtrace -x syslibdir=PREFIX/libraries.
set -euo pipefail

prefix=${1:-/opt/dtrace}
arch=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")
lib=$prefix/usr/lib/$arch
packages=(dtrace libdtrace2 libc6 libgcc-s1 libctf-nobfd0 libelf1t64 libsframe3 zlib1g libpcap0.8t64 libpfm4 libzstd1
  libdbus-1-3 libsystemd0 libcap2)

link() {
  [ -e /usr/local/bin/dtrace ] || ln -s "$prefix/bin/dtrace" /usr/local/bin/dtrace
  "$prefix/bin/dtrace" -V
}

move_libraries() {
  if ! [ -e "$prefix/libraries" ]; then
    rm -rf "$prefix/libraries.new" # of a run that was interrupted
    cp -a "$lib/dtrace" "$prefix/libraries.new"
    mv "$prefix/libraries.new" "$prefix/libraries"
  fi
  find "$lib/dtrace" -name '*.d' ! -name sched.d -delete
  find "$lib/dtrace" -name sched.d | while read -r file; do
    cat >"$file" <<'EOF'
typedef struct cpuinfo { int cpu_id; } cpuinfo_t;
typedef cpuinfo_t *cpuinfo_t_p;
inline int cpu = curcpu->cpu_id;
#pragma D attributes Stable/Stable/Common cpu
#pragma D binding "1.0" cpu
EOF
  done
}

if [ -x "$prefix/bin/dtrace" ]; then
  # An earlier version of this script left them where they were.
  if [ -w "$lib/dtrace" ]; then move_libraries; fi
  link
  exit
fi
if ! command -v patchelf >/dev/null; then
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends patchelf >/dev/null
fi

# shellcheck source=scripts/unstable.sh
. "$(dirname "${BASH_SOURCE[0]}")/unstable.sh"
mkdir -p "$unstable/debs" "$unstable/root"
unstable_update
unstable_download "$unstable/debs" "${packages[@]}"
for deb in "$unstable"/debs/*.deb; do dpkg-deb -x "$deb" "$unstable/root"; done

# Under PREFIX it is complete or not there at all.
mkdir -p "$(dirname "$prefix")"
rm -rf "$prefix"
mv "$unstable/root" "$prefix"
mkdir -p "$prefix/bin"

# io.d needs kernel data symbols, which a kernel without CONFIG_KALLSYMS_ALL does not list. Nothing here uses it.
grep -q ' major_names$' /proc/kallsyms || find "$lib/dtrace" -name io.d -delete
interpreter=$(find "$lib" -maxdepth 1 -name 'ld-linux-*.so.*' | sed -n 1p)
patchelf --set-interpreter "$interpreter" --force-rpath --set-rpath "$lib" "$prefix/usr/sbin/dtrace"
move_libraries
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
printf '#!/bin/sh\nexec %s/usr/sbin/dtrace -x syslibdir=%s/dtrace "$@"\n' "$prefix" "$lib" >"$prefix/bin/dtrace"
chmod +x "$prefix/bin/dtrace"
link
