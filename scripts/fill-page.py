#!/usr/bin/env python3
"""Writes the outputs of pages anew: in fenced blocks, what follows '$ isoscope …' becomes what the
command prints; for a command that fails, its error.

    scripts/fill-page.py build/isoscope docs/audit.md …
    scripts/fill-page.py build/isoscope --check docs/audit.md …

A command may go on after a backslash at the end of its line. The commands of a page run in one
folder, one after the other. With --check nothing is written: it tells whether the pages are up to
date, but for times, and exits with 1 if not. A test does that for every page.
"""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(binary, command, work):
    """The command's output, as if typed in the project's folder with `isoscope` installed."""
    words = [str(binary)] + shlex.split(command)[2:]
    done = subprocess.run(words, cwd=work, text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1, 2, 3):
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return (done.stdout + (done.stderr if done.returncode == 2 else "")).splitlines()


def fill(binary, lines, work):
    """The lines of the page, old outputs replaced; and how many commands have run."""
    lines = iter(lines)
    filled = []
    commands = 0
    in_output = False
    for line in lines:
        if line.startswith("$ isoscope "):
            command = line
            filled.append(line)
            while command.endswith("\\"):
                line = next(lines)
                filled.append(line)
                command = command[:-1] + line
            filled += run(binary, command, work)
            commands += 1
            in_output = True
        elif line.startswith("```") or not in_output:
            in_output = False
            filled.append(line)
    return filled, commands


def without_times(lines):
    times = re.compile(r'\b\d+\.\d+ s\b|(?<="seconds":)[0-9.e+-]+|(?<=time=")[0-9.]+')
    return [times.sub("TIME", line) for line in lines]


def main():
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    binary = pathlib.Path(arguments[0]).resolve()
    differs = False
    for name in arguments[1:]:
        page = pathlib.Path(name)
        current = page.read_text().splitlines()
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(ROOT / "examples", pathlib.Path(folder) / "examples")
            filled, commands = fill(binary, current, folder)
        if commands == 0:
            sys.exit(f"{name} shows no command")
        if without_times(filled) == without_times(current):
            continue
        differs = True
        if "--check" in sys.argv:
            print(*difflib.unified_diff(current, filled, name, "what is printed", lineterm=""),
                  sep="\n")
        else:
            page.write_text("\n".join(filled) + "\n")
    if differs and "--check" in sys.argv:
        sys.exit("out of date: run scripts/fill-page.py")


main()
