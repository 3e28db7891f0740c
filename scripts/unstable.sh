# shellcheck shell=bash
# unstable.sh: for scripts that source it: takes packages from Debian unstable, by an apt of its own (apt.sh). Its lists
# and what it downloads are in the folder $unstable, which goes with the script.
# shellcheck source=scripts/apt.sh
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
unstable=$(mktemp -d)
trap 'rm -rf "$unstable"' EXIT

# unstable_update: gets the list of packages, from the Debian mirror that this machine's apt uses.
unstable_update() { apt_setup "$unstable" "$(dpkg --print-architecture)" sid; }

# unstable_apt get|cache ARGUMENT...: runs apt-get or apt-cache.
unstable_apt() { apt_own "$@"; }

# unstable_download FOLDER PACKAGE...: downloads the packages' files into a folder that is there.
unstable_download() {
  local folder=$1
  shift
  (cd "$folder" && unstable_apt get download "$@")
}
