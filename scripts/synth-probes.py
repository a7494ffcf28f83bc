#!/usr/bin/env python3
"""Writes probes/*-synth-*.probe: the smallest histories that separate neighbours of the lattice of levels.

    scripts/synth-probes.py build/src/cli/isoscope           writes the files
    scripts/synth-probes.py build/src/cli/isoscope --check   says whether they are as they would be written

`isoscope compare --matrix` finds, for every two neighbours, a smallest history that the weaker one allows and the
stronger one forbids. Each becomes a probe: its operations are the program, what it reads is the anomaly. A history
that a probe written by hand has already is left to that one. With --check, every pair must also be separated by
`isoscope check` on the history of its probe.
"""
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

LEVELS = ["true", "rc", "ra", "cc", "pc", "ua", "psi", "si", "ser"]
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "probes"
FIRST = 19  # what is written by hand comes before
MARK = "# Written by scripts/synth-probes.py."


def operations(text):
    """r(x,0) w(x,1) of the inside of a transaction, as (kind, key, value)."""
    return [(k, x, int(v)) for k, x, v in re.findall(r"([rw])\((\w+),(-?\d+)\)", text)]


def sessions_of_history(text):
    return [[operations(txn) for txn in re.findall(r"\[([^\]]*)\]", line)] for line in text.splitlines() if line]


def sessions_of_probe(text):
    """The same of a probe, one for each of its anomalies; nothing if it has more than reads and writes of rows that
    hold 0 at first."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    programs, anomalies = {}, []
    for line in filter(None, lines):
        word = line.split()[0]
        if word == "init" and any(not row.endswith("=0") for row in line.split()[1:]):
            return []
        if word.endswith(":"):
            programs[word[:-1]] = line[len(word):]
        elif word == "anomaly":
            anomalies.append(line.split()[1:])
    found = []
    for anomaly in anomalies:
        reads = {m[1]: int(m[2]) for m in (re.match(r"(\w+\.\d+)=(-?\d+)$", term) for term in anomaly) if m}
        if any(term.startswith("end.") or term.endswith("nil") for term in anomaly):
            continue
        history = []
        for name, program in programs.items():
            txns, number = [[]], 0
            for op in program.split():
                if op == "commit":
                    txns.append([])
                elif m := re.match(r"w\((\w+),(-?\d+)\)$", op):
                    txns[-1].append(("w", m[1], int(m[2])))
                elif m := re.match(r"r\((\w+)\)$", op):
                    number += 1
                    txns[-1].append(("r", m[1], reads.get(f"{name}.{number}")))
                else:
                    return []
            history.append(txns)
        found.append(history)
    return found


def canonical(history):
    """The same for histories that differ in the order of sessions, in the names of keys and in the values."""
    best = None
    for order in itertools.permutations(history):
        keys, values = {}, {}
        for _, key, _ in (op for session in order for txn in session for op in txn):
            keys.setdefault(key, len(keys))
        for kind, key, value in (op for session in order for txn in session for op in txn):
            if kind == "w":
                values.setdefault((key, value), 1 + sum(1 for k, _ in values if k == key))
        shown = json.dumps([[[[kind, keys[key], values.get((key, value), 0 if value == 0 else -1)]
                              for kind, key, value in txn] for txn in session] for session in order])
        best = min(best, shown) if best else shown
    return best


def probe_text(history, anomaly, pairs):
    keys = sorted({key for session in history for txn in session for _, key, _ in txn})
    said = " and ".join(f"{weak} from {strong}" for weak, strong in pairs)
    slug = "-".join(anomaly.split()[:2])
    lines = [f"{MARK} The smallest history that separates {said}.", f'probe S-{slug} "{anomaly}"',
             "init " + " ".join(f"{key}=0" for key in keys)]
    terms = []
    for number, session in enumerate(history):
        name = "abcdefgh"[number]
        reads = [op for txn in session for op in txn if op[0] == "r"]
        lines.append(f"{name}: " + " commit ".join(
            " ".join(f"w({k},{v})" if kind == "w" else f"r({k})" for kind, k, v in txn) for txn in session))
        terms += [name] + [f"{name}.{i + 1}={value}" for i, (_, _, value) in enumerate(reads)]
    return "\n".join(lines + ["anomaly " + " ".join(terms)]) + "\n", slug


def check_pairs(isoscope, history_text, pairs):
    with tempfile.NamedTemporaryFile("w", suffix=".hist") as file:
        file.write(history_text)
        file.flush()
        for weak, strong in pairs:
            for level, expected in ((weak, 0), (strong, 1)):
                ran = subprocess.run([isoscope, "check", file.name, "--level", level, "-q"])
                if ran.returncode != expected:
                    sys.exit(f"{history_text}is not what separates {weak} from {strong}: {level} gives "
                             f"{ran.returncode}")


def main():
    isoscope, *rest = sys.argv[1:]
    is_check = rest == ["--check"]
    ran = subprocess.run([isoscope, "compare", "--matrix", *LEVELS, "--json"], capture_output=True, text=True)
    if ran.returncode not in (0, 1):
        sys.exit(ran.stderr)
    pairs, anomalies = {}, {}
    for edge in json.loads(ran.stdout)["lattice"]:
        weak, strong = (edge[end].split("@")[0] for end in ("weaker", "stronger"))
        pairs.setdefault(edge["history"], []).append((weak, strong))
        anomalies[edge["history"]] = edge["anomaly"]
    by_hand = {}
    for path in sorted(FOLDER.glob("*.probe")):
        text = path.read_text()
        if not text.startswith(MARK):
            for history in sessions_of_probe(text):
                by_hand.setdefault(canonical(history), path.name)
    written = {}
    for text in sorted(pairs, key=lambda t: (len(operations(t)), t)):
        if is_check:
            check_pairs(isoscope, text, pairs[text])
        history = sessions_of_history(text)
        known = by_hand.get(canonical(history))
        said = ", ".join(f"{weak} from {strong}" for weak, strong in pairs[text])
        if known:
            print(f"{known} separates {said}")
            continue
        probe, slug = probe_text(history, anomalies[text], pairs[text])
        name = f"{FIRST + len(written)}-synth-{slug}.probe"
        written[name] = probe
        print(f"{name} separates {said}")
    there = {path.name: path.read_text() for path in FOLDER.glob("*.probe") if path.read_text().startswith(MARK)}
    if is_check:
        if there != written:
            sys.exit("probes/ is not what would be written: run scripts/synth-probes.py")
        return
    for name in there.keys() - written.keys():
        (FOLDER / name).unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
