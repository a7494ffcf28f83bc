#!/usr/bin/env python3
"""Writes the outputs of a page anew: in its fenced blocks, what follows '$ isoscope …' becomes
what the command prints.

    scripts/fill-page.py build/isoscope docs/audit.md

A command may go on after a backslash at the end of its line. The test of the page tells whether it
is up to date.
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
binary = pathlib.Path(sys.argv[1]).resolve()


def run(command, work):
    """The command's output, as if typed in the project's folder with `isoscope` installed."""
    words = [str(binary)] + shlex.split(command)[2:] + ["--color", "never"]
    done = subprocess.run(words, cwd=work, text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout.splitlines()


def fill(page, work):
    """The lines of the page, old outputs replaced."""
    lines = iter(page.read_text().splitlines())
    filled = []
    in_output = False
    for line in lines:
        if line.startswith("$ isoscope "):
            command = line
            filled.append(line)
            while command.endswith("\\"):
                line = next(lines)
                filled.append(line)
                command = command[:-1] + line
            filled += run(command, work)
            in_output = True
        elif line.startswith("```") or not in_output:
            in_output = False
            filled.append(line)
    return filled


for name in sys.argv[2:]:
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(root / "examples", pathlib.Path(folder) / "examples")
        text = "\n".join(fill(pathlib.Path(name), folder)) + "\n"
    pathlib.Path(name).write_text(text)
