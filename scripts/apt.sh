# shellcheck shell=bash
# apt.sh: for scripts that source it: takes packages of any Debian release and architecture, and leaves the system as it
# is. An apt of its own knows the releases that it is told of, and has its lists and what it downloads in a folder. It
# needs no root. What this machine's apt needs to reach the mirror (proxies) holds for it too.

# debian_mirror: prints MIRROR, or the Debian mirror that this machine's apt uses: the address in
# "URIs: http://deb.debian.org/debian", or in "deb [signed-by=…] http://deb.debian.org/debian bookworm main".
debian_mirror() {
  local found
  found=$(sed -nE 's/^(URIs:|deb( \[[^]]*\])?) *([a-z]+:\/\/[^ ]*\/debian)\/?( .*)?$/\3/p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null || true)
  sed -n 1p <<<"${MIRROR:-${found:-http://deb.debian.org/debian}}"
}

# apt_setup FOLDER ARCHITECTURE RELEASE...: makes an apt in the folder, or finds it there, and gets the lists of the
# releases' packages. If several releases have a package, the first of them counts.
apt_setup() {
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg mirror release priority=900
  apt_folder=$1 apt_architecture=$2
  shift 2
  [ -e "$keys" ] || { echo "no $keys: it is in the package debian-archive-keyring" >&2; return 1; }
  mirror=$(debian_mirror)
  mkdir -p "$apt_folder/lists/partial" "$apt_folder/cache/archives/partial"
  : >"$apt_folder/status" # of the packages that are installed: none
  : >"$apt_folder/sources"
  : >"$apt_folder/preferences"
  for release; do
    echo "deb [arch=$apt_architecture signed-by=$keys] $mirror $release main" >>"$apt_folder/sources"
    printf 'Package: *\nPin: release n=%s\nPin-Priority: %d\n\n' "$release" "$priority" >>"$apt_folder/preferences"
    priority=$((priority - 100))
  done
  apt_own get update
}

# apt_own get|cache ARGUMENT...: runs apt-get or apt-cache.
apt_own() {
  local program=apt-$1
  shift
  "$program" -o APT::Architecture="$apt_architecture" -o APT::Architectures="$apt_architecture" \
    -o Dir::Etc::SourceList="$apt_folder/sources" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::Etc::Preferences="$apt_folder/preferences" -o Dir::Etc::PreferencesParts=/dev/null \
    -o Dir::State="$apt_folder" -o Dir::State::Lists="$apt_folder/lists" -o Dir::State::Status="$apt_folder/status" \
    -o Dir::Cache="$apt_folder/cache" -o APT::Sandbox::User=root -o Acquire::Check-Valid-Until=false \
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false -o Acquire::Languages=none \
    -o APT::Install-Recommends=false -qq "$@"
}
