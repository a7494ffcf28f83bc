#!/usr/bin/env python3
"""What PostgreSQL's levels cost on recorded runs: statements, locks, times and commit numbers.

    bench/server_table.py build/isoscope [TXNS]

A transaction reads a row, updates another one and reads a third FOR UPDATE, of 100,000 rows; commit
numbers tell the order of versions, as in what `isoscope record` writes. The run is serial, so every
level allows it: the expensive answer.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile

SESSIONS = 50
LEVELS = ("pg-rc", "pg-rr", "pg-ser")


def write_run(path, txns):
    rng = random.Random(1)
    rows = max(10, txns // 10)
    latest = {}
    with open(path, "w") as out:
        out.write('{"format":"isoscope-history/1","source":"generated","conflicts":"row"}\n')
        for number in range(1, txns + 1):
            read, written, locked = (rng.randrange(rows) for _ in range(3))
            statements = [
                [["r", f"t[{read}].v", latest.get(read, 0)]],
                [["r", f"t[{written}].v", latest.get(written, 0)], ["w", f"t[{written}].v", number]],
            ]
            latest[written] = number
            statements.append([["l", f"t[{locked}]"], ["r", f"t[{locked}].v", latest.get(locked, 0)]])
            out.write(json.dumps({"session": f"s{number % SESSIONS}", "id": f"T{number}", "status": "committed",
                                  "ops": statements, "start": 10 * number, "end": 10 * number + 25,
                                  "commit": number}, separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the isoscope to measure")
    parser.add_argument("txns", nargs="?", type=int, default=1_000_000, help="transactions of the run (1000000)")
    parser.add_argument("--smallest", action="store_true", help="a thousand transactions")
    args = parser.parse_args()
    txns = 1000 if args.smallest else args.txns
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.jsonl")
        write_run(path, txns)
        print("| level | verdict | CPU s | MB |")
        print("|---|---|---|---|")
        for level in LEVELS:
            # Not --json, which has the whole witness: a snapshot for each statement.
            with subprocess.Popen([args.binary, "check", path, "--level", level], stdout=subprocess.PIPE,
                                  text=True) as ran:
                verdict = ran.stdout.read().split()[1]
                _, _, used = os.wait4(ran.pid, 0)
                ran.returncode = 0
            print(f"| {level} | {verdict} | {used.ru_utime + used.ru_stime:.1f} | {used.ru_maxrss // 1024} |",
                  flush=True)


if __name__ == "__main__":
    main()
