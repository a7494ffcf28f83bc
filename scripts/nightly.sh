#!/usr/bin/env bash
# Everything that takes too long for each change: the live tests with hundreds of programs, the
# sanitizers over all tests, clang-tidy, the fuzzers, and every benchmark at its smallest size. Goes
# on after a part that fails, prints what each took, and exits with 1 if any failed.
#     scripts/nightly.sh [PART…]      parts are targets of the Makefile; all by default
set -uo pipefail
cd "$(dirname "$0")/.."
# Random SQL programs that explore and a live PostgreSQL are compared on, for each level; that audit
# and explore are, and audit and the server.
export ISOSCOPE_SQL_PROGRAMS=${ISOSCOPE_SQL_PROGRAMS:-300}
# How often the recorder, its application or the server is killed (tests/record/live_kills.py).
export ISOSCOPE_KILLS=${ISOSCOPE_KILLS:-200}
# Random programs on which the texts of pg-rc and pg-rr are held against it, for each level.
export ISOSCOPE_LEVEL_PROGRAMS=${ISOSCOPE_LEVEL_PROGRAMS:-300}
export ISOSCOPE_AUDIT_PROGRAMS=${ISOSCOPE_AUDIT_PROGRAMS:-200}
export ISOSCOPE_AUDIT_LIVE=${ISOSCOPE_AUDIT_LIVE:-300}
# Runs on the server against each proof of a file of the tests.
export ISOSCOPE_FILE_RUNS=${ISOSCOPE_FILE_RUNS:-20}
# Transactions of random clients at each level of a live PostgreSQL (tests/force/live_stress.py), and
# how often each race is forced (tests/force/experiment_test.cpp).
export ISOSCOPE_STRESS_TXNS=${ISOSCOPE_STRESS_TXNS:-1000000}
export ISOSCOPE_FORCE_TIMES=${ISOSCOPE_FORCE_TIMES:-100}
parts=("$@")
((${#parts[@]})) || parts=(test-live sanitize lint fuzz bench-smallest)
failed=0
summary=
TIMEFORMAT='%R %U %S'
for part in "${parts[@]}"; do
  echo "== make $part"
  times=$(mktemp)
  result=ok
  { time make "$part" 2>&1; } 2>"$times" || { result=FAILED && failed=1; }
  summary+=$(awk -v part="$part" -v result="$result" '
    function clock(s) { return sprintf("%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60) }
    { printf "%-16s %-8s %10s %10s", part, result, clock($1), clock($2 + $3) }' "$times")$'\n'
  rm -f "$times"
done
printf '\n%-16s %-8s %10s %10s\n%s' part result wall CPU "$summary"
exit "$failed"
