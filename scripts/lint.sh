#!/usr/bin/env bash
# clang-tidy over our sources, each finding once. .clang-tidy says which checks, and why.
#
#     scripts/lint.sh build-lint                 every source of src
#     scripts/lint.sh build-lint --changed REF   those that differ from a commit, for instance main
#     scripts/lint.sh build-lint FILE…           these
set -uo pipefail
build=${1:?usage: scripts/lint.sh BUILD [--changed REF | FILE…]}
shift
cd "$(dirname "$0")/.."
case ${1:-} in
  '') mapfile -t files < <(git ls-files 'src/*.cpp') ;;
  --changed) mapfile -t files < <(git diff --name-only --diff-filter=d "$2" -- 'src/*.cpp') ;;
  *) files=("$@") ;;
esac
if ((${#files[@]} == 0)); then
  echo "no source to look at"
  exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
printf '%s\0' "${files[@]}" |
  xargs -0 -P "${JOBS:-$(nproc)}" -n 1 clang-tidy -p "$build" --quiet >"$log" 2>/dev/null || status=$?
# A header's findings come with every source that includes it.
findings=$(grep -E ': (error|warning): ' "$log" | sed "s|^$PWD/||" | sort -u)
if [[ -n $findings ]]; then echo "$findings"; fi
echo "${#files[@]} sources, $(grep -c . <<<"$findings") findings"
[[ $status == 0 && -z $findings ]]
