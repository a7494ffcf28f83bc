#!/usr/bin/env python3
"""What real time costs: a generated run with times, checked at a level and at its strict form.

    bench/strict_table.py build/src/cli/isoscope [TXNS]

The store runs serially, so file order is commit order. Commits are ten units apart; a transaction
began when up to SESSIONS others had yet to commit, but not before its session's last one had ended.
"""
import argparse
import json
import os
import random
import resource
import subprocess
import tempfile

import plot

SESSIONS = 20
PAIRS = [("cc", "strict-cc"), ("si", "strong-si"), ("ser", "strict-ser")]


def with_times(source, target):
    rng = random.Random(1)
    ended = {}
    number = 0
    with open(source) as lines, open(target, "w") as out:
        out.write(next(lines))
        for line in lines:
            number += 1
            session = line[line.index('"session":"') + 11:].split('"', 1)[0]
            start = max(ended.get(session, 0) + 1, 10 * (number - rng.randrange(SESSIONS)))
            end = max(start, 10 * number)
            ended[session] = end
            out.write(line.rstrip()[:-1] + f',"start":{start},"end":{end}}}\n')


def seconds(program, path, level):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run([program, "check", path, "--level", level, "--json"], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    verdict = json.loads(ran.stdout)["verdict"]
    return verdict, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the isoscope to measure")
    parser.add_argument("txns", nargs="?", type=int, default=1_000_000, help="transactions of the run (1000000)")
    parser.add_argument("--smallest", action="store_true", help="a thousand transactions")
    args = parser.parse_args()
    program, txns = args.binary, str(1000 if args.smallest else args.txns)
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "plain.jsonl")
        timed = os.path.join(folder, "timed.jsonl")
        subprocess.run([program, "generate", "history", "--level", "ser", "--txns", txns, "--sessions",
                        str(SESSIONS), "--keys", "10000", "--seed", "1", "--to", "jsonl", "-o", plain], check=True)
        with_times(plain, timed)
        print("| level | verdict | CPU s | strict form | verdict | CPU s | ratio |")
        print("|---|---|---|---|---|---|---|")
        for level, strict in PAIRS:
            verdict, base = seconds(program, timed, level)
            strict_verdict, cost = seconds(program, timed, strict)
            print(f"| {level} | {verdict} | {base:.1f} | {strict} | {strict_verdict} | {cost:.1f} | {cost / base:.2f} |",
                  flush=True)


if __name__ == "__main__":
    plot.beside(main)
