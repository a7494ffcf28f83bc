#!/usr/bin/env python3
"""How predict grows: the table of docs/PERFORMANCE.md.

    bench/predict_table.py build/isoscope [--timeout 20]

One serial trace (seed 1) for each workload and size; predict at cc, exact and relaxed. Seconds and
memory are those of the whole process, reading the trace included.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import batch
import plot

WORKLOADS = ("smallbank", "voter", "tpcc", "wikipedia")
SIZES = ((3, 4), (3, 8), (3, 16), (3, 32), (6, 4), (6, 8), (10, 20), (10, 50), (50, 20))


def all_of(commands, mpirun, work):
    for command, run in zip(commands, batch.run_all(commands, mpirun, cwd=work)):
        if run.code not in (0, 1, 3):
            sys.exit(f"{' '.join(map(str, command))}: exit code {run.code}\n{run.errors}")
        yield run


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--timeout", type=int, default=20)
    parser.add_argument("--smallest", action="store_true", help="only the smallest size")
    batch.add_option(parser)
    args = parser.parse_args()
    isoscope = str(pathlib.Path(args.binary).resolve())
    print("| trace | reads (with a choice) | answer | literals | CPU | wall | memory |\n"
          "|---|---|---|---|---|---|---|")
    cases = [(workload, sessions, txns) for sessions, txns in (SIZES[:1] if args.smallest else SIZES)
             for workload in WORKLOADS]
    names = [f"{workload}-{sessions}-{txns}" for workload, sessions, txns in cases]
    with tempfile.TemporaryDirectory() as work:
        for commands in (
                [[isoscope, "generate", "program", workload, "-s", sessions, "-t", txns, "--seed", 1,
                  "-o", f"{name}.txn"] for (workload, sessions, txns), name in zip(cases, names)],
                [[isoscope, "run", f"{name}.txn", "--store", "serial", "--seed", 1, "--trace",
                  f"{name}.jsonl", "-q"] for name in names]):
            list(all_of(commands, args.mpirun, work))
        commands = [[isoscope, "predict", f"{name}.jsonl", "--level", "cc", "--timeout", args.timeout,
                     "--json"] for name in names]
        for (workload, sessions, txns), run in zip(cases, all_of(commands, args.mpirun, work)):
            answer = json.loads(run.output)
            print(f"| {workload} {sessions}x{txns} | {answer['reads']:,} "
                  f"({answer['choices']:,}) | {answer['verdict']} | {answer['literals']:,} "
                  f"| {run.cpu:.2f} s | {run.wall:.2f} s | {run.peak_bytes / 2**20:.0f} MB |", flush=True)


if __name__ == "__main__":
    plot.beside(main)
