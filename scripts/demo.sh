#!/usr/bin/env bash
# From a program whose test passes to a run that loses money: the walk of docs/predict.md. Then an
# audit of SQL functions.
#     scripts/demo.sh build/isoscope
set -euo pipefail
cd "$(dirname "$0")/.."
isoscope=$(realpath "${1:-build/isoscope}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$PWD/examples" "$work/examples"
cd "$work"

bold=; plain=
if [[ -t 1 ]]; then bold=$'\033[1m' plain=$'\033[0m'; fi
say() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }
# Runs a command as a reader would type it; violations (exit code 1) are what we came to see.
show() {
  printf '$ isoscope %s\n' "$*"
  "$isoscope" "$@" || [[ $? == 1 ]]
}

say "Two deposits into one account:"
cat examples/predict/bank.txn
say "1. One run of it, recorded. All is well:"
show run examples/predict/bank.txn --store serial --seed 1 --trace observed.jsonl
say "2. The recorded history is serializable:"
show check observed.jsonl --level ser
say "3. What could have happened instead on a causally consistent store? Does the program really do it?"
show predict observed.jsonl --level cc --app examples/predict/bank.txn --validate --predicted predicted.jsonl
say "4. Watch it happen:"
show run examples/predict/bank.txn --store replay --history predicted.jsonl --level cc
say "5. Without any run at all: what can snapshot isolation do to these SQL functions?"
sed -n '/^CREATE FUNCTION/,$p' examples/audit/on_call.sql
show audit examples/audit/on_call.sql --level si,ser --advise
say "Done. docs/predict.md and docs/audit.md explain this walk, README.md shows the other commands."
