# shellcheck shell=bash
# unstable.sh: for scripts that source it: takes packages from Debian unstable, and leaves the system as it is. An apt of
# its own knows unstable alone, and has its lists and what it downloads in the folder $unstable, which goes with the
# script.
unstable=$(mktemp -d)
trap 'rm -rf "$unstable"' EXIT

# unstable_update: gets the list of packages, from the Debian mirror that this machine's apt uses.
unstable_update() {
  local mirror keys=/usr/share/keyrings/debian-archive-keyring.gpg
  [ -e "$keys" ] || { echo "no $keys: this is for Debian" >&2; return 1; }
  mirror=$(sed -n 's/^URIs: *\([^ ]*debian\)\/*$/\1/p; s/^deb \([^ ]*debian\)\/* .*/\1/p' \
    /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | sed -n 1p || true)
  mkdir -p "$unstable/lists/partial" "$unstable/cache/archives/partial"
  echo "deb [signed-by=$keys] ${mirror:-http://deb.debian.org/debian} sid main" >"$unstable/sources"
  unstable_apt get update
}

# unstable_apt get|cache ARGUMENT...: runs apt-get or apt-cache.
unstable_apt() {
  local program=apt-$1
  shift
  "$program" -o Dir::Etc::SourceList="$unstable/sources" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$unstable/lists" -o Dir::Cache="$unstable/cache" -o APT::Sandbox::User=root \
    -o Acquire::Check-Valid-Until=false -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
    -o Acquire::Languages=none -qq "$@"
}

# unstable_download FOLDER PACKAGE...: downloads the packages' files into a folder that is there.
unstable_download() {
  local folder=$1
  shift
  (cd "$folder" && unstable_apt get download "$@")
}
