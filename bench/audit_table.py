#!/usr/bin/env python3
"""The table of docs/PERFORMANCE.md about audit: what the applications of the literature answer.

    bench/audit_table.py build/isoscope [--smallest]

Each row is one run of the program: its answer, the CPU time of the whole process, how many
questions the solver was asked, and which part of the time went into building formulas and into
solving them. The last line is the sum. A row with another answer than the known one is marked, and
the script then exits with 1. Conflicts are those of columns, as in the literature. With --smallest, one search and one proof only.
"""
import argparse
import json
import os
import resource
import subprocess
import sys

import plot

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
APPS = "tests/corpus/apps/{}.sql"
EXAMPLES = {name: f"examples/audit/{name}.sql" for name in ("smallbank", "tpcc")}  # applications that are examples, too
HYBRID = [
    "--serial", "add_course,add_course", "--serial", "add_student,add_student",
    "--serial", "enroll,rem_course", "--serial", "enroll,rem_student",
]
ROWS = [  # application, arguments, the known verdict
    ("bank", ["--level", "ec"], "anomaly"),
    ("bank", ["--level", "cc"], "anomaly"),
    ("bank", ["--level", "pc"], "anomaly"),
    ("bank", ["--level", "ua", "--prove", "--path", "4"], "serializable"),
    ("bank", ["--level", "psi", "--prove", "--path", "4"], "serializable"),
    ("bank", ["--level", "si", "--prove", "--path", "4"], "serializable"),
    ("bank", ["--level", "ser", "--prove", "--path", "4"], "serializable"),
    ("courseware", ["--level", "ec", "--cycle", "2", "--all"], "anomaly"),
    ("courseware", ["--level", "cc", "--assign", "enroll=psi", *HYBRID, "--cycle", "3"], "none"),
    ("courseware", ["--level", "cc", "--assign", "enroll=psi", *HYBRID, "--all"], "anomaly"),
    ("courseware", ["--level", "cc", "--assign", "enroll=si", *HYBRID, "--cycle", "5"], "none"),
    ("courseware", ["--level", "cc", "--assign", "enroll=si", *HYBRID, "--prove"], "serializable"),
    ("tpcc", ["--level", "ec", "--cycle", "2", "--all"], "anomaly"),
    ("tpcc", ["--level", "psi", "--cycle", "3"], "none"),
    ("tpcc", ["--level", "psi", "--all"], "anomaly"),
    ("tpcc", ["--level", "si"], "none"),
    ("tpcc", ["--level", "si", "--prove"], "serializable"),
    ("tpcc_delivery10", ["--level", "si"], "anomaly"),
    ("smallbank", ["--level", "si", "--cycle", "2"], "none"),
    ("smallbank", ["--level", "si", "--cycle", "3"], "anomaly"),
    ("auction", ["--level", "si", "--prove"], "serializable"),
    ("twitter", ["--level", "si", "--prove"], "serializable"),
]


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--smallest", action="store_true")
    args = parser.parse_args()
    rows = ROWS
    if args.smallest:
        rows = [next(row for row in rows if "--prove" not in row[1]),
                next(row for row in rows if "--prove" in row[1])]
    print("| application | options | answer | CPU s | questions | building | solving |")
    print("|---|---|---|---|---|---|---|")
    total = 0.0
    right = True
    for app, options, expected in rows:
        before = cpu_seconds()
        file = os.path.join(TREE, EXAMPLES.get(app, APPS.format(app)))
        done = subprocess.run([args.binary, "audit", file, "--conflicts", "column", *options, "--json"],
                              text=True, capture_output=True, check=False)
        seconds = cpu_seconds() - before
        total += seconds
        answer = json.loads(done.stdout)
        stats = answer["stats"]
        verdict = answer["verdict"]
        if verdict == "anomaly":
            names = {anomaly["name"] for anomaly in answer["anomalies"]}
            verdict += f" ({', '.join(sorted(names))})"
        if answer["verdict"] != expected:
            verdict += f" **instead of {expected}**"
            right = False
        shown = " ".join(option for option in options if option not in HYBRID)
        if "--serial" in options:
            shown += " --serial …"
        print(f"| {app} | {shown} | {verdict} | {seconds:.2f} | {stats['questions']} "
              f"| {stats['building_seconds'] / seconds:.0%} | {stats['solving_seconds'] / seconds:.0%} |")
    print(f"| all | | | {total:.1f} | | | |")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(plot.beside(main))
