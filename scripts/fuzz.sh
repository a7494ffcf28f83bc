#!/usr/bin/env bash
# Runs the libFuzzer targets of a build, each for a number of inputs, from its seeds.
#
#     scripts/fuzz.sh build-fuzz                     all targets, as many inputs as the table says
#     scripts/fuzz.sh build-fuzz sql engine-check    these targets
#     FUZZ_SHARE=10 scripts/fuzz.sh build-fuzz       a tenth of the inputs (1000: ten times as many)
#     FUZZ_SEED=7 scripts/fuzz.sh build-fuzz         other inputs; the same seed makes the same ones
#
# Prints for each how many inputs it ran, how many of them got past the reader or were compared with
# an oracle, and what it took. Goes on after a fault and exits with 1 if there was one; inputs that
# did it are kept in build-fuzz/faults. A target without an accepted input tests nothing: a fault too.
set -uo pipefail
build=${1:?usage: scripts/fuzz.sh BUILD [TARGET…]}
shift
root=$(cd "$(dirname "$0")/.." && pwd)
share=${FUZZ_SHARE:-100}
seed=${FUZZ_SEED:-1}

# target, inputs, longest input, folders with seeds (of tests/fuzz/corpus, or from the root)
table='
hist            20000   600  hist
jsonl           20000   800  jsonl
plume           20000   400  plume
awdit-test      20000   200  awdit-test
dbcop           20000   500  dbcop
dbcop-bincode   20000   500  dbcop-bincode
elle            20000   800  elle
cobra           20000   500  cobra
isopredict      20000   500  isopredict
level           10000   800  level
program         10000   900  program /tests/corpus/programs /examples/programs
sql              3000  3100  sql /tests/corpus/apps /examples/audit
wire            15000  1200  wire
engine-check     2000   256  choices
engine-formats   4000   256  choices
engine-level     2000   256  choices
engine-synth      500   256  choices
engine-program   5000   512  choices
engine-explore   1000   256  choices
engine-store     2000   256  choices
engine-predict   1000   128  choices
engine-sql        500   256  choices
engine-audit      100   256  choices'

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=()

# fuzz TARGET INPUTS LENGTH SEEDS…
fuzz() {
  local target=$1 inputs=$(($2 * share / 100)) length=$3 folder seeds=() status=0
  ((inputs > 0)) || inputs=1
  shift 3
  for folder in "$@"; do
    if [[ $folder == /* ]]; then folder=$root$folder; else folder=$root/tests/fuzz/corpus/$folder; fi
    if ! compgen -G "$folder/*" >/dev/null; then echo "no seeds in $folder" && status=1; fi
    seeds+=("$folder")
  done
  mkdir -p "$scratch/$target" "$build/faults"
  # Leaks are looked for once, at the end: libFuzzer would look after each input that PostgreSQL's
  # parser leaves a buffer of, and that takes a hundred times as long as the input.
  local TIMEFORMAT='%R %U'
  { time "$build/tests/fuzz/targets/fuzz_$target" -runs="$inputs" -seed="$seed" -max_len="$length" \
    -len_control=0 -timeout=120 -rss_limit_mb=4096 -detect_leaks=0 -print_final_stats=1 \
    -artifact_prefix="$build/faults/$target-" "$scratch/$target" "${seeds[@]}" \
    >"$scratch/log" 2>&1; } 2>"$scratch/time" || status=$?
  local ran accepted wall cpu
  ran=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/log")
  accepted=$(sed -n 's/^stat::accepted_inputs: *//p' "$scratch/log")
  read -r wall cpu <"$scratch/time"
  printf '%-16s %8s %8s accepted (%3d %%) %8s s %8s s CPU' "$target" "${ran:-?}" "${accepted:-?}" \
    $((${accepted:-0} * 100 / (${ran:-0} ? ${ran:-0} : 1))) "$wall" "$cpu"
  if [[ $status != 0 || -z $ran || $ran -lt $inputs || ${accepted:-0} == 0 ]]; then
    echo '  FAULT'
    tail -n 60 "$scratch/log"
    failed+=("$target")
  else
    echo
  fi
}

while read -r target inputs length seeds; do
  [[ -n $target ]] || continue
  if (($#)) && [[ " $* " != *" $target "* ]]; then continue; fi
  # shellcheck disable=SC2086
  fuzz "$target" "$inputs" "$length" $seeds
done <<<"$table"

# Every target of the build is in the table, and the other way round.
listed=$(awk 'NF {print "fuzz_" $1}' <<<"$table" | sort)
built=$(find "$build/tests/fuzz/targets" -maxdepth 1 -type f -name 'fuzz_*' -printf '%f\n' | sort)
if [[ $listed != "$built" ]]; then
  echo "the table of $0 and the targets of $build differ:"
  diff <(echo "$listed") <(echo "$built")
  failed+=(table)
fi
if ((${#failed[@]})); then
  echo "faults: ${failed[*]}; inputs are in $build/faults"
  exit 1
fi
