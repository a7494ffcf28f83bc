#!/usr/bin/env python3
"""`isoscope explore`: speed and memory, beside the tool of [BouajjaniEneaRoman-PLDI'23].

    bench/explore_table.py build/isoscope programs FILE.txn …     # one row a program and level
    bench/explore_table.py build/isoscope algorithms FILE.txn …   # the paper's Fig. 14
    bench/explore_table.py build/isoscope scale                   # its scaling experiments

programs     histories, end states a CPU second and peak memory of the whole process.
algorithms   the same program explored through different levels: CC; RA+CC, RC+CC and true+CC walk
             through the first and filter by the second; CC+SI and CC+SER likewise, SI and SER are
             ours by whole transactions; DFS(CC) has no reduction.
scale        programs of `isoscope generate program`: 1 to 5 sessions of 3 transactions, then 3
             sessions of 1 to 5. `>` means that the time was over: so many were found until then.

The original explores 1.5 to 20 end states a second in 0.4 to 1.4 GB; the last columns of the first
table are the ratio to 20 a second, and to 0.4 GB. Times are CPU seconds, so other work on the
machine hardly matters; the time limit is of the clock.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import plot
from check_scale import Run

ORIGINAL_PER_SECOND = 20
ORIGINAL_BYTES = 400e6
ALGORITHMS = [
    ("CC", "cc", []),
    ("RA+CC", "cc", ["--base", "ra"]),
    ("RC+CC", "cc", ["--base", "rc"]),
    ("true+CC", "cc", ["--base", "true"]),
    ("CC+SI", "si", ["--base", "cc"]),
    ("CC+SER", "ser", ["--base", "cc"]),
    ("SI", "si", []),
    ("SER", "ser", []),
    ("DFS(CC)", "cc", ["--algorithm", "dfs"]),
]


class Explored:
    """One run of `isoscope explore`: its counts, and what it used."""

    def __init__(self, binary, program, level, options, limit):
        command = [binary, "explore", program, "--level", level, "--json", "--violations", "0",
                   "--timeout", str(limit), *options]
        run = Run(command, limit + 30)
        if run.code not in (0, 1, 3):
            sys.exit(f"{' '.join(command)}: exit code {run.code}\n{run.errors}")
        answer = json.loads(run.output)
        self.histories = answer["histories"]
        self.end_states = answer["end_states"]
        # A violation and the end of the time may come together.
        self.is_complete = run.code != 3 and run.wall < limit
        self.cpu = run.cpu
        self.peak = run.peak_bytes

    def count(self, number):
        return f"{'' if self.is_complete else '>'}{number}"


def programs(binary, files, levels, limit):
    print(f"{'program':<28}{'level':<6}{'histories':>12}{'end states':>12}{'CPU s':>8}{'states/s':>10}{'MB':>6}"
          f"{'speed':>9}{'memory':>8}")
    for file in files:
        for level in levels:
            run = Explored(binary, file, level, [], limit)
            # What takes less than this is the start of the program.
            rate = run.end_states / run.cpu if run.cpu > 0.05 else None
            print(f"{pathlib.Path(file).stem:<28}{level:<6}{run.count(run.histories):>12}"
                  f"{run.count(run.end_states):>12}{run.cpu:>8.2f}"
                  f"{f'{rate:.0f}' if rate else '-':>10}{run.peak / 1e6:>6.0f}"
                  f"{f'{rate / ORIGINAL_PER_SECOND:.0f}x' if rate else '-':>9}"
                  f"{ORIGINAL_BYTES / run.peak:>7.0f}x", flush=True)


def algorithms(binary, files, limit):
    print(f"{'program':<28}{'algorithm':<10}{'histories':>12}{'end states':>12}{'CPU s':>8}{'MB':>6}")
    for file in files:
        for name, level, options in ALGORITHMS:
            run = Explored(binary, file, level, options, limit)
            print(f"{pathlib.Path(file).stem:<28}{name:<10}{run.count(run.histories):>12}"
                  f"{run.count(run.end_states):>12}{run.cpu:>8.2f}{run.peak / 1e6:>6.0f}", flush=True)


def scale(binary, workloads, sizes, levels, seed, limit):
    print(f"{'workload':<16}{'size':<6}{'level':<6}{'histories':>12}{'CPU s':>8}{'states/s':>10}{'MB':>6}")
    with tempfile.TemporaryDirectory() as work:
        for workload in workloads:
            for sessions, txns in sizes:
                path = os.path.join(work, f"{workload}-{sessions}x{txns}.txn")
                subprocess.run([binary, "generate", "program", workload, "-s", str(sessions), "-t", str(txns),
                                "--seed", str(seed), "-o", path], check=True)
                for level in levels:
                    run = Explored(binary, path, level, [], limit)
                    rate = f"{run.end_states / run.cpu:.0f}" if run.cpu > 0.05 else "-"
                    print(f"{workload:<16}{f'{sessions}x{txns}':<6}{level:<6}{run.count(run.histories):>12}"
                          f"{run.cpu:>8.2f}{rate:>10}{run.peak / 1e6:>6.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("isoscope")
    parser.add_argument("table", choices=["programs", "algorithms", "scale"])
    parser.add_argument("files", nargs="*", help="programs; those of examples/ if there are none")
    parser.add_argument("--levels", default="", help="separated by commas")
    parser.add_argument("--workloads", default="tpcc,wikipedia", help="of scale, separated by commas")
    parser.add_argument("--seed", type=int, default=1, help="of scale")
    parser.add_argument("--smallest", action="store_true", help="the first program, or the first size of scale")
    parser.add_argument("--timeout", type=float, default=0, help="seconds; 30, or 60 for scale")
    args = parser.parse_args()
    binary = os.path.abspath(args.isoscope)
    examples = pathlib.Path(__file__).resolve().parent.parent / "examples/programs"
    files = args.files or sorted(map(str, examples.glob("*.txn")))
    if args.smallest:
        files = files[:1]
    limit = args.timeout or (60 if args.table == "scale" else 30)
    if args.table == "programs":
        programs(binary, files, (args.levels or "rc,ra,cc,pc,si,ser").split(","), limit)
    elif args.table == "algorithms":
        algorithms(binary, files, limit)
    else:
        sizes = [(s, 3) for s in range(1, 6)] + [(3, t) for t in (1, 2, 4, 5)]
        scale(binary, args.workloads.split(","), sizes[:1] if args.smallest else sizes,
              (args.levels or "cc,si,ser").split(","), args.seed, limit)


if __name__ == "__main__":
    plot.beside(main)
