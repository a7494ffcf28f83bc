#!/usr/bin/env bash
# Runs every Google Benchmark program of a build; further arguments go to each of them.
#     scripts/bench.sh build --benchmark_filter=Causal
set -euo pipefail
build=$1
shift
for bench in "$build"/bench/bench_*; do
  [[ -x $bench ]] || continue
  echo "== $(basename "$bench")"
  "$bench" --benchmark_counters_tabular=true "$@"
done
