#!/usr/bin/env python3
"""Two builds of isoscope on the tasks of docs/PERFORMANCE.md: did a change of the code cost speed?

    bench/before_after.py OLD/isoscope NEW/isoscope
    bench/before_after.py OLD/isoscope NEW/isoscope --only check,audit --times 5

Each task runs with the old and the new program in turn, and the least CPU time of each counts. The
input is made by the new one, so both get the same. `now` is the new time as a share of the old one:
below 1 is faster. A task that takes less than 0.05 s measures the start of the program and is left
out of the mean. `differs` marks an answer (its exit code) that is not the old one.
"""
import argparse
import math
import os
import pathlib
import sys
import tempfile

import audit_table
import check_table
import predict_table
from batch import Run

# Workload, sessions x transactions, seed, options, levels.
EXPLORED = [
    ("tpcc", "3x4", 1, ["--access", "point"], ["cc", "si"]),
    ("smallbank", "3x4", 1, [], ["cc", "si", "ser"]),
    ("wikipedia", "3x3", 13, [], ["cc", "si", "ser"]),
    ("courseware", "4x3", 1, [], ["cc", "si", "ser"]),
]
SYNTH = [
    ("cc@co", "si@co"), ("si@co", "ser@co"), ("si@co", "ser@vis"), ("ser@co", "si@co"),
    ("ser@vis", "si@co"), ("pc@co", "cc@vis"),
]
LEAST = 0.05  # CPU seconds


def made(binary, words, work):
    run = Run([binary, *map(str, words)], 600, cwd=work)
    if run.code not in (0, 1):
        sys.exit(f"{binary} {' '.join(map(str, words))}: exit code {run.code}\n{run.errors}")


def check_tasks(binary, work):
    last = None
    for name, level, _, _, _, options in check_table.TASKS:
        if options != last:
            made(binary, ["generate", "history", *options.split(), "--to", "plume", "-o", "history.txt"], work)
        last = options
        yield name, ["check", "history.txt", "--level", level, "--quiet"]


def explore_tasks(binary, work):
    for workload, size, seed, options, levels in EXPLORED:
        sessions, txns = size.split("x")
        made(binary, ["generate", "program", workload, "-s", sessions, "-t", txns, "--seed", seed, *options,
                      "-o", "program.txn"], work)
        for level in levels:
            yield f"{workload} {size} {level}", ["explore", "program.txn", "--level", level, "--violations", "0"]


def predict_tasks(binary, work):
    for sessions, txns in predict_table.SIZES:
        for workload in predict_table.WORKLOADS:
            made(binary, ["generate", "program", workload, "-s", sessions, "-t", txns, "--seed", 1,
                          "-o", "program.txn"], work)
            made(binary, ["run", "program.txn", "--store", "serial", "--seed", 1, "--trace", "trace.jsonl",
                          "-q"], work)
            yield f"{workload} {sessions}x{txns} cc", ["predict", "trace.jsonl", "--level", "cc"]


def audit_tasks(_, __):
    for app, options, _ in audit_table.ROWS:
        file = os.path.join(audit_table.TREE, audit_table.EXAMPLES.get(app, audit_table.APPS.format(app)))
        shown = " ".join(option for option in options if option not in audit_table.HYBRID)
        yield f"{app} {shown}", ["audit", file, "--conflicts", "column", *options]


def synth_tasks(_, __):
    for allow, forbid in SYNTH:
        yield f"{allow} not {forbid}, 5", ["synth", "--allow", allow, "--forbid", forbid, "--txns", "5"]


COMMANDS = {"check": check_tasks, "explore": explore_tasks, "predict": predict_tasks, "audit": audit_tasks,
            "synth": synth_tasks}


def measure(programs, words, args, work):
    """The exit codes, and the least CPU seconds, of the old and the new program."""
    least, codes = [math.inf, math.inf], [None, None]
    for _ in range(args.times):
        for i, program in enumerate(programs):
            run = Run([program, *words, "--timeout", str(args.timeout)], args.timeout + 30, cwd=work)
            least[i], codes[i] = min(least[i], run.cpu), run.code
    return codes, least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--only", default="", help="commands, separated by commas")
    parser.add_argument("--times", type=int, default=3, help="runs of each, of which the best counts (3)")
    parser.add_argument("--timeout", type=int, default=60, help="seconds of one run (60)")
    args = parser.parse_args()
    programs = [str(pathlib.Path(path).resolve()) for path in (args.old, args.new)]
    wanted = [name for name in args.only.split(",") if name] or list(COMMANDS)
    if unknown := set(wanted) - set(COMMANDS):
        parser.error(f"--only: {', '.join(sorted(unknown))} is not one of {', '.join(COMMANDS)}")
    print("| command | task | before | now | share |\n|---|---|---|---|---|")
    for command in wanted:
        logs = []
        with tempfile.TemporaryDirectory() as work:
            for name, words in COMMANDS[command](programs[1], work):
                codes, (old, new) = measure(programs, words, args, work)
                note = "" if codes[0] == codes[1] else f" differs: exit code {codes[0]}, now {codes[1]}"
                if not note and max(old, new) >= LEAST:
                    logs.append(math.log(new / old))
                print(f"| {command} | {name} | {old:.2f} s | {new:.2f} s | {new / old:.2f}{note} |", flush=True)
        if logs:
            print(f"| {command} | mean of {len(logs)} | | | {math.exp(sum(logs) / len(logs)):.2f} |", flush=True)


if __name__ == "__main__":
    main()
