#!/usr/bin/env python3
"""The tables of docs/workloads.md, from build/bench/bench_workload.

    bench/workload_table.py build/bench/bench_workload [--smallest]

The first has the sizes of serial traces beside those of [GengBlanasBondWang-PLDI'24], Table 3; the
second how often a weak run fails an assertion and is unserializable, beside their Tables 6 and 7
(columns MonkeyDB). With --smallest, workloads of four transactions a session only.
"""
import csv
import io
import subprocess
import sys

import plot

# reads, writes, committed transactions, read-only ones; by workload and transactions a session
SIZES = {
    ("smallbank", "4"): (669.7, 14.7, 11.0, 3.5), ("smallbank", "8"): (1271.3, 30.5, 20.3, 6.6),
    ("voter", "4"): (763.0, 6.0, 12.0, 11.0), ("voter", "8"): (919.0, 6.0, 24.0, 23.0),
    ("tpcc", "4"): (3297.3, 763.0, 11.9, 0.9), ("tpcc", "8"): (7025.6, 1502.4, 23.8, 1.7),
    ("wikipedia", "4"): (1067.7, 55.1, 9.9, 8.8), ("wikipedia", "8"): (2677.1, 111.1, 22.8, 20.6),
}
# percent of runs that failed, that were unserializable; also by level
SHARES = {
    ("smallbank", "4", "cc"): (70, 98), ("smallbank", "8", "cc"): (84, 100),
    ("voter", "4", "cc"): (70, 80), ("voter", "8", "cc"): (56, 80),
    ("tpcc", "4", "cc"): (98, 100), ("tpcc", "8", "cc"): (100, 100),
    ("wikipedia", "4", "cc"): (0, 11), ("wikipedia", "8", "cc"): (0, 19),
    ("smallbank", "4", "rc"): (100, 100), ("smallbank", "8", "rc"): (100, 100),
    ("voter", "4", "rc"): (89, 100), ("voter", "8", "rc"): (95, 100),
    ("tpcc", "4", "rc"): (100, 100), ("tpcc", "8", "rc"): (100, 100),
    ("wikipedia", "4", "rc"): (54, 54), ("wikipedia", "8", "rc"): (89, 89),
}


SMALLEST = "--smallest" in sys.argv


def run(kind):
    """Rows of the benchmarks of one kind: CSV wants the same counters in all."""
    done = subprocess.run([sys.argv[1], "--benchmark_format=csv", "--benchmark_min_time=0.01",
                           f"--benchmark_filter=^{kind}/" + ("[^/]*/4" if SMALLEST else "")],
                          text=True, capture_output=True, check=True)
    return csv.DictReader(io.StringIO(done.stdout[done.stdout.index("name,iterations"):]))


def numbers(row, names):
    return [float(row[name]) for name in names]


def main():
    print("| workload | reads | writes | committed (read-only) | published |\n|---|---|---|---|---|")
    for row in run("Serial"):
        workload, txns = row["name"].split("/")[1:3]
        reads, writes, committed, read_only = numbers(row, ["reads", "writes", "committed", "read_only"])
        published = "-"
        if (workload, txns) in SIZES:
            r, w, c, o = SIZES[workload, txns]
            published = f"{r:,.0f} / {w:,.0f} / {c:.1f} ({o:.1f})"
        print(f"| {workload} 3x{txns} | {reads:,.0f} | {writes:,.0f} | {committed:.1f} ({read_only:.1f}) "
              f"| {published} |")

    print("\n| workload | `cc`: failed / unserializable | published | `rc` | published |"
          "\n|---|---|---|---|---|")
    cells = {}
    for row in run("Weak"):
        workload, txns, level = row["name"].split("/")[1:4]
        failed, unserializable = numbers(row, ["failed", "unserializable"])
        shares = SHARES.get((workload.removesuffix("+audit"), txns, level))
        cells.setdefault((workload, txns), []).extend([
            f"{100 * failed:.0f}% / {100 * unserializable:.0f}%",
            f"{shares[0]}% / {shares[1]}%" if shares else "-"])
    for (workload, txns), row in cells.items():
        print(f"| {workload} 3x{txns} | {' | '.join(row)} |")


plot.beside(main)
