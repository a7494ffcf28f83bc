#!/usr/bin/env python3
"""Runs every benchmark once at its smallest size: do they all still work?

    bench/smallest.py build

These are the Google Benchmark programs of build/bench and every table of this folder. Prints what
each took, goes on after one that fails, and exits with 1 if any did. Times at these sizes say
nothing about speed.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# By script: its arguments before --smallest; {build} is the folder of the build.
TABLES = {
    "audit_scale.py": [["{build}/isoscope"]],
    "audit_table.py": [["{build}/isoscope"]],
    "check_scale.py": [["{build}/isoscope"]],
    "check_table.py": [["{build}/isoscope"], ["{build}/isoscope", "--grouped"]],
    "explore_table.py": [["{build}/isoscope", table] for table in ("programs", "algorithms", "scale", "ratios")],
    "papers.py": [["{build}/isoscope"]],
    "predict_experiment.py": [["{build}/isoscope"]],
    "predict_table.py": [["{build}/isoscope"]],
    "server_table.py": [["{build}/isoscope"]],
    "strict_table.py": [["{build}/isoscope"]],
    "synth_table.py": [["{build}/bench/bench_synth"], ["{build}/bench/bench_synth", "--switches"]],
    "workload_table.py": [["{build}/bench/bench_workload"]],
}


# Part of others; with a server of its own; with other machines.
OTHERS = {"batch.py", "smallest.py", "plot.py", "record_cost.py", "scale_table.py", "before_after.py"}


def smallest_of(names):
    """Of names that differ in numbers only (Synth/si not ser/3), the one with the smallest."""
    least = {}
    for name in names:
        parts = name.split("/")
        words = tuple(part for part in parts if not part.isdigit())
        numbers = tuple(int(part) for part in parts if part.isdigit())
        if words not in least or numbers < least[words][0]:
            least[words] = (numbers, name)
    return [name for _, name in least.values()]


def run_benchmarks(program):
    """Runs a Google Benchmark program; returns what went wrong, and how many benchmarks it ran."""
    listed = subprocess.run([program, "--benchmark_list_tests=true"], text=True,
                            capture_output=True, check=True).stdout.splitlines()
    listed = [name for name in listed if not re.search(r"_(BigO|RMS)$", name)]
    names = smallest_of(listed)
    # Not re.escape: it escapes blanks too, which the library's expressions do not know.
    wanted = "^(" + "|".join(re.sub(r"([][.^$*+?(){}|\\])", r"\\\1", name) for name in names) + ")$"
    done = subprocess.run([program, f"--benchmark_filter={wanted}", "--benchmark_min_time=0.001",
                           "--benchmark_format=json"], text=True, capture_output=True, check=False)
    if done.returncode != 0:
        return done.stderr or f"exit code {done.returncode}", 0
    rows = [row for row in json.loads(done.stdout[done.stdout.index("{"):])["benchmarks"]
            if row["run_type"] == "iteration"]
    errors = [f"{row['name']}: {row['error_message']}" for row in rows if row.get("error_occurred")]
    if len(rows) < len(names):
        errors.append(f"ran {len(rows)} of {len(names)} benchmarks")
    return "\n".join(errors), len(rows)


def run_table(words):
    """Runs a script; returns what went wrong, and how many lines it printed."""
    done = subprocess.run([sys.executable, *words, "--smallest"], text=True, capture_output=True,
                          check=False)
    lines = len(done.stdout.splitlines())
    if done.returncode == 0 and lines < 3:
        return f"printed no row:\n{done.stdout}", lines
    return (done.stdout + done.stderr if done.returncode != 0 else ""), lines


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    scripts = {path.name for path in HERE.glob("*.py")} - OTHERS
    if scripts != set(TABLES):
        sys.exit(f"TABLES has to list every script of bench: {', '.join(scripts ^ set(TABLES))}")
    programs = sorted(str(path) for path in pathlib.Path(build, "bench").glob("bench_*")
                      if os.access(path, os.X_OK) and path.is_file())
    if not programs:
        sys.exit(f"no benchmark in {build}/bench; `make bench` builds them")
    failed = []

    def report(name, unit, run):
        start = time.monotonic()
        wrong, count = run()
        print(f"{name:<44}{count:>5} {unit:<12}{time.monotonic() - start:>7.1f} s"
              f"{'  FAILED' if wrong else ''}", flush=True)
        if wrong:
            print(wrong, flush=True)
            failed.append(name)

    for program in programs:
        report(os.path.basename(program), "benchmarks", lambda: run_benchmarks(program))
    for script, variants in TABLES.items():
        for variant in variants:
            words = [word.format(build=build) for word in variant]
            report(" ".join([script, *words[1:]]), "lines",
                   lambda: run_table([str(HERE / script), *words]))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
