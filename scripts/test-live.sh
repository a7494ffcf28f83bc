#!/usr/bin/env bash
# Runs the tests with the label `live` (those that talk to programs beside ours) and counts them.
# A live test that is skipped has tested nothing, so it counts as a failure.
#     scripts/test-live.sh build
set -euo pipefail
build=$1
registered=$(ctest --test-dir "$build" -L '^live$' -N | sed -n 's/^Total Tests: //p')
if [[ $registered == 0 ]]; then
  echo "live tests: none is registered, so none ran"
  exit 0
fi
results=$(mktemp)
trap 'rm -f "$results"' EXIT
status=0
ctest --test-dir "$build" -L '^live$' --output-on-failure --output-junit "$results" || status=$?
skipped=$(grep -c '<skipped' "$results" || true)
echo "live tests: $registered registered, $((registered - skipped)) ran, $skipped skipped"
[[ $status == 0 && $skipped == 0 ]]
