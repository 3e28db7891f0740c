#!/usr/bin/env bash
# Runs all tests with the race detector, and writes what `go test -json` tells. First the packages whose tests
# neither sample nor start JVMs, side by side; then those that compare what they read from JVMs, or ask tools, in twos,
# because these JVMs and what reads them wait for each other; then the others, one at a time, because what they do
# takes the machine and some of it is measured. In each of these packages the tests that measure nothing are parallel
# (t.Parallel), and so run after the others. They wait for JVMs more than they compute: one more at a time than there
# are processors. cmd/gasm's tests run a gasm without the race detector; the packages that it is made of have it.
set -uo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
case $GO in */*) GO=$(realpath "$GO") ;; esac # for modules in other folders
MEASURED='/(cmd/gasm|cmd/gasm/hostile|record|record/[a-z]+|sampler|sampler/perfevent|event/usdt)$'
COMPARED='/(doctor|hotspot/[a-z]+|event/[a-z]+)$'
PARALLEL=$(($(getconf _NPROCESSORS_ONLN) + 1))
result=0
all=$($GO list ./...) || exit 1
mapfile -t measured < <(grep -E "$MEASURED" <<<"$all")
mapfile -t compared < <(grep -Ev "$MEASURED" <<<"$all" | grep -E "$COMPARED")
mapfile -t quiet < <(grep -Ev "$MEASURED|$COMPARED" <<<"$all")
CGO_ENABLED=1 $GO test -json -race -timeout 45m "${quiet[@]}" || result=1
CGO_ENABLED=1 $GO test -json -race -timeout 45m -p 2 "${compared[@]}" || result=1
CGO_ENABLED=1 $GO test -json -race -timeout 45m -p 1 -parallel "$PARALLEL" "${measured[@]}" || result=1
# The page in a browser: a module of its own, so that gasm needs nothing of a browser's.
(cd report/page/browsertest && CGO_ENABLED=0 $GO test -json -count 1 -timeout 15m ./...) || result=1
# What a release has: a module of its own as well.
(cd packaging && CGO_ENABLED=0 $GO test -json -count 1 -timeout 15m ./...) || result=1
exit $result
