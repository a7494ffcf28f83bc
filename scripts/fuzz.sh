#!/usr/bin/env bash
# Runs every libFuzzer target of a build for a few seconds on its corpus.
#     scripts/fuzz.sh build-fuzz [SECONDS]
set -euo pipefail
build=$1
seconds=${2:-5}
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
found=0
for target in "$build"/tests/fuzz/targets/fuzz_*; do
  [[ -x $target ]] || continue
  name=$(basename "$target")
  name=${name#fuzz_}
  mkdir -p "$scratch/$name"
  seeds=("$root/tests/fuzz/corpus/$name")
  [[ -d ${seeds[0]} ]] || seeds=()
  case $name in # what is at hand anyway
    sql) seeds+=("$root/tests/corpus/apps" "$root/examples/audit") ;;
    program) seeds+=("$root/tests/corpus/programs" "$root/examples/programs") ;;
  esac
  printf '%-16s' "$name"
  if ! "$target" -max_total_time="$seconds" -artifact_prefix="$scratch/$name-" -print_final_stats=1 \
    "$scratch/$name" "${seeds[@]}" >"$scratch/log" 2>&1; then
    echo FAILED
    cat "$scratch/log"
    exit 1
  fi
  grep -m1 number_of_executed_units "$scratch/log" | awk '{print $2, "inputs, no fault"}'
  found=$((found + 1))
done
[[ $found -gt 0 ]] || { echo "no fuzz target in $build" >&2; exit 1; }
