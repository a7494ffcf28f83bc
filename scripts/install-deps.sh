#!/usr/bin/env bash
# Installs the Debian packages that isoscope builds with. Quiet and quick when they are there;
# uses sudo only when not root.
#
#     scripts/install-deps.sh          what `make` and `make test` need
#     scripts/install-deps.sh dev      also what `make bench`, `fuzz`, `format` and `lint` need
set -euo pipefail

packages=(
  cmake g++ make ninja-build python3-minimal
  libcadical-dev libcli11-dev libfmt-dev libpg-query-dev libsimdjson-dev libz3-dev nlohmann-json3-dev
  libgtest-dev libgmock-dev libtbb-dev
)
if [[ ${1:-} == dev ]]; then
  packages+=(libbenchmark-dev clang clang-format clang-tidy libclang-rt-14-dev)
fi

missing=()
for package in "${packages[@]}"; do
  [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *'ok installed' ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if [[ $(id -u) != 0 ]]; then as_root=(sudo); fi
echo "installing: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -q &&
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
