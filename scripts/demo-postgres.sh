#!/usr/bin/env bash
# Records the tests of examples/shop on a private PostgreSQL server and predicts what could have gone
# wrong in them. The server lives in a temporary folder, listens on loopback, and is gone at the end.
#     scripts/demo-postgres.sh build/isoscope
set -euo pipefail
isoscope=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shop=$(cd "$(dirname "$0")/../examples/shop" && pwd)
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
if [[ -z $bin ]]; then echo "PostgreSQL is not installed" >&2 && exit 2; fi
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import psycopg2' 2>/dev/null; then python=$candidate && break; fi
done
if [[ -z $python ]]; then echo "psycopg2 is not installed" >&2 && exit 2; fi
export PYTHONDONTWRITEBYTECODE=1

work=$(mktemp -d)
as_server=() # PostgreSQL refuses to run as root
if [[ $(id -u) == 0 ]]; then
  chown nobody "$work"
  as_server=(setpriv --reuid nobody --clear-groups)
fi
server=
cleanup() {
  if [[ -n $server ]]; then kill -INT "$server" 2>/dev/null && wait "$server" || true; fi
  rm -rf "$work"
}
trap cleanup EXIT

port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cd "$work"
"${as_server[@]}" "$bin/initdb" -D data -U shop -A trust --no-sync >/dev/null
"${as_server[@]}" "$bin/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 \
  -c unix_socket_directories="$work" -c wal_level=logical -c fsync=off >server.log 2>&1 &
server=$!
export PGHOST=127.0.0.1 PGPORT=$port PGUSER=shop PGDATABASE=postgres
for _ in $(seq 100); do "$bin/pg_isready" -q && break || sleep 0.1; done
"$bin/psql" -qX -f "$shop/schema.sql"

step() {
  printf '\n$ isoscope %s\n' "$*"
  "$isoscope" "$@" || true
}
step record --dsn "host=127.0.0.1 port=$port user=shop dbname=postgres" -o run.jsonl -- \
  "$python" -m unittest discover -q -s "$shop" -p 'test_*.py'
step check run.jsonl --level ser
step predict run.jsonl --level pg-rc --sessions transaction
step predict run.jsonl --level pg-rr --sessions transaction

# The race happens on the server itself, and no longer after the repair.
dsn="host=127.0.0.1 port=$port user=shop dbname=postgres"
step force "$shop/buy.spec" --dsn "$dsn" --times 10
step force "$shop/buy_safely.spec" --dsn "$dsn" --times 3
