#!/usr/bin/env bash
# service.sh RELEASE: installs gasm's .deb in a new, bare Debian of that release (bookworm, trixie), which systemd has
# booted in a container, and checks gasm-watch.service there: that it profiles a JVM of another user with the rights
# that its unit allows, reports itself ready, reads its configuration again, is started again when it hangs or is
# killed, ends cleanly, and that nothing is left when the package is purged. It builds the package from the working
# folder. It needs root, Debian or Ubuntu, and 2 GB in TMPDIR (/var/tmp), and leaves nothing there. MIRROR is as in
# fresh.sh.
#
# The container is systemd-nspawn's, with the two capabilities of the unit and perf_event_open, which it forbids by
# default. The kernel is this machine's. A limit of memory can be checked only if the machine has the
# memory controller in cgroup v2; the script says so if not.
set -euo pipefail

say() { echo "service: $*"; }

# fail MESSAGE...: prints the message and what the service has written, and ends with 1.
fail() {
  say "FAILED: $*" >&2
  [ -z "$leader" ] || inside journalctl --no-pager --lines=40 --unit=gasm-watch >&2 || true
  exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/apt.sh
. "$root/scripts/apt.sh"
leader=    # process id of systemd in the container
container= # process id of systemd-nspawn
cgroup=/sys/fs/cgroup/system.slice/gasm-watch.service

# inside COMMAND...: runs a command in the container, without this machine's environment.
inside() {
  nsenter --target "$leader" --mount --uts --ipc --net --pid --cgroup \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@" </dev/null
}

# property NAME: prints a property of the service.
property() { inside systemctl show gasm-watch --property "$1" --value; }

# await SECONDS WHAT COMMAND...: waits until the command succeeds. If it does not within that time, the check fails.
await() {
  local limit=$1 what=$2 began=$SECONDS
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $((SECONDS - began)) -lt "$limit" ] || fail "not within $limit s: $what"
    sleep 1
  done
  say "ok: $what"
}

# check WHAT COMMAND...: the command must succeed.
check() {
  local what=$1
  shift
  "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "$what"; }
  say "ok: $what"
}

# none COMMAND...: succeeds if the command prints nothing.
none() { [ -z "$("$@")" ]; }

# build_package: builds the .deb for this machine.
build_package() {
  say "building the package"
  (cd "$root/packaging" && ../scripts/go.sh run . -go "$root/scripts/go.sh" -version 0.0.0-dev.1 \
    -time "$(git log -1 --format=%ct)" -platforms "linux/$(dpkg --print-architecture)" \
    -out "$work/dist") >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; fail "the package could not be built"; }
}

# make_debian: makes a bare Debian with systemd, a JDK, and Python for the server that takes the profiles.
make_debian() {
  say "making a bare Debian $release of $(debian_mirror)"
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,default-jdk-headless,python3 "$release" "$dir" \
    "$(debian_mirror)" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "debootstrap failed"; }
  cp "$work"/dist/gasm_*.deb "$dir/srv/gasm.deb"
  cp "$root/testdata/programs/Hosts.java" "$dir/srv/"
  mkdir -m 777 "$dir/srv/received"
  # The server keeps the profiles of each request of Pyroscope's protocol as files.
  cat >"$dir/srv/server.py" <<'END'
import base64, http.server, itertools, json, sys

class Push(http.server.BaseHTTPRequestHandler):
    count = itertools.count()
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for series in body["series"]:
            labels = ",".join("%s=%s" % (l["name"], l["value"]) for l in series["labels"])
            for sample in series["samples"]:
                name = "/srv/received/%06d" % next(self.count)
                open(name + ".labels", "w").write(labels + "\n")
                open(name + ".pb.gz", "wb").write(base64.b64decode(sample["rawProfile"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *args):
        pass

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Push).serve_forever()
END
}

# boot: boots the Debian in a container, and waits until systemd has started everything.
boot() {
  local options=(--boot --register=no --console=pipe --directory="$dir" --machine="gasm-service-$release"
    --private-network --capability='CAP_PERFMON,CAP_SYS_PTRACE' --system-call-filter=perf_event_open) run=()
  if [ -d /run/systemd/system ]; then # this machine's systemd makes a cgroup for the container
    run=(systemd-run --quiet --scope --property=Delegate=yes)
  fi
  say "booting it"
  SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 "${run[@]}" systemd-nspawn --keep-unit "${options[@]}" \
    >"$work/boot" 2>&1 </dev/null &
  container=$!
  local began=$SECONDS
  until leader=$(pgrep -P "$container" -x systemd); do
    if ! kill -0 "$container" 2>/dev/null || [ $((SECONDS - began)) -ge 60 ]; then
      cat "$work/boot" >&2
      fail "it does not boot"
    fi
    sleep 0.2
  done
  await 180 "systemd is running" running
}

running() { [ "$(inside systemctl is-system-running)" = running ]; }

# configure LINE...: writes the configuration file of the service.
configure() {
  printf '%s\n' 'to = dir:/var/lib/gasm' "to = pyroscope+http://127.0.0.1:$port" 'every = 5s' \
    'listen = unix:/run/gasm/second.sock' "$@" >"$dir/etc/gasm/watch.conf"
}

# start_programs: starts the server, and a busy JVM that belongs to another user and has a label in its environment.
start_programs() {
  inside systemd-run --quiet --unit=server python3 /srv/server.py "$port"
  inside javac -d /srv /srv/Hosts.java
  inside systemd-run --quiet --unit=jvm --uid=daemon --setenv=OTEL_SERVICE_NAME=shop java -cp /srv Hosts 50 3600000
}

# profile_with FOLDER NAME...: succeeds if a profile in the folder has all names. In pprof's format, they are text.
profile_with() {
  local file text name folder=$1
  shift
  while IFS= read -r file; do
    text=$(zcat "$file" | strings)
    for name; do grep -qF "$name" <<<"$text" || continue 2; done
    return 0
  done < <(find "$dir/$folder" -name '*.pb.gz' -newer "$work/since")
  return 1
}

# label_received TEXT: succeeds if a profile with this label has come.
label_received() {
  find "$dir/srv/received" -name '*.labels' -newer "$work/since" -exec cat {} + | grep -E "(^|,)$1(,|\$)" >/dev/null
}

# arrive WHAT: waits for new profiles, with native names, as files and at the server.
arrive() {
  touch "$work/since"
  await 120 "$1: files with Java and native names" profile_with var/lib/private/gasm Hosts::alpha JavaCalls::call_helper
  await 120 "$1: the server has them, too" profile_with srv/received Hosts::alpha JavaCalls::call_helper
}

# restarted OLD: succeeds if the service is active and its main process is not OLD.
restarted() { [ "$(property ActiveState)" = active ] && [ "$(property MainPID)" != "$1" ]; }

# signal SIGNAL PID: sends a signal to a process of the container. A bare Debian has no program for that.
# shellcheck disable=SC2016 # for the other shell
signal() { inside sh -c 'kill "-$1" "$2"' sh "$1" "$2"; }

# processes: prints the ids of the service's processes.
processes() { inside cat "$cgroup/cgroup.procs" 2>/dev/null || true; }

# child: prints the id of the process that looks at the JVMs, which the main process has started.
child() { processes | grep -vx "$(property MainPID)" | head -n 1; }

# answers PATH TEXT: succeeds if the service answers a request at its socket with this text.
answers() {
  inside python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect("/run/gasm/watch.sock")
s.sendall(b"GET " + sys.argv[1].encode() + b" HTTP/1.0\r\nHost: gasm\r\n\r\n")
print(b"".join(iter(lambda: s.recv(65536), b"")).decode())' "$1" >"$work/answer" && grep -qF "$2" "$work/answer"
}

# recordings: prints what is in the service's cache folder.
recordings() { find "$dir/var/cache/private/gasm" -mindepth 1 -maxdepth 1 2>/dev/null; }
at_most_one_recording() { [ "$(recordings | wc -l)" -le 1 ]; }

# stopped: succeeds if the service has ended cleanly, with all that it needs while it runs.
stopped() {
  [ "$(property ActiveState) $(property Result) $(property ExecMainStatus)" = "inactive success 0" ] &&
    none processes && none recordings && [ ! -e "$dir/run/gasm" ]
}

# faults: prints the messages of the service that are none of the usual ones, and systemd's warnings about it.
faults() {
  inside journalctl --quiet --no-pager --output=cat --unit=gasm-watch --identifier=gasm |
    grep -vE 'the configuration was read again$|: [0-9]+ profiles sent$' || true
  inside journalctl --quiet --no-pager --output=cat --unit=gasm-watch --priority=warning --identifier=systemd
}

# stop_cleanly: stops the service, and checks what is left.
stop_cleanly() {
  check "systemctl stop" inside systemctl stop gasm-watch
  check "it has ended with success, and its sockets, recordings and processes are gone" stopped
}

# memory_limit: checks the limit where this machine has one.
memory_limit() {
  if inside grep -qw memory /sys/fs/cgroup/cgroup.controllers; then
    check "the kernel limits its memory" inside grep -qx 805306368 "$cgroup/memory.max"
    say "memory: $(inside cat "$cgroup/memory.current") bytes"
  else
    say "not checked: the limit of memory, because this machine has no memory controller in cgroup v2"
  fi
}

# usual: checks what happens when nothing fails.
usual() {
  check "the package installs" inside dpkg -i /srv/gasm.deb
  check "that starts nothing" inside sh -c '! systemctl is-active gasm-watch && ! systemctl is-enabled gasm-watch'
  configure
  touch "$work/since"
  check "systemctl enable --now waits until it is ready" inside systemctl enable --now gasm-watch
  arrive "after the start"
  check "the name of the service is from the JVM's environment" label_received service_name=shop
  check "the socket of the unit answers" answers /metrics 'gasm_jvms{state="profiled"} '
  memory_limit

  local main
  main=$(property MainPID)
  configure 'label = stage=second'
  touch "$work/since"
  check "systemctl reload" inside systemctl reload gasm-watch
  await 120 "the new configuration is in force" label_received stage=second
  check "by the same process" test "$main" = "$(property MainPID)"
  check "systemd-analyze security: at most 2.5" inside systemd-analyze security --no-pager --threshold=25 gasm-watch
  say "$(tail -n 1 "$work/out")"
  stop_cleanly
  check "no fault in the journal" none faults
}

# failing: checks what happens when the service hangs or is killed. The unit's watchdog waits for two minutes; here it
# waits for ten seconds.
failing() {
  local case main pid
  mkdir -p "$dir/etc/systemd/system/gasm-watch.service.d"
  printf '[Service]\nWatchdogSec=10\nRestartSec=1\n' >"$dir/etc/systemd/system/gasm-watch.service.d/test.conf"
  inside systemctl daemon-reload
  check "it starts again" inside systemctl start gasm-watch
  for case in "STOP main" "STOP child" "KILL main" "KILL child"; do
    arrive "before $case"
    main=$(property MainPID) pid=$main
    [ "${case#* }" = main ] || pid=$(child)
    signal "${case% *}" "$pid"
    await 120 "$case: systemd starts it again" restarted "$main"
  done
  arrive "at the end"
  check "killed processes have left no recording" at_most_one_recording
  stop_cleanly
  rm -r "$dir/etc/systemd/system/gasm-watch.service.d"
  inside systemctl daemon-reload
}

# files: prints the files in the container that the package or the service could have made.
files() {
  find "$dir"/{etc,usr,run,var/lib,var/cache} -iname '*gasm*' ! -path "$dir/var/lib/dpkg/*" ! -path "$dir/run/log/*" \
    ! -path "$dir/run/systemd/journal/*"
}

# purged: checks that nothing is left when the package of a running service is purged. An upgrade comes before that.
purged() {
  check "it starts again" inside systemctl start gasm-watch
  local main
  main=$(property MainPID)
  check "the package is installed over itself" inside dpkg -i --force-confold /srv/gasm.deb
  check "the service that ran runs the new program" restarted "$main"
  check "it is still enabled" inside systemctl is-enabled gasm-watch
  arrive "before the end"
  check "apt-get purge" inside apt-get purge --yes gasm
  check "no process is left" none processes
  check "no file is left" none files
  check "nothing has failed" none inside systemctl --failed --quiet --no-legend --plain
}

# clean_up: ends the container, and removes it.
clean_up() {
  trap '' INT TERM HUP
  local process
  if [ -n "$container" ] && kill -0 "$container" 2>/dev/null; then
    for process in $leader; do kill -KILL "$process" 2>/dev/null || true; done # all its processes end with it
    wait "$container" 2>/dev/null || true
  fi
  if grep -qF " $work/" /proc/self/mountinfo; then
    say "something is mounted in $work: it is left there" >&2
    return
  fi
  rm -rf --one-file-system "$work"
}

[ $# = 1 ] || { echo "usage: scripts/service.sh RELEASE" >&2; exit 2; }
release=$1
port=4040
[ "$(id -u)" = 0 ] || { say "a container needs root: sudo scripts/service.sh $*" >&2; exit 1; }
for program in debootstrap systemd-nspawn strings; do
  if ! command -v "$program" >/dev/null; then
    say "installing debootstrap, systemd-container and binutils"
    {
      apt-get update -qq &&
        apt-get install -y -qq --no-install-recommends debootstrap debian-archive-keyring systemd-container binutils
    } >/dev/null || fail "could not install them"
  fi
done
work=$(mktemp -d "${TMPDIR:-/var/tmp}/gasm-service.XXXXXX")
dir=$work/debian
mkdir -m 755 "$dir"
trap clean_up EXIT
trap 'exit 130' INT TERM HUP # and clean_up
build_package
make_debian
boot
start_programs
usual
failing
purged
say "passed in Debian $release after $((SECONDS / 60)) min $((SECONDS % 60)) s"
