#!/usr/bin/env python3
"""Draws the pictures of README.md and docs/ anew.

    scripts/fill-pictures.py build/isoscope [--check]

With --check nothing is written: it tells whether the pictures are what the program draws, and
exits with 1 if not. A test does that.
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def catalogue(names, *files):
    """Compares levels of levels/catalogue."""
    specs = " ".join(f"--spec levels/catalogue/{name}.level" for name in files)
    return f"compare --matrix {names} {specs}"


PICTURES = {
    "lost-update.svg": "check examples/lost-update.hist --level si",
    "write-skew.svg": "check examples/write-skew.hist --level ser",
    "bank.svg": "explore examples/programs/bank.txn --level pc --assert-only --threads 1",
    "oversell.svg": "run examples/sql/oversell.sql --store weak --level pg-rc --runs 40",
    "lattice.svg": ("compare --matrix true rc ra@co ra@vis cc@co cc@vis pc@co pc@vis ua psi si@co si@vis "
                    "ser@co ser@vis update-ser@co update-ser@vis nlu plume-ra plume-cc ec"),
    "catalogue.svg": catalogue(
        "ryw monotonic-reads monotonic-writes wfr pram four-guarantees item-cut-isolation "
        "monotonic-atomic-view atomic-cut ramp-ra causal-convergence causal+ real-time-causal generalized-si "
        "strong-session-si walter-psi nmsi consistent-prefix prefix-consistent-si conventional-si wsi cahill-ssi "
        "plain-ser strong-session-ser external-consistency rss graph-strict-ser --most-txns 4",
        "sessions", "available", "causal", "snapshots", "serial"),
    "catalogue-adya.svg": catalogue("PL-1 PL-2 PL-2L PL-CS PL-2+ PL-SI PL-2.99 PL-3", "adya"),
}

binary = pathlib.Path(sys.argv[1]).resolve()
differs = []
for name, command in PICTURES.items():
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / name
        done = subprocess.run([binary, *command.split(), "--quiet", "--svg", made], cwd=ROOT,
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1, 3):  # 3: some arrows are searched only
            sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
        text = made.read_text()
    target = ROOT / "docs" / name
    if target.exists() and target.read_text() == text:
        continue
    differs.append(name)
    if "--check" not in sys.argv:
        target.write_text(text)
if differs and "--check" in sys.argv:
    sys.exit(f"out of date: {', '.join(differs)}: run scripts/fill-pictures.py")
