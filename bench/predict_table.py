#!/usr/bin/env python3
"""How predict grows: the table of docs/PERFORMANCE.md.

    bench/predict_table.py build/isoscope [--timeout 20]

One serial trace (seed 1) for each workload and size; predict at cc, exact and relaxed. Seconds and
memory are those of the whole process, reading the trace included.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import plot

WORKLOADS = ("smallbank", "voter", "tpcc", "wikipedia")
SIZES = ((3, 4), (3, 8), (3, 16), (3, 32), (6, 4), (6, 8), (10, 20), (10, 50), (50, 20))


def measured(words, work):
    """Standard output, seconds and megabytes of a process."""
    start = time.monotonic()
    process = subprocess.Popen(words, cwd=work, stdout=subprocess.PIPE, text=True)
    out = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    return out, time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--timeout", type=int, default=20)
    parser.add_argument("--smallest", action="store_true", help="only the smallest size")
    args = parser.parse_args()
    isoscope = str(pathlib.Path(args.binary).resolve())
    print("| trace | reads (with a choice) | answer | literals | CPU | wall | memory |\n"
          "|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        for sessions, txns in SIZES[:1] if args.smallest else SIZES:
            for workload in WORKLOADS:
                subprocess.run([isoscope, "generate", "program", workload, "-s", str(sessions), "-t",
                                str(txns), "--seed", "1", "-o", "p.txn"], cwd=work, check=True)
                subprocess.run([isoscope, "run", "p.txn", "--store", "serial", "--seed", "1",
                                "--trace", "t.jsonl", "-q"], cwd=work, check=True)
                out, wall, cpu, memory = measured(
                    [isoscope, "predict", "t.jsonl", "--level", "cc", "--timeout",
                     str(args.timeout), "--json"], work)
                answer = json.loads(out)
                print(f"| {workload} {sessions}x{txns} | {answer['reads']:,} "
                      f"({answer['choices']:,}) | {answer['verdict']} | {answer['literals']:,} "
                      f"| {cpu:.2f} s | {wall:.2f} s | {memory:.0f} MB |", flush=True)


if __name__ == "__main__":
    plot.beside(main)
