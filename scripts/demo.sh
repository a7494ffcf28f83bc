#!/usr/bin/env bash
# A walk through what isoscope can do today, on the examples of this project.
#     scripts/demo.sh build/isoscope
set -euo pipefail
cd "$(dirname "$0")/.."
isoscope=${1:-build/isoscope}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

bold=; plain=
if [[ -t 1 ]]; then bold=$'\033[1m' plain=$'\033[0m'; fi
say() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }
# Runs a command as a reader would type it; violations (exit code 1) are what we came to see.
show() {
  printf '$ isoscope %s\n' "${*//$work\//}"
  "$isoscope" "$@" || [[ $? == 1 ]]
}

say "1. Two withdrawals from one account, as recorded:"
cat examples/lost-update.hist
say "   Which isolation levels allow this run?"
show check examples/lost-update.hist --level rc,ra,cc,pc,psi,si,ser --dot "$work/lost-update.dot"
say "2. What does snapshot isolation not promise?"
show check examples/write-skew.hist --level si,ser
say "3. A level is a text that you can read, and write:"
show levels cc@co
show check examples/long-fork.hist --spec examples/no-long-fork.level --level no-long-fork
say "4. A thousand transactions from a store at snapshot isolation, with one anomaly hidden inside:"
show generate history --level si --txns 1000 --keys 200 --inject long-fork --seed 7 -o "$work/run.jsonl"
show check "$work/run.jsonl" --level cc,psi,si
say "5. What does causal consistency allow that prefix consistency forbids?"
show synth --allow cc --forbid pc
say "Done. README.md goes on from here."
