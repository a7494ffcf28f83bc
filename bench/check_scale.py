#!/usr/bin/env python3
"""How the time and the memory of `isoscope check` grow with the history.

For every level and size the script generates a history with a store of that level, checks it at
the same level, and prints a line:

    level      txns     events  verdict        wall s    cpu s  ns/event  peak MB  B/event  growth
    cc       100000     800000  consistent       0.62     0.60       775      140      183    1.04

    wall, cpu   of the whole program: start, parsing, checking, confirming the witness
    peak        the most memory it held (at least this script's own 15 MB, which the system counts)
    growth      the exponent g of time ~ events^g since the line above; 1 is linear

A series ends early when a check hits the time limit, or when its growth says that the next one
would. The histories satisfy their level by construction, so any other verdict than "consistent"
(or "unknown", at the limit) is a bug, and the script then exits with 1.

Examples
    bench/check_scale.py build/isoscope
    bench/check_scale.py build/isoscope --levels si,ser --sizes 1000,3000,10000 --timeout 60
    bench/check_scale.py build/isoscope --levels cc -- --sessions 100 --dist uniform --keys 100000
What follows `--` goes to `isoscope generate history` in place of the default workload: 50 sessions,
8 operations a transaction, half of them reads, 10 000 keys drawn by zipf with exponent 0.99, seed 1.
"""
import argparse
import json
import math
import os
import sys
import tempfile

import plot
from batch import Run

WORKLOAD = {"--sessions": "50", "--ops": "8", "--keys": "10000", "--reads": "0.5",
            "--dist": "zipf", "--theta": "0.99", "--shape": "mixed", "--seed": "1"}
COLUMNS = ("{level:<5}{txns:>10}{events:>11}  {verdict:<12}{wall:>9}{cpu:>9}{per_event:>10}"
           "{peak:>9}{bytes:>9}{growth:>8}")
VERDICTS = {0: "consistent", 1: "violated", 3: "unknown"}  # by exit code


def generate(binary, level, txns, workload, path):
    """Writes a history to the path and returns its number of events."""
    defaults = [word for name, value in WORKLOAD.items() if name not in workload
                for word in (name, value)]
    command = [binary, "generate", "history", "--level", level, *defaults, *workload,
               "--txns", str(txns), "--to", "plume", "--json", "-o", path]
    run = Run(command, limit=3600)
    if run.code != 0:
        print(f"check_scale: {' '.join(command)}\n{run.errors.strip()}", file=sys.stderr)
        sys.exit(2)
    return json.loads(run.output)["events"]


def check(args, level, path):
    """Returns the verdict and the run. Quietly: a printed witness can outgrow the history."""
    # The program's own limit comes first; ours is for one that does not keep it.
    run = Run([args.binary, "check", path, "--format", "plume", "--level", level, "--quiet",
               "--timeout", str(args.timeout)], limit=2 * args.timeout + 60)
    if run.errors:
        print(run.errors.strip(), file=sys.stderr)
    return VERDICTS.get(run.code, f"exit {run.code}"), run


def growth_of(before, now):
    """The exponent of time over events between two (events, seconds), or None."""
    if before is None or before[1] <= 0 or now[1] <= 0 or before[0] >= now[0]:
        return None
    return math.log(now[1] / before[1]) / math.log(now[0] / before[0])


def series(args, level, directory):
    """Prints the lines of one level; returns whether every verdict was a right one."""
    before = None
    for i, txns in enumerate(args.sizes):
        path = os.path.join(directory, f"{level}-{txns}.plume.txt")
        events = generate(args.binary, level, txns, args.workload, path)
        verdict, run = check(args, level, path)
        if not args.keep:
            os.remove(path)
        growth = growth_of(before, (events, run.cpu))
        print(COLUMNS.format(
            level=level, txns=txns, events=events, verdict=verdict, wall=f"{run.wall:.2f}",
            cpu=f"{run.cpu:.2f}", per_event=f"{run.cpu / events * 1e9:.0f}",
            peak=f"{run.peak_bytes / 1e6:.0f}", bytes=f"{run.peak_bytes / events:.0f}",
            growth="" if growth is None else f"{growth:.2f}"), flush=True)
        if verdict == "unknown":
            return True
        if verdict != "consistent":
            return False
        if i + 1 < len(args.sizes) and run.wall > 1:
            expected = run.wall * (args.sizes[i + 1] / txns) ** (growth or 1)
            if expected > args.timeout:
                print(f"{level:<5}{args.sizes[i + 1]:>10}  left out: about {expected:.0f} s")
                return True
        before = (events, run.cpu)
    return True


def sizes_of(text):
    return sorted(int(size) for size in text.split(","))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="%(prog)s BINARY [options] [-- WORKLOAD]")
    parser.add_argument("binary", help="the isoscope to measure")
    parser.add_argument("--levels", default="rc,ra,cc,pc,psi,si,ser")
    parser.add_argument("--sizes", default="1000,10000,100000,1000000", type=sizes_of,
                        help="numbers of transactions, with commas between them")
    parser.add_argument("--timeout", type=float, default=120, help="seconds a check may take")
    parser.add_argument("--smallest", action="store_true", help="only 1000 transactions")
    parser.add_argument("--keep", metavar="DIR", help="keeps the histories in this directory")
    # argparse does not hand on what follows `--` once options stand between the two.
    own, workload = sys.argv[1:], []
    if "--" in own:
        own, workload = own[:own.index("--")], own[own.index("--") + 1:]
    args = parser.parse_args(own)
    args.workload = workload
    if args.smallest:
        args.sizes = sizes_of("1000")
    if not os.access(args.binary, os.X_OK):
        parser.error(f"{args.binary} is no program")

    print(COLUMNS.format(level="level", txns="txns", events="events", verdict="verdict",
                         wall="wall s", cpu="cpu s", per_event="ns/event", peak="peak MB",
                         bytes="B/event", growth="growth"))
    right = True
    with tempfile.TemporaryDirectory() as scratch:
        for level in args.levels.split(","):
            right = series(args, level, args.keep or scratch) and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(plot.beside(main))
