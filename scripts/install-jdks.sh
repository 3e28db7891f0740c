#!/usr/bin/env bash
# install-jdks.sh RELEASE...: installs JREs of these releases of Java (8, 26, 28) in testdata/jdks/debian-RELEASE.
#
# They are Debian unstable's, with the libc and the libraries that they were built for, and all of it is beside the
# system, not in it. It needs Debian's apt, and patchelf. A JRE that is there is replaced. A release that unstable does
# not have is told of, and makes the script fail after the others are installed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/unstable.sh
jdks=$PWD/testdata/jdks
libraries=(libc6 libgcc-s1 libstdc++6 zlib1g) # what the JVM and the libraries of java.base need
arch=$(dpkg --print-architecture)

# add_libraries HOME: puts the libraries into HOME/libc, and has the programs load them from there. Libraries whose own
# path is a RUNPATH, as JDK 8's, would look for what they need in the system: so the programs load all of it.
add_libraries() {
  local home=$1 program old loader
  mkdir "$home/libc"
  find "$unstable/libraries/usr/lib" -maxdepth 2 -name '*.so*' -exec cp -P -t "$home/libc" {} +
  loader=$(find "$home/libc" -name 'ld-linux*.so.*')
  find "$home/" -type f -perm -u+x ! -name '*.so*' >"$home.programs"
  while read -r program; do
    patchelf --print-interpreter "$program" >/dev/null 2>&1 || continue # a script
    old=$(patchelf --print-rpath "$program")
    # One after the other, because patchelf 0.14 mixes the two up.
    patchelf --add-needed libm.so.6 --add-needed libgcc_s.so.1 --add-needed libstdc++.so.6 "$program"
    patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$old:$home/libc" "$program"
  done <"$home.programs"
  rm "$home.programs"
}

# install_jdk RELEASE
install_jdk() {
  local release=$1 name=java-$1-openjdk home=$jdks/debian-$1 new=$jdks/.new-$1 link
  rm -rf "$new" "$home"
  mkdir -p "$new"
  dpkg-deb --fsys-tarfile "$unstable/debs/openjdk-$release-jre-headless"_*.deb |
    tar -x -C "$new" --no-same-owner --exclude='*/man' --exclude='*/legal' "./usr/lib/jvm/$name-$arch" "./etc/$name"
  mv "$new/usr/lib/jvm/$name-$arch" "$home"
  # Its settings are links into /etc.
  find "$home" -type l -lname "/etc/$name/*" -printf '%p\n' | while read -r link; do
    cp --remove-destination "$new$(readlink "$link")" "$link"
  done
  rm -rf "$new"
  find "$home" -xtype l -delete # certificates and manuals of other packages
  add_libraries "$home"
  "$home/bin/java" -version
}

unstable_update
packages=() releases=() failed=0
for release in "$@"; do
  package=openjdk-$release-jre-headless
  if unstable_apt cache show "$package" >/dev/null 2>&1; then
    packages+=("$package") releases+=("$release")
  else
    echo "Debian unstable has no $package" >&2
    failed=1
  fi
done
[ ${#packages[@]} -gt 0 ] || exit 1
mkdir -p "$unstable/debs" "$unstable/libraries" "$jdks"
unstable_download "$unstable/debs" "${packages[@]}" "${libraries[@]}"
for library in "${libraries[@]}"; do dpkg-deb -x "$unstable/debs/$library"_*.deb "$unstable/libraries"; done

children=()
for release in "${releases[@]}"; do
  install_jdk "$release" &
  children+=($!)
done
for i in "${!children[@]}"; do
  wait "${children[i]}" || { echo "JDK ${releases[i]} could not be unpacked, or does not run" >&2; failed=1; }
done
exit "$failed"
