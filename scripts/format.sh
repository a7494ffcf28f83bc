#!/usr/bin/env bash
# Lays out every C++ source with clang-format 14; other versions lay out differently.
#
#     scripts/format.sh            rewrites what differs
#     scripts/format.sh --check    names what differs, and fails if anything does
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=
for candidate in clang-format-14 clang-format; do
  if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then formatter=$candidate && break; fi
done
if [[ -z $formatter ]]; then
  echo "clang-format 14 is needed, and not found" >&2
  exit 2
fi

case ${1:-} in
  '') options=(-i) ;;
  --check) options=(--dry-run -Werror) ;;
  *) echo "usage: $0 [--check]" >&2 && exit 2 ;;
esac
git ls-files -z '*.cpp' '*.h' | xargs -0 "$formatter" "${options[@]}"
if [[ ${1:-} == --check ]]; then
  echo "laid out as clang-format 14 does: $(git ls-files '*.cpp' '*.h' | wc -l) files"
fi
