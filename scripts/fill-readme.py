#!/usr/bin/env python3
"""Writes README.md from docs/README.in.md: each line '@@COMMAND' becomes what the command prints.

    scripts/fill-readme.py build/isoscope [--check]

So every output in the README is real. With --check it only tells whether README.md is up to date
(exit code 1 if not); a test does that.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
binary = pathlib.Path(sys.argv[1]).resolve()


def run(command, work):
    """The command's output, as if typed in the project's folder with `isoscope` installed."""
    words = command.split()
    if words[0] == "isoscope":
        words[0] = str(binary)
    words = [str(root / w) if w.startswith("examples/") else w for w in words]
    done = subprocess.run(words, cwd=work, text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout.replace(f"{root}/", "").rstrip("\n")


with tempfile.TemporaryDirectory() as work:
    lines = []
    for line in (root / "docs/README.in.md").read_text().splitlines():
        if line.startswith("@@"):
            output = run(line[2:], work)
            if output:
                lines.append(output)
            continue
        # Shown commands that only write a file run too, for those that follow.
        if line.startswith("$ isoscope generate"):
            run(line[2:], work)
        lines.append(line)
text = "\n".join(lines) + "\n"
target = root / "README.md"
if "--check" in sys.argv:
    current = target.read_text() if target.exists() else ""
    if current != text:
        sys.exit("README.md is out of date: run scripts/fill-readme.py")
else:
    target.write_text(text)
