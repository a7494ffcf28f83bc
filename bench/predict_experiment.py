#!/usr/bin/env python3
"""What `isoscope predict` finds on benchmarks: the tables of docs/predict-experiment.md.

    bench/predict_experiment.py build/isoscope [--seeds 10] [--runs 10] [--timeout 20] [--mpirun 'mpirun -n 4']

The set-up of [GengBlanasBondWang-PLDI'24], section 7: four workloads, three sessions of 4 and of 8
transactions, seeds 1 to 10, causal consistency and Read Committed; every prediction is validated by
a replay. Each seed makes a program and decides how its serial run interleaves. Exact-Relaxed is
ours. The last table runs each program at random on a weak store, --runs times a seed.
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time

import batch
import plot

WORKLOADS = {"smallbank": "Smallbank", "voter": "Voter", "tpcc": "TPC-C", "wikipedia": "Wikipedia"}
SIZES = {4: "small", 8: "large"}
STRATEGIES = {
    "Exact-Strict": ("exact", "strict"),
    "Approx-Strict": ("approx", "strict"),
    "Approx-Relaxed": ("approx", "relaxed"),
    "Exact-Relaxed": ("exact", "relaxed"),
}
# Published: how many of 10 seeds are sat, by level, transactions a session, workload and the first
# three strategies (Tables 4 and 5).
PUBLISHED = {
    ("cc", 4): {"smallbank": (4, 4, 10), "voter": (0, 0, 0), "tpcc": (9, 9, 10),
                "wikipedia": (0, 0, 2)},
    ("cc", 8): {"smallbank": (5, 9, 10), "voter": (0, 0, 0), "tpcc": (3, 8, 10),
                "wikipedia": (1, 1, 2)},
    ("rc", 4): {"smallbank": (10, 10, 10), "voter": (10, 10, 10), "tpcc": (10, 10, 10),
                "wikipedia": (7, 7, 7)},
    ("rc", 8): {"smallbank": (10, 10, 10), "voter": (10, 10, 10), "tpcc": (10, 10, 10),
                "wikipedia": (10, 10, 10)},
}


class Isoscope:
    def __init__(self, binary, work, mpirun=""):
        self.binary = binary
        self.work = work
        self.mpirun = mpirun

    def __call__(self, commands):
        """What each command answers as JSON; exit codes 0, 1 and 3 are answers."""
        commands = [[self.binary, *words, "--json"] for words in commands]
        answers = []
        for words, run in zip(commands, batch.run_all(commands, self.mpirun, cwd=self.work)):
            if run.code not in (0, 1, 3):
                sys.exit(f"{' '.join(map(str, words))}: exit code {run.code}\n{run.errors}")
            answers.append(json.loads(run.output))
        return answers

    def observe(self, cases):
        """For each (workload, txns, seed) a program and the trace of one serial run of it."""
        names = [(f"{workload}-{txns}-{seed}.txn", f"{workload}-{txns}-{seed}.jsonl")
                 for workload, txns, seed in cases]
        self([["generate", "program", workload, "--sessions", 3, "--txns", txns, "--seed", seed,
               "-o", program] for (workload, txns, seed), (program, _) in zip(cases, names)])
        self([["run", program, "--store", "serial", "--seed", seed, "--trace", trace]
              for (_, _, seed), (program, trace) in zip(cases, names)])
        return dict(zip(cases, names))


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else None


def seconds(number):
    if number is None:
        return "–"
    return f"{1000 * number:,.1f} ms" if number < 1 else f"{number:,.1f} s"


def strategy_row(answers):
    by_verdict = {verdict: [a for a in answers if a["verdict"] == verdict]
                  for verdict in ("unknown", "none", "predicted")}
    sat = by_verdict["predicted"]
    return {
        "unknown": len(by_verdict["unknown"]),
        "unsat": len(by_verdict["none"]),
        "sat": len(sat),
        "validated": sum(a["validated"] for a in sat),
        "diverged": sum(a["diverged"] for a in sat),
        "literals": mean([a["literals"] for a in answers]),
        "generation": mean([a["generation_seconds"] for a in answers]),
        "sat_time": mean([a["solving_seconds"] for a in sat]),
        "unsat_time": mean([a["solving_seconds"] for a in by_verdict["none"]]),
        "slowest": max(a["seconds"] for a in answers),
    }


def print_strategies(level, txns, rows):
    print(f"\n### `{level}`, 3 sessions of {txns} ({SIZES[txns]})\n")
    print("| program | strategy | unknown | unsat | sat (published) | validated (diverged) "
          "| literals | generation | solving: sat | unsat | slowest, in all |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for workload, title in WORKLOADS.items():
        for place, strategy in enumerate(STRATEGIES):
            row = rows[level, txns, workload, strategy]
            published = PUBLISHED[level, txns][workload]
            known = published[place] if place < len(published) else "–"
            print(f"| {title if place == 0 else ''} | {strategy} | {row['unknown']} "
                  f"| {row['unsat']} | {row['sat']} ({known}) "
                  f"| {row['validated']} ({row['diverged']}) | {row['literals']:,.0f} "
                  f"| {seconds(row['generation'])} | {seconds(row['sat_time'])} "
                  f"| {seconds(row['unsat_time'])} | {seconds(row['slowest'])} |")


def print_comparison(level, strategy, rows, weak, seeds):
    print(f"\n### Beside random weak runs, `{level}` ({strategy})\n")
    print("| program | weak runs: assertion failed | unserializable | predicted and validated |")
    print("|---|---|---|---|")
    for txns in SIZES:
        for workload, title in WORKLOADS.items():
            runs, failed, unserializable = weak[level, txns, workload]
            validated = rows[level, txns, workload, strategy]["validated"]
            print(f"| {title} 3x{txns} | {100 * failed / runs:.0f}% "
                  f"| {100 * unserializable / runs:.0f}% | {100 * validated / seeds:.0f}% |")


def print_totals(rows):
    sat = sum(row["sat"] for row in rows.values())
    validated = sum(row["validated"] for row in rows.values())
    diverged = sum(row["diverged"] for row in rows.values())
    unknown = sum(row["unknown"] for row in rows.values())
    print(f"\nIn all: {sat} predictions, {validated} validated "
          f"({100 * validated / max(sat, 1):.1f}%), {diverged} diverged; {unknown} unknown.")


def predict_all(isoscope, observed, sets, seeds, timeout):
    """By level, size, workload and strategy."""
    cases = [(*each, strategy) for each in sets for strategy in STRATEGIES]
    commands = []
    for level, txns, workload, strategy in cases:
        encoding, boundary = STRATEGIES[strategy]
        for seed in seeds:
            program, trace = observed[workload, txns, seed]
            commands.append(["predict", trace, "--level", level, "--encoding", encoding, "--boundary",
                             boundary, "--app", program, "--validate", "--timeout", timeout])
    answers = iter(isoscope(commands))
    return {case: strategy_row([next(answers) for _ in seeds]) for case in cases}


def run_weakly(isoscope, observed, sets, seeds, runs):
    """By level, size and workload: runs, those with a failed assertion, unserializable ones."""
    answers = iter(isoscope([["run", observed[workload, txns, seed][0], "--store", "weak", "--level",
                              level, "--runs", runs] for level, txns, workload in sets for seed in seeds]))
    weak = {}
    for each in sets:
        found = [next(answers) for _ in seeds]
        weak[each] = [sum(a[field] for a in found)
                      for field in ("runs", "failed_assertions", "unserializable")]
    return weak


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seeds", type=int, default=10, help="seeds 1 to N")
    parser.add_argument("--runs", type=int, default=10, help="weak runs for each seed")
    parser.add_argument("--timeout", type=int, default=20, help="seconds for each prediction")
    parser.add_argument("--smallest", action="store_true", help="one seed, one run")
    batch.add_option(parser)
    args = parser.parse_args()
    if args.smallest:
        args.seeds = args.runs = 1
    start = time.monotonic()
    seeds = range(1, args.seeds + 1)
    sets = [(level, txns, workload) for level in ("cc", "rc") for txns in SIZES for workload in WORKLOADS]
    with tempfile.TemporaryDirectory() as work:
        isoscope = Isoscope(str(pathlib.Path(args.binary).resolve()), pathlib.Path(work), args.mpirun)
        observed = isoscope.observe([(workload, txns, seed) for txns in SIZES for workload in WORKLOADS
                                     for seed in seeds])
        rows = predict_all(isoscope, observed, sets, seeds, args.timeout)
        weak = run_weakly(isoscope, observed, sets, seeds, args.runs)
    print(f"Seeds 1 to {args.seeds}, weak runs of seeds 0 to {args.runs - 1} for each, "
          f"{args.timeout} s for each prediction; {time.monotonic() - start:.0f} s in all.")
    for level in ("cc", "rc"):
        for txns in SIZES:
            print_strategies(level, txns, rows)
    print_comparison("cc", "Approx-Relaxed", rows, weak, args.seeds)
    print_comparison("rc", "Approx-Strict", rows, weak, args.seeds)
    print_totals(rows)


if __name__ == "__main__":
    plot.beside(main)
