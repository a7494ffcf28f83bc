#!/usr/bin/env python3
"""`isoscope explore`: speed and memory, beside the tool of [BouajjaniEneaRoman-PLDI'23].

    bench/explore_table.py build/isoscope programs FILE.txn …     # one row a program and level
    bench/explore_table.py build/isoscope algorithms FILE.txn …   # the paper's Fig. 14
    bench/explore_table.py build/isoscope scale                   # its scaling experiments
    bench/explore_table.py build/isoscope ratios                  # strong levels, psi and scans

programs     histories, end states a CPU second and peak memory of the whole process.
algorithms   the same program explored through different levels: CC; RA+CC, RC+CC and true+CC walk
             through the first and filter by the second; CC+SI and CC+SER likewise, SI and SER are
             ours by whole transactions; DFS(CC) has no reduction.
scale        programs of `isoscope generate program`: 1 to 5 sessions of 3 transactions, then 3
             sessions of 1 to 5. `>` means that the time was over: so many were found until then.
ratios       two explorations each, one after the other, the best of several rounds: ser and si
             beside the way in which they were explored before (`--algorithm txn`), psi beside si,
             table scans beside point access. CPU seconds of the whole process, end states a
             second, and both ratios; the aim is about the rate, for psi about the time. `-`: one of
             them was stopped by the time limit, so its time says nothing.

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

import batch
import plot

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


class Ratio:
    """Two explorations of a generated program: options of `generate`, level, options of `explore`."""

    def __init__(self, workload, size, seed, names, measured, beside, aim):
        self.workload, self.size, self.seed, self.names = workload, size, seed, names
        self.measured, self.beside, self.aim = measured, beside, aim  # "rate 20", "time 3"


POINT = ["--access", "point"]
TXN = ["--algorithm", "txn"]
# Serializability and snapshots beside the former way; psi beside si; scans beside point access.
RATIOS = (
    [Ratio(workload, size, seed, (level, f"{level} txn"), (access, level, []), (access, level, TXN), aim)
     for workload, size, seed, access in (("tpcc", "4x4", 1, POINT), ("wikipedia", "4x4", 13, []),
                                          ("wikipedia", "4x4", 15, []), ("smallbank", "5x3", 1, POINT))
     for level, aim in (("ser", "rate 20"), ("si", "rate 10"))]
    + [Ratio(workload, size, seed, ("psi", "si"), (access, "psi", []), (access, "si", []), "time 3")
       for workload, size, seed, access in (
           ("smallbank", "4x4", 1, POINT), ("smallbank", "5x3", 1, POINT), ("smallbank", "3x4", 1, []),
           ("tpcc", "4x3", 1, POINT), ("tpcc", "3x3", 1, []), ("tpcc", "3x4", 1, POINT),
           ("courseware", "4x3", 1, []), ("wikipedia", "3x3", 13, []))]
    + [Ratio("tpcc", size, 1, (f"{level} scan", "point"), ([], level, []), (POINT, level, []), "rate 0.2")
       for size in ("3x3", "4x3") for level in ("cc", "psi", "si", "ser")])


class Explored:
    """One run of `isoscope explore`: its counts, and what it used."""

    def __init__(self, run, limit):
        answer = json.loads(run.output)
        self.histories = answer["histories"]
        self.end_states = answer["end_states"]
        # A violation and the end of the time may come together.
        self.is_complete = run.code != 3 and run.wall < limit
        self.cpu = run.cpu
        self.peak = run.peak_bytes

    def count(self, number):
        return f"{'' if self.is_complete else '>'}{number}"

    def rate(self):
        # What takes less than this is the start of the program.
        return self.end_states / self.cpu if self.cpu > 0.03 else None


def explored(args, cases, limit):
    """An Explored for each (program, level, options)."""
    commands = [[args.binary, "explore", program, "--level", level, "--json", "--violations", "0",
                 "--timeout", limit, *options] for program, level, options in cases]
    for command, run in zip(commands, batch.run_all(commands, args.mpirun, limit + 30)):
        if run.code not in (0, 1, 3):
            sys.exit(f"{' '.join(map(str, command))}: exit code {run.code}\n{run.errors}")
        yield Explored(run, limit)


def programs(args, files, levels, limit):
    print(f"{'program':<28}{'level':<6}{'histories':>12}{'end states':>12}{'CPU s':>8}{'states/s':>10}{'MB':>6}"
          f"{'speed':>9}{'memory':>8}")
    cases = [(file, level, []) for file in files for level in levels]
    for (file, level, _), run in zip(cases, explored(args, cases, limit)):
        rate = run.rate()
        print(f"{pathlib.Path(file).stem:<28}{level:<6}{run.count(run.histories):>12}"
              f"{run.count(run.end_states):>12}{run.cpu:>8.2f}"
              f"{f'{rate:.0f}' if rate else '-':>10}{run.peak / 1e6:>6.0f}"
              f"{f'{rate / ORIGINAL_PER_SECOND:.0f}x' if rate else '-':>9}"
              f"{ORIGINAL_BYTES / run.peak:>7.0f}x", flush=True)


def algorithms(args, files, limit):
    print(f"{'program':<28}{'algorithm':<10}{'histories':>12}{'end states':>12}{'CPU s':>8}{'MB':>6}")
    cases = [(file, level, options) for file in files for _, level, options in ALGORITHMS]
    names = [name for _ in files for name, _, _ in ALGORITHMS]
    for name, (file, _, _), run in zip(names, cases, explored(args, cases, limit)):
        print(f"{pathlib.Path(file).stem:<28}{name:<10}{run.count(run.histories):>12}"
              f"{run.count(run.end_states):>12}{run.cpu:>8.2f}{run.peak / 1e6:>6.0f}", flush=True)


def generate(args, work, workload, size, seed, *options):
    path = os.path.join(work, f"{workload}-{size}-{seed}{''.join(options)}.txn")
    sessions, txns = size.split("x")
    subprocess.run([args.binary, "generate", "program", workload, "-s", sessions, "-t", txns,
                    "--seed", str(seed), *options, "-o", path], check=True)
    return path


def scale(args, sizes, levels, limit):
    print(f"{'workload':<16}{'size':<6}{'level':<6}{'histories':>12}{'CPU s':>8}{'states/s':>10}{'MB':>6}")
    with tempfile.TemporaryDirectory() as work:
        rows = [(workload, size, level) for workload in args.workloads.split(",") for size in sizes
                for level in levels]
        cases = [(generate(args, work, workload, size, args.seed), level, [])
                 for workload, size, level in rows]
        for (workload, size, level), run in zip(rows, explored(args, cases, limit)):
            print(f"{workload:<16}{size:<6}{level:<6}{run.count(run.histories):>12}"
                  f"{run.cpu:>8.2f}{f'{run.rate():.0f}' if run.rate() else '-':>10}{run.peak / 1e6:>6.0f}",
                  flush=True)


def best_of(runs):
    """The one that took least; of those that were stopped, the fastest."""
    return min(runs, key=lambda run: (not run.is_complete, run.cpu if run.is_complete else -(run.rate() or 0)))


def ratios(args, limit, is_smallest):
    """Each row is two explorations, one after the other, in rounds: what is measured, and beside what."""
    print(f"{'program':<26}{'measured':<10}{'beside':<9}{'histories':>20}{'CPU s':>7}{'CPU s':>7}{'time':>7}"
          f"{'states/s':>10}{'states/s':>10}{'rate':>8}  aim")
    with tempfile.TemporaryDirectory() as work:
        rows = [row for row in RATIOS if row.names[0].startswith(args.only)]
        rows = [row for row in rows if row.names[0] == "psi"][:2] if is_smallest else rows
        cases = []
        for row in rows:
            for options, level, extra in (row.measured, row.beside):
                path = generate(args, work, row.workload, row.size, row.seed, *options)
                cases.append((path, level, extra))
        for i, row in enumerate(rows):
            pair = cases[2 * i:2 * i + 2]
            runs = list(explored(args, pair * (1 if is_smallest else args.rounds), limit))
            one, other = best_of(runs[0::2]), best_of(runs[1::2])
            is_complete = one.is_complete and other.is_complete
            ratio = f"{one.rate() / other.rate():.2f}x" if one.rate() and other.rate() else "-"
            access = "point" if POINT[0] in row.measured[0] else "scan"
            counts = f"{one.count(one.histories)} {other.count(other.histories)}"
            print(f"{f'{row.workload} {row.size} {access} {row.seed}':<26}{row.names[0]:<10}{row.names[1]:<9}"
                  f"{counts:>20}{one.cpu:>7.2f}{other.cpu:>7.2f}"
                  f"{f'{one.cpu / other.cpu:.2f}x' if is_complete else '-':>7}"
                  f"{f'{one.rate():.0f}' if one.rate() else '-':>10}"
                  f"{f'{other.rate():.0f}' if other.rate() else '-':>10}{ratio:>8}  {row.aim}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("isoscope")
    parser.add_argument("table", choices=["programs", "algorithms", "scale", "ratios"])
    parser.add_argument("files", nargs="*", help="programs; those of examples/ if there are none")
    parser.add_argument("--levels", default="", help="separated by commas")
    parser.add_argument("--workloads", default="tpcc,wikipedia", help="of scale, separated by commas")
    parser.add_argument("--seed", type=int, default=1, help="of scale")
    parser.add_argument("--smallest", action="store_true", help="the first program, or the first size of scale")
    parser.add_argument("--timeout", type=float, default=0, help="seconds; 30, 60 for scale, 10 for ratios")
    parser.add_argument("--rounds", type=int, default=3, help="of ratios: the best of so many counts")
    parser.add_argument("--only", default="", help="of ratios: rows whose measured level begins with this")
    batch.add_option(parser)
    args = parser.parse_args()
    args.binary = os.path.abspath(args.isoscope)
    examples = pathlib.Path(__file__).resolve().parent.parent / "examples/programs"
    files = args.files or sorted(map(str, examples.glob("*.txn")))
    if args.smallest:
        files = files[:1]
    limit = args.timeout or {"scale": 60, "ratios": 10}.get(args.table, 30)
    if args.table == "programs":
        programs(args, files, (args.levels or "rc,ra,cc,pc,si,ser").split(","), limit)
    elif args.table == "algorithms":
        algorithms(args, files, limit)
    elif args.table == "ratios":
        ratios(args, limit, args.smallest)
    else:
        sizes = [f"{s}x3" for s in range(1, 6)] + [f"3x{t}" for t in (1, 2, 4, 5)]
        scale(args, sizes[:1] if args.smallest else sizes, (args.levels or "cc,si,ser").split(","), limit)


if __name__ == "__main__":
    plot.beside(main)
