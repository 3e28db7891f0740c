#!/usr/bin/env bash
# What the action compare runs: it builds the benchmarks of two commits, records both in turn, and compares. It takes the
# variables that action.yml sets, and works anywhere:
#
#   GASM_BUILD='mvn -q -B package' GASM_JAR=target/benchmarks.jar GASM_BASE=main GASM_OUT=/tmp/gasm \
#     .github/actions/compare/compare.sh
set -euo pipefail

: "${GASM_BUILD:?the command that builds the benchmarks}" "${GASM_JAR:?the jar that it builds}" "${GASM_OUT:?a folder for the captures}"
base=${GASM_BASE:-HEAD^}
rounds=${GASM_ROUNDS:-4}
# Both are lists of words, as on a command line.
read -ra arguments <<<"${GASM_ARGUMENTS:-}"
read -ra flags <<<"${GASM_PROFILE_FLAGS:-}"

mkdir -p "$GASM_OUT"
tree=$(mktemp -d)
trap 'git worktree remove --force "$tree/base" 2>/dev/null || true; rm -rf "$tree"' EXIT
git worktree add -q --detach "$tree/base" "$base"

after=$PWD/$GASM_JAR before=$tree/base/$GASM_JAR
bash -c "$GASM_BUILD"
(cd "$tree/base" && bash -c "$GASM_BUILD")

# In turn: what the machine does slowly at one time hits both sides.
befores="" afters=""
for ((i = 1; i <= rounds; i++)); do
  gasm profile --record-only -o "$GASM_OUT/before-$i" ${flags[@]+"${flags[@]}"} -- java -jar "$before" ${arguments[@]+"${arguments[@]}"}
  gasm profile --record-only -o "$GASM_OUT/after-$i" ${flags[@]+"${flags[@]}"} -- java -jar "$after" ${arguments[@]+"${arguments[@]}"}
  befores+=,$GASM_OUT/before-$i afters+=,$GASM_OUT/after-$i
done

sides=(--before "${befores#,}" --after "${afters#,}")
gasm diff --format html --report "$GASM_OUT/diff.html" "${sides[@]}"
slower=false code=0
gasm diff --format markdown --report "$GASM_OUT/diff.md" ${GASM_FAIL_ABOVE:+--fail-above "$GASM_FAIL_ABOVE"} "${sides[@]}" || code=$?
case $code in
0) ;;
3) slower=true ;;
*) exit "$code" ;;
esac
cat "$GASM_OUT/diff.md" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
echo "slower=$slower" >>"${GITHUB_OUTPUT:-/dev/null}"
