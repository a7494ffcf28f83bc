#!/usr/bin/env bash
# Installs the Debian packages that isoscope builds with. Quiet and quick when they are there.
# Where they cannot be installed (no apt, or neither root nor sudo) it looks for the libraries
# themselves and names what is missing; it then installs nothing and exits with 2.
#
#     scripts/install-deps.sh            what `make` needs
#     scripts/install-deps.sh test       also what `make test` needs: a PostgreSQL server to start
#     scripts/install-deps.sh demo       also what `make demo-postgres` needs
#     scripts/install-deps.sh format     what `make format` and `make check-format` need
#     scripts/install-deps.sh live       also what `make test-live` needs
#     scripts/install-deps.sh dev        also what `make bench`, `fuzz`, `lint` and `nightly` need
set -euo pipefail
# ${x[@]+"${x[@]}"}: the bash of macOS takes an empty array for an unset variable.

core=(
  cmake g++ make ninja-build python3
  libcadical-dev libcli11-dev libfmt-dev libpg-query-dev libpq-dev libsimdjson-dev libssl-dev libz3-dev nlohmann-json3-dev
  libgtest-dev libgmock-dev libmariadb-dev libtbb-dev libzstd-dev zlib1g-dev
)
test=(postgresql-15)
demo=(postgresql-15 python3-psycopg2)
format=(clang-format)
# A test with the label `live` adds here what it talks to.
live=(chromium cvc5 dpkg-dev fish lintian zsh libopenmpi-dev openmpi-bin python3-psycopg2 python3-sqlalchemy python3-django python3-asyncpg
  libpostgresql-jdbc-java default-jdk-headless mariadb-server-core postgresql-server-dev-15)
dev=(libbenchmark-dev clang clang-format clang-tidy libclang-rt-14-dev)

case ${1:-} in
  '') packages=("${core[@]}") ;;
  format) packages=("${format[@]}") ;;
  demo) packages=("${core[@]}" "${demo[@]}") ;;
  test) packages=("${core[@]}" "${test[@]}") ;;
  live) packages=("${core[@]}" "${test[@]}" ${live[@]+"${live[@]}"}) ;;
  dev) packages=("${core[@]}" "${test[@]}" "${dev[@]}") ;;
  *) echo "usage: $0 [demo|test|format|live|dev]" >&2 && exit 2 ;;
esac

missing=()
if command -v dpkg-query >/dev/null; then
  installed=$(dpkg-query -W -f '${Package} ${Status}\n' "${packages[@]}" 2>/dev/null || true)
  for package in "${packages[@]}"; do
    grep -q "^$package .*ok installed" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || exit 0
fi

as_root=()
if [[ $(id -u) != 0 ]]; then as_root=(sudo); fi
if ! command -v apt-get >/dev/null || { ((${#as_root[@]})) && ! command -v sudo >/dev/null; }; then
  exec "$(dirname "$0")/missing-deps.sh" "${1:-core}" ${missing[@]+"${missing[@]}"}
fi

# The tests start servers of their own: Debian's package must not create or start a cluster.
if [[ " ${missing[*]} " == *" postgresql-15 "* && ! -e /etc/postgresql-common/createcluster.conf ]]; then
  "${as_root[@]}" mkdir -p /etc/postgresql-common
  echo 'create_main_cluster = false' |
    "${as_root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
fi

echo "installing: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -q &&
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "could not install: ${missing[*]}" >&2
  exit 2
fi
