#!/usr/bin/env bash
# gotest.sh STAGE...: runs the tests of these stages (unit, live, pages), and prints what `go test -json` prints.
# gotest.sh --list: prints which packages each stage has, one a line, and what is special about them:
#
#     unit  github.com/gasm-profiler/gasm/report
#     unit  github.com/gasm-profiler/gasm/capture waits
#     unit  github.com/gasm-profiler/gasm/mca race waits
#     live  github.com/gasm-profiler/gasm/record/jvmevents race lane=alone
#     live  github.com/gasm-profiler/gasm/hotspot/stack race plain=TestGarbage,TestKnownStacks
#
# unit    packages whose tests neither sample nor start JVMs, side by side. Most of them only compute: they are started
#         first and run until they end, with a low priority (SPARE), and so take the time for which all others wait.
#         Those that start goroutines, or whose tests have a limit of time (waits), have the usual priority.
# live    packages whose tests do (LIVE below). First those that measure nothing, side by side, because they wait more
#         than they compute:
#           - those that compare what they read from JVMs, or ask tools, two more at a time than there are processors;
#           - one at a time those that start DTrace again and again, and cmd/gasm/hostile (ONE), beside these and the
#             stage unit: of two DTraces that start at once one can fail, and the doctor would end what the tests of
#             hostile leave in a JVM. These measure how soon gasm ends, and beside it how late the machine is.
#         Then those that measure what they do (ALONE), one at a time, with nothing beside them but what runs with a low
#         priority. In each of these packages the tests that measure nothing are parallel (t.Parallel), and so run after
#         the others, also two more at a time than there are processors.
# pages   the modules of their own: the page in a browser, and what a release consists of; with GASM_TESTS=all also the
#         OpenTelemetry collector, which takes minutes to compile. The former is tested while the
#         other stages run, but for ALONE; and for MEASURES, the tests of the page that measure its work, which are the
#         last. The latter only computes, as the stage unit does: it builds gasm and packs it.
#
# A package is tested with the race detector if its code starts goroutines (GOROUTINE): with a go statement, a method Go
# or AfterFunc. The detector also checks the packages that it calls. It makes tests up to twenty times slower, and finds
# nothing where no goroutine is started. Tests that call gasmtest.NeedNoRaceDetector (plain) compute much: they run
# without the detector. cmd/gasm is tested without it, because its tests run gasm as a program, which is built as in a
# release. TestStages (internal/gasmtest) checks these rules on the parsed code. go test does without go vet (-vet=off),
# because the stage lint runs it, except in modules of their own.
set -uo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
case $GO in */*) GO=$(realpath "$GO") ;; esac # for modules in other folders
LIVE='gasmtest\.Need(Perf|Native|DTrace|BPFTrace|Java)[^A-Za-z]|(^|[^.a-zA-Z])[a-z]+\.Java\(\)|\]\.Java\(\)'
ONE='/(cmd/gasm/hostile|doctor|sampler/collect/dtrace)$'
ALONE='/(cmd/gasm|record/.*|sampl[a-z]*(/.*)?|hotspot/(usdt|wallclock))$'
MEASURES='^TestLarge$'
GOROUTINE='^[[:space:]]*go [a-z(]|\.Go\(|AfterFunc\('
WAITS='time\.(Minute|Second|Millisecond)|Eventually'
OTHERS=' (race|waits)' # packages of the stage unit that do not only compute
SPARE='nice -n 15' # has what only computes run when the others wait
PARALLEL=$(($(getconf _NPROCESSORS_ONLN) + 2)) # a test with JVMs takes less than half of a processor

# list prints a line for each package, as above. It runs with the bash 3.2 of macOS too.
list() {
  local packages package folder tests sources stage race lane plain waits live waiting starting
  packages=$($GO list -f '{{.ImportPath}} {{.Dir}}' ./...) || return 1
  tests=$(while read -r package folder; do printf '%s\n' "$folder"/*_test.go; done <<<"$packages")
  sources=$(while read -r package folder; do printf '%s\n' "$folder"/*.go; done <<<"$packages" | grep -v '_test\.go$')
  live=$(folders_with "$LIVE" <<<"$tests")
  waiting=$(folders_with "$WAITS" <<<"$tests")
  starting=$(folders_with "$GOROUTINE" <<<"$sources")
  while read -r package folder; do
    stage=unit race='' lane='' waits=''
    if has "$live" "$folder"; then
      stage=live
    elif has "$waiting" "$folder"; then
      waits=' waits'
    fi
    if [[ $package != */cmd/gasm ]] && has "$starting" "$folder"; then race=' race'; fi
    if [ $stage = live ]; then
      if [[ $package =~ $ONE ]]; then
        lane=' lane=one'
      elif [[ $package =~ $ALONE ]]; then
        lane=' lane=alone'
      fi
    fi
    plain=''
    if [ -n "$race" ]; then plain=$(plain_tests "$folder"/*_test.go); fi
    echo "$stage $package$race$waits$lane${plain:+ plain=$plain}"
  done <<<"$packages"
}

# folders_with PATTERN: prints the folders of those files in stdin that match the pattern.
folders_with() { tr '\n' '\0' | xargs -0 grep -slE "$1" | sed 's,/[^/]*$,,' | LC_ALL=C sort -u; }

# has LINES LINE: reports whether one of the lines is this one.
has() { case $'\n'$1$'\n' in *$'\n'"$2"$'\n'*) ;; *) return 1 ;; esac }

# plain_tests FILE...: prints the names of the tests that call NeedNoRaceDetector, with commas between them.
plain_tests() {
  [ -e "$1" ] || return 0
  awk '/^func /{split(substr($0, 6), name, "(")} /gasmtest\.NeedNoRaceDetector\(/{print name[1]}' "$@" | LC_ALL=C sort -u | paste -sd, -
}

# run LINES ARGUMENT...: tests the packages of these lines of the list, in three runs: without the race detector, with it,
# and the plain tests of the latter packages.
run() {
  local lines=$1 packages tests
  shift
  packages=$(sed -n '/ race/!s/^[a-z]* \([^ ]*\).*/\1/p' <<<"$lines")
  # shellcheck disable=SC2086 # import paths have no spaces
  if [ -n "$packages" ]; then CGO_ENABLED=0 $GO test -vet=off -json -timeout 45m "$@" $packages || result=1; fi
  packages=$(sed -n '/ race/s/^[a-z]* \([^ ]*\).*/\1/p' <<<"$lines")
  # shellcheck disable=SC2086
  if [ -n "$packages" ]; then CGO_ENABLED=1 $GO test -vet=off -json -race -timeout 45m "$@" $packages || result=1; fi
  packages=$(sed -n '/ plain=/s/^[a-z]* \([^ ]*\).*/\1/p' <<<"$lines")
  tests=$(sed -n 's/.* plain=//p' <<<"$lines" | tr , "\n" | sort -u | paste -sd'|' -)
  # shellcheck disable=SC2086
  if [ -n "$packages" ]; then CGO_ENABLED=0 $GO test -vet=off -json -timeout 45m "$@" -run "^($tests)\$" $packages || result=1; fi
}

# test_module FOLDER ARGUMENT...: tests a module of its own.
test_module() {
  local folder=$1
  shift
  (cd "$folder" && CGO_ENABLED=0 $GO test -json -count 1 -timeout 45m "$@" ./...) || result=1
}

# beside NAME COMMAND...: runs a function of this script in the background, until it is awaited by this name.
beside() {
  local name=$1
  shift
  (
    result=0
    "$@"
    exit $result
  ) >"$temp/$name" &
  echo $! >"$temp/$name.pid"
}

# await NAME...: waits for those of these that run in the background, and prints what they have printed.
await() {
  local name
  for name; do
    [ -e "$temp/$name.pid" ] || continue
    wait "$(cat "$temp/$name.pid")" || result=1
    cat "$temp/$name"
    rm "$temp/$name.pid"
  done
}

# lane NAME: prints the lines of the list of a lane of the stage live. Without a name they are those of no lane.
lane() { grep '^live' <<<"$all" | if [ -n "$1" ]; then grep " lane=$1"; else grep -v ' lane='; fi; }

all=$(list) || exit 1
result=0
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
if [[ " $* " = *' unit '* ]]; then GO="$SPARE $GO" beside computing run "$(grep '^unit' <<<"$all" | grep -vE "$OTHERS")"; fi
if [[ " $* " = *' pages '* ]]; then
  GO="$SPARE $GO" beside release test_module packaging
  if [ "${GASM_TESTS:-}" = all ]; then GO="$SPARE $GO" beside collector test_module push/otlp/collectortest; fi
  beside page test_module report/page/browsertest -skip "$MEASURES"
fi
if [[ " $* " = *' live '* ]]; then beside one run "$(lane one)" -count 1 -p 1; fi
for stage; do
  case $stage in
  --list) echo "$all" ;;
  unit) run "$(grep '^unit' <<<"$all" | grep -E "$OTHERS")" ;; # the others have been started
  live)                                                   # some of it has been started
    run "$(lane '')" -count 1 -p "$PARALLEL"
    await one page
    run "$(lane alone)" -count 1 -p 1 -parallel "$PARALLEL"
    ;;
  pages) ;; # they have been started
  *)
    echo "gotest.sh: there is no stage $stage: unit, live, pages" >&2
    exit 2
    ;;
  esac
done
await one page computing release collector
if [[ " $* " = *' pages '* ]]; then test_module report/page/browsertest -run "$MEASURES"; fi
exit $result
