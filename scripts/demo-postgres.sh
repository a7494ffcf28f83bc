#!/usr/bin/env bash
# Records the tests of examples/shop on a private PostgreSQL server, predicts what could have gone
# wrong in them, and makes it happen: with a test that fails, and passes after the repair. The server
# lives in a temporary folder, listens on loopback, and is gone at the end.
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

# As one would type it: what has blanks in quotes.
quoted() {
  for word in "$@"; do
    if [[ $word == *[[:space:]]* ]]; then printf " '%s'" "$word"; else printf ' %s' "$word"; fi
  done
}
step() {
  printf '\n$ isoscope%s\n' "$(quoted "$@")"
  "$isoscope" "$@" || true
}
step record --dsn "host=127.0.0.1 port=$port user=shop dbname=postgres" -o run.jsonl -- \
  "$python" -m unittest discover -q -s "$shop" -p 'test_*.py'
step check run.jsonl --level ser
step predict run.jsonl --level pg-rc --sessions transaction
step predict run.jsonl --level pg-rr --sessions transaction

# The lost update happens on the server itself, by the application's own commands: the proxy holds
# their statements until it is their turn. A regression test comes out of it.
dsn="host=127.0.0.1 port=$port user=shop dbname=postgres"
cp -r "$shop" application
step predict run.jsonl --level pg-rc --sessions transaction --race 2 --predicted plan.json --quiet
cd application
alice=alice-test_two_customers_buy_lamps
bob=bob-test_two_customers_buy_lamps
step force "$work/plan.json" --dsn "$dsn" --setup "$bin/psql -qX -f reset.sql" --script "$work/race" \
  --run "$alice=$python customer.py buy 1 3" --run "$bob=$python customer.py buy 1 4"

try() {
  printf '\n$ %s\n' "$*"
  "$@" 2>&1 | grep -E '^(FAIL|OK|FAILED|Ran)|: (reproduced|prevented)' || true
}
export ISOSCOPE=$isoscope
printf '\nthe test that was written, before the repair'
try "$python" "$work/race/isoscope_test_lost_update.py"
printf '\nand after it: shop.py now takes the pieces in one statement that checks the stock itself'
cp repaired/shop.py shop.py
try "$python" "$work/race/isoscope_test_lost_update.py"
