#!/usr/bin/env bash
# clang-tidy over our sources, each finding once. .clang-tidy says which checks, and why.
#
#     scripts/lint.sh build-lint                 every source of src
#     scripts/lint.sh build-lint --changed REF   those that differ from a commit, for instance main
#     scripts/lint.sh build-lint FILE…           these
#
# The build joins several sources to a unit, and clang-tidy takes little longer for a unit than for
# one of its sources, since most of the time goes into headers. So it looks at whole units, also
# where only one of their sources was asked for.
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
wanted=$(mktemp)
trap 'rm -f "$log" "$wanted"' EXIT
printf '%s\n' "${files[@]}" >"$wanted"
# The units with one of those sources; a source that is no part of a unit stands for itself.
mapfile -t units < <(python3 - "$build/compile_commands.json" "$wanted" <<'PYTHON'
import json, os, re, sys
wanted = {os.path.abspath(line.rstrip("\n")) for line in open(sys.argv[2])}
seen = set()
for entry in json.load(open(sys.argv[1])):
    unit = os.path.join(entry["directory"], entry["file"])
    parts = {unit}
    if "/Unity/" in unit:
        parts = set(re.findall(r'^#include "(.*)"$', open(unit).read(), re.M))
        # The build writes some itself, of texts. Nothing but data: an empty file will do here.
        for part in parts:
            open(part, "a").close()
    if parts & wanted:
        print(unit)
    seen |= parts
for missing in sorted(wanted - seen):
    # One of two sources may stand for the other where a library is missing.
    folder, name = os.path.split(missing)
    if name not in open(os.path.join(folder, "CMakeLists.txt")).read():
        sys.exit(f"{missing} is in no target of the build")
    print(f"{os.path.relpath(missing)}: no part of this build", file=sys.stderr)
PYTHON
)
if ((${#units[@]} == 0)); then
  echo "no unit of the build has these sources"
  exit 2
fi
status=0
# A unit includes sources: that is what it is.
printf '%s\0' "${units[@]}" |
  xargs -0 -P "${JOBS:-$(nproc)}" -n 1 clang-tidy -p "$build" --quiet \
    --checks=-bugprone-suspicious-include >"$log" 2>/dev/null || status=$?
# A header's findings come with every unit that includes it.
findings=$(grep -E ': (error|warning): ' "$log" | sed "s|^$PWD/||" | sort -u)
if [[ -n $findings ]]; then echo "$findings"; fi
echo "${#files[@]} sources in ${#units[@]} units, $(grep -c . <<<"$findings") findings"
[[ $status == 0 && -z $findings ]]
