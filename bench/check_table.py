#!/usr/bin/env python3
"""`isoscope check` beside the best checkers known: the same kind of history, one row a task.

    bench/check_table.py build/isoscope
    bench/check_table.py build/isoscope --only si,ser
    bench/check_table.py build/isoscope --peer 'awdit=awdit check -i {level} -f plume {file}'

Each row generates the history that a published or measured figure is about (transactions,
operations, sessions, keys, distribution, share of reads) with `isoscope generate`, checks it, and
prints CPU seconds and peak memory of the whole program, parsing and confirmation included, beside
the anchor and the ratio (above 1: isoscope is better). Anchors were measured on a machine of two
shared cores with AWDIT (rc, ra, cc) and VeriStrong (si, ser); `>` means that the tool was stopped
at its time limit. Two rows stand for histories that cannot be generated exactly; their names say so.

--peer NAME=COMMAND runs any checker that you have installed on the very same files and prints its
figures and the ratio too; {file}, {level} and {LEVEL} are replaced. It reads the plume format.
Commands of the tools that we know: AWDIT as above; PolySI `java -jar PolySI.jar audit -t text {file}`.

Histories are written in commit order, and once more grouped by session (`--grouped`), as
databases log them.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

import plot
from batch import Run

# name, level, anchor CPU s, anchor MB, stopped at its limit?, generator options
TASKS = [
    ("rc 8M operations", "rc", 7.5, 715, False, "--level cc -s 50 -t 1000000 --ops 8 -k 10000 --dist zipf"),
    ("ra 8M operations", "ra", 11.7, 1390, False, "--level cc -s 50 -t 1000000 --ops 8 -k 10000 --dist zipf"),
    ("cc 8M operations", "cc", 130, 16050, False, "--level cc -s 50 -t 1000000 --ops 8 -k 10000 --dist zipf"),
    ("cc 0.8M operations", "cc", 4.5, 1260, False, "--level cc -s 50 -t 100000 --ops 8 -k 10000 --dist zipf"),
    ("si 10k, 50 % reads", "si", 12.5, 699, False, "--level si -s 25 -t 10000 --ops 8 -k 10000"),
    ("ser 10k, 50 % reads", "ser", 9.4, 695, False, "--level ser -s 25 -t 10000 --ops 8 -k 10000"),
    ("si 10k, 30 % reads", "si", 35.7, 818, False, "--level si -s 25 -t 10000 --ops 8 -k 10000 -r 0.3"),
    ("ser 10k, 30 % reads", "ser", 27.0, 751, False, "--level ser -s 25 -t 10000 --ops 8 -k 10000 -r 0.3"),
    ("si like TPC-C 13.9k", "si", 60, 3100, True, "--level si -s 25 -t 13900 --ops 27 -k 5000 --dist zipf --shape rmw"),
    ("ser like TPC-C 13.9k", "ser", 21, 1080, False, "--level ser -s 25 -t 13900 --ops 27 -k 5000 --dist zipf --shape rmw"),
    ("si zipf 3k", "si", 113, 4900, True, "--level si -s 25 -t 3000 --ops 8 -k 3000 --dist zipf"),
    ("ser 30k, 90 % reads", "ser", 6.7, 1800, False, "--level ser -s 25 -t 30000 --ops 8 -k 30000 -r 0.9"),
    ("ser 100k, 90 % reads", "ser", None, None, False, "--level ser -s 50 -t 100000 --ops 8 -k 100000 -r 0.9"),
    ("si 100k, 90 % reads", "si", None, None, False, "--level si -s 50 -t 100000 --ops 8 -k 100000 -r 0.9"),
    ("psi 100k, 90 % reads", "psi", None, None, False, "--level psi -s 50 -t 100000 --ops 8 -k 100000 -r 0.9"),
    ("pc 100k, 90 % reads", "pc", None, None, False, "--level pc -s 50 -t 100000 --ops 8 -k 100000 -r 0.9"),
    ("psi 100k, 50 % reads, a long fork", "psi", None, None, False,
     "--level si -s 50 -t 100000 --ops 8 -k 20000 --inject long-fork --seed 7"),
    ("psi 10k, 50 % reads", "psi", None, None, False, "--level psi -s 25 -t 10000 --ops 8 -k 10000"),
    ("pc 10k, 50 % reads", "pc", None, None, False, "--level pc -s 25 -t 10000 --ops 8 -k 10000"),
]


def group_by_session(path):
    """Sorts the lines of a plume file by session, keeping the order within each."""
    sort = ["sort", "--stable", "--field-separator=,", "--key=3,3n", path, "-o", path]
    subprocess.run(sort, check=True, env={**os.environ, "LC_ALL": "C"})


def ratio(anchor, measured, stopped):
    if anchor is None:
        return "-"
    return f"{'>' if stopped else ''}{anchor / max(measured, 0.01):.0f}x"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("isoscope")
    parser.add_argument("--only", default="", help="levels, separated by commas")
    parser.add_argument("--grouped", action="store_true", help="group the lines of a file by session")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--smallest", action="store_true",
                        help="1000 transactions in every row: does it run? The anchors mean nothing then")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    args = parser.parse_args()
    binary = os.path.abspath(args.isoscope)
    wanted = set(filter(None, args.only.split(",")))
    peers = [peer.split("=", 1) for peer in args.peer]

    print(f"{'task':<36}{'verdict':<12}{'CPU s':>8}{'MB':>7}{'anchor s':>10}{'anchor MB':>11}{'time':>8}{'memory':>8}"
          + "".join(f"{name + ' s':>12}{'ratio':>8}" for name, _ in peers))
    bad = False
    with tempfile.TemporaryDirectory() as work:
        made = (None, None)
        for name, level, seconds, megabytes, stopped, options in TASKS:
            if wanted and level not in wanted:
                continue
            path = os.path.join(work, "history.txt")
            if args.smallest:
                options = re.sub(r"-t \d+", "-t 1000", options)
            if made != (options, args.grouped):
                command = [binary, "generate", "history", *options.split(), "--to", "plume", "-o", path]
                subprocess.run(command, check=True)
                if args.grouped:
                    group_by_session(path)
                made = (options, args.grouped)
            limit = str(int(args.timeout))
            run = Run([binary, "check", path, "--level", level, "--quiet", "--timeout", limit], args.timeout + 30)
            verdict = {0: "consistent", 1: "violated", 3: "unknown"}.get(run.code, f"exit {run.code}")
            bad |= run.code not in (0, 3)
            peak = run.peak_bytes / 1e6
            row = f"{name:<36}{verdict:<12}{run.cpu:>8.2f}{peak:>7.0f}"
            row += f"{('>' if stopped else '') + str(seconds) if seconds else '-':>10}{megabytes or '-':>11}"
            row += f"{ratio(seconds, run.cpu, stopped):>8}{ratio(megabytes, peak, stopped):>8}"
            for _, template in peers:
                words = [w.format(file=path, level=level, LEVEL=level.upper()) for w in shlex.split(template)]
                peer = Run(words, args.timeout)
                row += f"{peer.cpu:>12.2f}{peer.cpu / max(run.cpu, 0.01):>7.0f}x"
            print(row, flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    plot.beside(main)
