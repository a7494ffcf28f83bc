#!/usr/bin/env python3
"""The tables of docs/PERFORMANCE.md about synth, from build/bench/bench_synth.

    bench/synth_table.py build/bench/bench_synth            # as users get it: time by class and scope
    bench/synth_table.py build/bench/bench_synth --switches # the paper's RQ1 and RQ2

A row is a class of problems of [Isolde-2026], section 5.1; a cell has the slowest time of the
class. With --switches it has the slowest time of those that ended within the limit of bench_synth
(2 s), the most candidates, the most clauses, and how many did not end. With --smallest, scopes of
three transactions only.
"""
import argparse
import collections
import csv
import io
import resource
import subprocess

import plot

# With a history or without; one framework or both.
CLASSES = ["SAT, one framework", "SAT, mixed", "UNSAT, one framework", "UNSAT, mixed"]
ORDER = ["ra", "cc", "pc", "si", "ser"]
VARIANTS = {
    "Synth": "as it is",
    "SynthGeneric": "plain CEGIS (`--generic`)",
    "SynthWithoutSmartSearch": "… without smart search",
    "SynthWithoutFixedOrder": "… without fixed order",
    "SynthWithoutLearning": "… without learning",
}


def class_of(problem):
    """The class by the levels: 'si@co+update-ser@vis not ser@co' has a history, in two frameworks."""
    allow, forbid = problem.split(" not ")
    frameworks = {level.split("@")[1] for level in allow.split("+") + [forbid]}
    weak, strong = (name.split("@")[0] for name in (allow.split("+")[0], forbid))
    if weak in ORDER and strong in ORDER:
        sat = ORDER.index(weak) < ORDER.index(strong)
    else:
        sat = weak == "plume-ra"
    return ("SAT" if sat else "UNSAT") + (", mixed" if len(frameworks) > 1 else ", one framework")


def run(binary, pattern):
    """Rows (variant, class, txns, milliseconds, candidates, clauses, unknown)."""
    done = subprocess.run([binary, f"--benchmark_filter={pattern}", "--benchmark_format=csv"],
                          text=True, capture_output=True, check=True)
    rows = []
    text = done.stdout[done.stdout.index("name,iterations"):]
    for row in csv.DictReader(io.StringIO(text)):
        variant, problem, *txns = row["name"].removesuffix("/iterations:1").split("/")
        rows.append((variant, class_of(problem), int(txns[0]) if txns else 15,
                     float(row["cpu_time"]), float(row["candidates"]), float(row["clauses"]),
                     float(row["unknown"]) > 0))
    return rows


def grouped(rows):
    groups = collections.defaultdict(list)
    for variant, group, txns, *rest in rows:
        groups[variant, group, txns].append(rest)
    return groups


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="build/bench/bench_synth")
    parser.add_argument("--switches", action="store_true", help="what each part of the search is worth")
    parser.add_argument("--smallest", action="store_true", help="scopes of three transactions only")
    args = parser.parse_args()
    binary, smallest = args.binary, args.smallest
    if not args.switches:
        rows = run(binary, "^Synth/.*/3/" if smallest else "^Synth/|^Synth15/")
        groups = grouped(rows)
        scopes = [3] if smallest else [3, 4, 5, 6, 7, 8, 9, 10, 15]
        print("| slowest of the class, ms | " + " | ".join(f"{n} txns" for n in scopes) + " |")
        print("|---" * (len(scopes) + 1) + "|")
        for group in CLASSES:
            cells = []
            for n in scopes:
                found = groups["Synth15" if n == 15 else "Synth", group, n]
                cells.append(f"{max(r[0] for r in found):.1f}" if found else "-")
            print(f"| {group} | " + " | ".join(cells) + " |")
    else:
        sizes = (3,) if smallest else (3, 4, 5)
        groups = grouped(run(binary, "^Synth(Generic|Without[A-Za-z]*)?/.*/"
                             f"({'|'.join(map(str, sizes))})/"))
        print("| problems | search | " + " | ".join(f"{n} txns" for n in sizes) + " |")
        print("|---" * (len(sizes) + 2) + "|")
        for group in CLASSES:
            for variant, words in VARIANTS.items():
                cells = []
                for n in sizes:
                    found = groups[variant, group, n]
                    solved = [r for r in found if not r[3]]
                    slowest = max(r[0] for r in solved)
                    candidates = max(r[1] for r in found)
                    clauses = max(r[2] for r in found)
                    left = f", {len(found) - len(solved)} unsolved" if len(solved) < len(found) else ""
                    cells.append(f"{slowest:.0f} ms, {candidates:,.0f}, {clauses:,.0f}{left}")
                print(f"| {group} | {words} | " + " | ".join(cells) + " |")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"\nPeak memory of all of them in one process: {peak} MB.")


plot.beside(main)
