#!/usr/bin/env python3
"""Repeats what four papers claim, and prints paper, ours and the difference.

    bench/papers.py build/isoscope [isopredict] [anode] [isolde] [explore] [--write docs/papers]
                                   [--seeds 10] [--limit 2] [--smallest]

`make papers` runs all four. Published numbers are cited with their table or section. Programs,
traces and machines are not those of the papers, so that shapes can be compared rather than single
numbers; docs/papers has a page for each. --write puts the tables, and a plot for each, into these
pages. --smallest is one row of each, for tests. Exit code 1: a qualitative claim does not repeat.
"""
import argparse
import itertools
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import plot
from audit_table import HYBRID
from predict_experiment import (PUBLISHED, SIZES, STRATEGIES, WORKLOADS, Isoscope, strategy_row)

TREE = pathlib.Path(__file__).resolve().parent.parent

# Tables 4 and 5 of [GengBlanasBondWang-PLDI'24]: predictions that validation confirms, of 10 seeds.
VALIDATED = {
    ("cc", 4): {"smallbank": (4, 4, 9), "voter": (0, 0, 0), "tpcc": (9, 9, 10), "wikipedia": (0, 0, 2)},
    ("cc", 8): {"smallbank": (5, 9, 10), "voter": (0, 0, 0), "tpcc": (3, 8, 10), "wikipedia": (1, 1, 2)},
    ("rc", 4): {"smallbank": (10, 10, 10), "voter": (10, 10, 10), "tpcc": (10, 10, 10),
                "wikipedia": (7, 7, 7)},
    ("rc", 8): {"smallbank": (9, 10, 10), "voter": (10, 10, 10), "tpcc": (10, 10, 10),
                "wikipedia": (10, 10, 9)},
}
TABLES = {("cc", 4): "Table 4a", ("cc", 8): "Table 4b", ("rc", 4): "Table 5a", ("rc", 8): "Table 5b"}


class Report:
    """The rows of one paper. `holds` is False where a claim in words does not repeat."""

    def __init__(self, name, columns=("what", "in the paper", "paper", "ours", "difference")):
        self.name = name
        self.columns = columns
        self.rows = []
        self.broken = []

    def number(self, what, where, paper, ours):
        difference = ours - paper
        self.rows.append((what, where, f"{paper:g}", f"{ours:g}",
                          "none" if difference == 0 else f"{difference:+g}"))

    def words(self, what, where, paper, ours, holds, difference=""):
        self.rows.append((what, where, paper, ours,
                          difference or ("none" if holds else "does not repeat")))
        if not holds:
            self.broken.append(what)

    def table(self):
        out = ["| " + " | ".join(self.columns) + " |", "|---" * len(self.columns) + "|"]
        out += ["| " + " | ".join(str(c).replace("|", "\\|") for c in row) + " |" for row in self.rows]
        return "\n".join(out) + "\n"


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_json(binary, words):
    """The answer and the CPU seconds of the whole process."""
    start = cpu_seconds()
    done = subprocess.run([str(binary), *map(str, words), "--json"], cwd=TREE, text=True,
                          capture_output=True, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"isoscope {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}")
    return json.loads(done.stdout), cpu_seconds() - start


def isopredict(binary, args):
    report = Report("isopredict")
    seeds = range(1, (1 if args.smallest else args.seeds) + 1)
    strategies = list(STRATEGIES)[:3]
    sat = {}
    with tempfile.TemporaryDirectory() as folder:
        isoscope = Isoscope(str(binary.resolve()), pathlib.Path(folder))
        for (level, txns), workload in itertools.product(PUBLISHED, WORKLOADS):
            if args.smallest and (level, txns, workload) != ("cc", 4, "smallbank"):
                continue
            observed = isoscope.observe([(workload, txns, seed) for seed in seeds]).values()
            for place, strategy in enumerate(strategies):
                encoding, boundary = STRATEGIES[strategy]
                row = strategy_row(isoscope([
                    ["predict", trace, "--level", level, "--encoding", encoding, "--boundary", boundary,
                     "--app", program, "--validate", "--timeout", args.timeout]
                    for program, trace in observed]))
                what = f"{WORKLOADS[workload]} 3x{txns}, `{level}`, {strategy}"
                sat[level, txns, workload, strategy] = row["sat"]
                report.number(f"{what}: predicted of {len(seeds)}", TABLES[level, txns],
                              PUBLISHED[level, txns][workload][place], row["sat"])
                report.number(f"{what}: validated", TABLES[level, txns],
                              VALIDATED[level, txns][workload][place], row["validated"])
    if not args.smallest:
        laws = [
            ("relaxed predicts at least what strict does", "section 7.2",
             all(sat[l, t, w, "Approx-Relaxed"] >= sat[l, t, w, "Approx-Strict"]
                 for l, t, w, _ in sat)),
            ("`rc` predicts at least what `cc` does", "section 7.2",
             all(sat["rc", t, w, s] >= n for (l, t, w, s), n in sat.items() if l == "cc")),
            ("Voter is never predictable at `cc`", "section 7.2",
             all(n == 0 for (l, _, w, _), n in sat.items() if l == "cc" and w == "voter")),
        ]
        for what, where, holds in laws:
            report.words(what, where, "holds", "holds" if holds else "does not hold", holds)
        if args.plots:
            plot.bars(args.plots / "isopredict.svg",
                      "Predictions of 10 seeds, cc, 3 sessions of 4: published and ours", "of 10",
                      {f"{who}, {s}": {WORKLOADS[w]: (PUBLISHED["cc", 4][w][strategies.index(s)]
                                                      if who == "paper" else sat["cc", 4, w, s])
                                       for w in WORKLOADS}
                       for s in ("Approx-Strict", "Approx-Relaxed") for who in ("paper", "ours")})
    return report


def functions_of(anomaly):
    return sorted(call["function"] for call in anomaly["calls"])


def has_anomaly(answer, name, functions):
    """Calls that only prepare rows may stand before those of the cycle."""
    wanted = sorted(functions)

    def contains(found):
        rest = list(found)
        return all(f in rest and rest.remove(f) is None for f in wanted)
    return any(a["name"] == name and contains(functions_of(a)) for a in answer["anomalies"])


def anode(binary, args):
    report = Report("anode", ("claim", "in the paper", "paper", "ours", "difference"))
    app = {"tpcc": "examples/audit/tpcc.sql", "courseware": "tests/corpus/apps/courseware.sql",
           "bank": "tests/corpus/apps/bank.sql"}
    times = {}

    def ask(name, *words):
        answer, seconds = run_json(binary, ["audit", app[name], "--conflicts", "column", *words])
        times[f"{name} {' '.join(words[:4])}"] = seconds
        return answer

    def claim(what, where, paper, answer, holds, difference=""):
        ours = answer["verdict"] + (f" by {answer['scheme']}" if answer.get("steps") else "")
        if answer["anomalies"]:
            names = sorted({a["name"] for a in answer["anomalies"]})
            ours += f": {len(answer['anomalies'])} ({', '.join(names)})"
        report.words(what, where, paper, ours, holds, difference)

    answer = ask("bank", "--level", "ec")
    claim("bank, EC, k = 2", "section 2", "lost update", answer,
          has_anomaly(answer, "lost update", ["withdraw", "withdraw"]))
    if args.smallest:
        return report
    answer = ask("bank", "--level", "psi", "--prove", "--path", "4")
    claim("bank, PSI, any length", "section 2", "serializable by shortest path", answer,
          answer["verdict"] == "serializable")
    answer = ask("tpcc", "--level", "ec", "--cycle", "2", "--all")
    claim("TPC-C, EC, k = 2", "section 6", "lost updates", answer,
          any(a["name"] == "lost update" for a in answer["anomalies"]))
    answer = ask("tpcc", "--level", "psi", "--cycle", "3")
    claim("TPC-C, PSI, k = 2 and 3", "section 6", "none", answer, answer["verdict"] == "none")
    answer = ask("tpcc", "--level", "psi", "--all")
    claim("TPC-C, PSI, k = 4", "section 6, Fig. 5", "long fork of New-Order, Payment, 2 Order-Status",
          answer, has_anomaly(answer, "long fork", ["new_order", "payment"] + ["order_status"] * 2))
    claim("TPC-C, PSI, k = 4", "section 6", "long fork of 2 New-Order, 2 Stock-Level", answer,
          has_anomaly(answer, "long fork", ["new_order"] * 2 + ["stock_level"] * 2))
    answer = ask("tpcc", "--level", "si")
    claim("TPC-C, SI, k = 4", "section 6", "none", answer, answer["verdict"] == "none")
    answer = ask("tpcc", "--level", "si", "--prove")
    claim("TPC-C, SI, any length", "section 6", "serializable by induction", answer,
          answer["verdict"] == "serializable" and "induction" in answer["scheme"])
    answer = ask("courseware", "--level", "ec", "--cycle", "2", "--all")
    for what, name, functions in [
            ("two Enroll beyond the capacity", "lost update", ["enroll", "enroll"]),
            ("two courses of one name", "lost update", ["add_course", "add_course"]),
            ("two students of one name", "lost update", ["add_student", "add_student"]),
            ("Enroll beside a removed course", "write skew", ["enroll", "rem_course"]),
            ("Enroll beside a removed student", "write skew", ["enroll", "rem_student"])]:
        found = has_anomaly(answer, name, functions)
        report.words(f"Courseware, EC, k = 2: {what}", "section 6", "anomaly",
                     name if found else "not found", found)
    hybrid = ["--level", "cc", "--assign", "enroll=psi", *HYBRID]
    answer = ask("courseware", *hybrid, "--all")
    claim("Courseware, Enroll at PSI and serial pairs, k = 4", "section 6, Fig. 6",
          "long fork of 2 Enroll, harmless", answer,
          has_anomaly(answer, "long fork", ["enroll", "enroll"]))
    hybrid[3] = "enroll=si"
    answer = ask("courseware", *hybrid, "--prove")
    claim("Courseware, Enroll at SI, any length", "section 6",
          "serializable by shortest path, no path of 8 or more", answer,
          answer["verdict"] == "serializable",
          "none" if answer["scheme"] == "shortest path" else "another proof")
    slowest = max(times, key=times.get)
    report.words("slowest question", "section 6", "< 10 s each",
                 f"{times[slowest]:.1f} s of CPU ({slowest})", True,
                 "none" if times[slowest] < 10 else "slower: more answers are asked for")
    if args.plots:
        plot.bars(args.plots / "anode.svg", "CPU seconds for each question", "s", {"ours": times})
    return report


def problems():
    """The 46 problems of [Isolde-2026], section 5.1: allowed levels, forbidden level, class."""
    steps = [("ra", "cc"), ("cc", "pc"), ("pc", "si"), ("si", "ser")]
    both = ("@co", "@vis")
    for f, g in itertools.product(both, both):
        kind = "SAT, " + ("one framework" if f == g else "several frameworks")
        for weak, strong in steps:
            yield [weak + f], strong + g, kind
        for h in both:
            one = f == g == h
            yield ["si" + f, "update-ser" + g], "ser" + h, \
                "SAT, " + ("one framework" if one else "several frameworks")
    for f, (weak, strong) in itertools.product(both, steps):
        yield [strong + f], weak + f, "UNSAT, one framework"
    yield ["plume-ra@co"], "ra@co", "SAT, one framework"
    for allow, forbid in [("ra", "plume-ra"), ("cc", "plume-cc"), ("plume-cc", "cc")]:
        yield [allow + "@co"], forbid + "@co", "UNSAT, one framework"
    for name in ("ra", "cc", "pc", "si", "ser"):
        yield [name + "@co"], name + "@vis", "UNSAT, several frameworks"
        yield [name + "@vis"], name + "@co", "UNSAT, several frameworks"


CLASSES = {"SAT, one framework": 11, "SAT, several frameworks": 14,
           "UNSAT, one framework": 11, "UNSAT, several frameworks": 10}


def isolde(binary, args):
    report = Report("isolde", ("claim", "in the paper", "paper", "ours", "difference"))
    scopes = [3] if args.smallest else [3, 5, 8, 10]
    solved = {(kind, n): 0 for kind in CLASSES for n in scopes}
    slowest = {(kind, n): 0.0 for kind in CLASSES for n in scopes}
    all_times = []
    for allow, forbid, kind in problems():
        for n in scopes:
            words = ["synth", "--forbid", forbid, "--txns", n, "--keys", 5, "--values", 5,
                     "--timeout", 60]
            for level in allow:
                words += ["--allow", level]
            answer, seconds = run_json(binary, words)
            # A search that found nothing says so for its scope; a time-out has no such scope.
            is_sat = answer["verdict"] == "found"
            is_done = is_sat or answer["verdict"] == "none" or bool(answer.get("bounded"))
            # The smallest history of cc and not pc has four transactions.
            expected = kind.startswith("SAT") and not (n == 3 and forbid.startswith("pc@"))
            solved[kind, n] += is_done and is_sat == expected
            slowest[kind, n] = max(slowest[kind, n], seconds)
            all_times.append(seconds)
    for kind, count in CLASSES.items():
        report.number(f"problems: {kind}", "Table 1", count,
                      sum(1 for *_, k in problems() if k == kind))
        for n in scopes:
            in_time = "all within 1 h" if n <= 5 else "slower, only in Fig. 4"
            report.words(f"{kind}: {n} transactions, 5 keys, 5 values", "section 5.2, Figs. 3 and 4",
                         "each < 10 s" if kind.startswith("SAT") else in_time,
                         f"{solved[kind, n]} of {count}, slowest {slowest[kind, n]:.2f} s",
                         solved[kind, n] == count)
    answer, _ = run_json(binary, ["synth", "--allow", "plume-ra@co", "--forbid", "ra@co"])
    report.words("Plume's RA is not the axiomatic one", "section 3.1", "a history tells them apart",
                 answer["verdict"], answer["verdict"] == "found")
    answer, _ = run_json(binary, ["synth", "--allow", "si", "--allow", "update-ser", "--forbid", "ser"])
    report.words("read-only anomaly of snapshot isolation", "section 3.2", "found", answer["verdict"],
                 answer["verdict"] == "found")
    if args.plots:
        plot.lines(args.plots / "isolde.svg", "Slowest problem of each class", "transactions", "s",
                   {kind: [(n, max(slowest[kind, n], 1e-4)) for n in scopes] for kind in CLASSES},
                   log_y=True)
        plot.histogram(args.plots / "isolde-times.svg", f"Times of {len(all_times)} searches", "s",
                       all_times, log_x=True)
    return report


ALGORITHMS = [  # name, options, time-outs of 25 within 30 minutes
    ("CC", ["--level", "cc", "--algorithm", "ce"], 3),
    ("CC + SI", ["--level", "si", "--algorithm", "ce", "--base", "cc"], 3),
    ("CC + SER", ["--level", "ser", "--algorithm", "ce", "--base", "cc"], 3),
    ("RA + CC", ["--level", "cc", "--algorithm", "ce", "--base", "ra"], 6),
    ("RC + CC", ["--level", "cc", "--algorithm", "ce", "--base", "rc"], 17),
    ("true + CC", ["--level", "cc", "--algorithm", "ce", "--base", "true"], 20),
    ("DFS(CC)", ["--level", "cc", "--algorithm", "dfs"], 20),
]
SPEEDUPS = {"RA + CC": 3, "RC + CC": 18, "true + CC": 15}


def explore(binary, args):
    report = Report("explore", ("what", "in the paper", "paper", "ours", "difference"))
    applications = ["shopping-cart", "twitter", "courseware", "wikipedia", "tpcc"]
    seeds = range(1, 2) if args.smallest else range(1, 6)
    limit = args.limit
    times = {}  # by algorithm and program: seconds, or None
    histories = {}
    with tempfile.TemporaryDirectory() as folder:
        programs = []
        for name, seed in itertools.product(applications[:1] if args.smallest else applications, seeds):
            path = pathlib.Path(folder) / f"{name}-{seed}.txn"
            with open(path, "w", encoding="utf-8") as out:
                subprocess.run([str(binary), "generate", "program", name, "--sessions", "3", "--txns",
                                "3", "--seed", str(seed)], check=True, stdout=out, cwd=TREE)
            programs.append(path)
        for name, options, _ in ALGORITHMS:
            for program in programs:
                answer, seconds = run_json(binary, ["explore", program, "--timeout", limit, "--violations", 0,
                                              *options])
                is_done = "limit" not in answer and answer["verdict"] != "unknown"
                times[name, program] = seconds if is_done else None
                if is_done:
                    histories.setdefault((options[1], program), set()).add(answer["histories"])
    for name, _, published in ALGORITHMS:
        late = sum(times[name, p] is None for p in programs)
        report.rows.append((f"{name}: unfinished of {len(programs)}", "Fig. 14",
                            f"{published} of 25 (30 min)", f"{late} of {len(programs)} ({limit:g} s)",
                            f"{late - published:+d}, at {1800 / limit:,.0f} times less time"))
    for name, published in SPEEDUPS.items():
        ratios = [times[name, p] / max(times["CC", p], 1e-4) for p in programs
                  if times[name, p] is not None and times["CC", p] is not None]
        ours = sum(ratios) / len(ratios) if ratios else 0
        report.rows.append((f"average speedup of CC over {name}", "section 7.3", f"{published}",
                            f"{ours:.1f} ({len(ratios)} programs)", f"{ours - published:+.1f}"))
    done = [times["CC", p] if times["CC", p] is not None else limit for p in programs]
    report.rows.append(("CC: average time, time-outs counted", "section 7.3", "206 s",
                        f"{sum(done) / len(done):.3f} s", f"{sum(done) / len(done) - 206:+.0f} s"))
    agree = all(len(counts) == 1 for counts in histories.values())
    report.words("all algorithms find the same histories of a level", "Theorem 5.1", "yes",
                 f"{'yes' if agree else 'no'}: {len(histories)} programs and levels", agree)
    if args.plots:
        cactus = {}
        for name, *_ in ALGORITHMS:
            finished = sorted(times[name, p] for p in programs if times[name, p] is not None)
            cactus[name] = [(i + 1, max(s, 1e-4)) for i, s in enumerate(finished)]
        plot.lines(args.plots / "explore.svg", f"Programs finished within {limit:g} s (Fig. 14a)",
                   "programs", "s", cactus, log_y=True)
    return report


PAPERS = {"isopredict": isopredict, "anode": anode, "isolde": isolde, "explore": explore}


def write_page(folder, report):
    """The table between the marks of the paper's page."""
    path = folder / f"{report.name}.md"
    text = path.read_text(encoding="utf-8")
    begin, end = "<!-- table -->\n", "<!-- end of table -->"
    before, rest = text.split(begin, 1)
    path.write_text(before + begin + report.table() + end + rest.split(end, 1)[1], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=", ".join(PAPERS))
    parser.add_argument("--write", type=pathlib.Path, help="put tables and plots into these pages")
    parser.add_argument("--seeds", type=int, default=10, help="of isopredict")
    parser.add_argument("--timeout", type=float, default=20, help="of a prediction")
    parser.add_argument("--limit", type=float, default=2, help="of an exploration, in seconds")
    parser.add_argument("--smallest", action="store_true")
    args = parser.parse_args()
    args.plots = args.write
    args.binary = args.binary.resolve()
    unknown = set(args.papers) - set(PAPERS)
    if unknown:
        parser.error(f"no such paper: {', '.join(sorted(unknown))}")
    broken = []
    for name in args.papers or PAPERS:
        start = time.monotonic()
        report = PAPERS[name](args.binary, args)
        print(f"\n### {name}, {time.monotonic() - start:.0f} s\n\n{report.table()}", flush=True)
        broken += [f"{name}: {what}" for what in report.broken]
        if args.write:
            write_page(args.write, report)
    for what in broken:
        print(f"does not repeat: {what}", file=sys.stderr)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
