#!/usr/bin/env python3
"""Holds what --json prints to schemas/*.json.

    tests/cli/schemas_test.py build/isoscope
    tests/cli/schemas_test.py --objects FILE ...       of commands that need a database

Runs the examples of every command's --help and the commands of README.in.md and docs/*.md with
--json (those that need a database aside), and errors too. Each output is one object, and its schema
describes it. The schemas are checked as well: they use the keywords of this validator and no other.
"""
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from json_schema import errors, keyword_errors

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
def commands_of(binary):
    """Command lines as people type them, without `isoscope`."""
    help_text = subprocess.run([binary, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  ([a-z]+) ", help_text.split("Subcommands:")[1], re.M)
    for name in names:
        text = subprocess.run([binary, name, "--help"], capture_output=True, text=True, check=True).stdout
        for below in re.findall(r"^  (history|program) ", text, re.M):
            text += subprocess.run([binary, name, below, "--help"], capture_output=True, text=True,
                                   check=True).stdout
        for line in re.findall(r"^  isoscope (.*)$", text, re.M):
            yield line
    for page in [ROOT / "docs/README.in.md", *sorted((ROOT / "docs").glob("*.md"))]:
        joined = page.read_text().replace("\\\n", " ")
        for line in re.findall(r"^\$ isoscope (.*)$", joined, re.M):
            yield line
    yield "check missing.hist --level si"
    yield "check examples/lost-update.hist --level nonsense"
    yield "nonsense"


def check_objects(paths):
    """The objects in these files, by the command that they name."""
    failures = []
    for path in paths:
        answer = json.loads(pathlib.Path(path).read_text())
        schema = json.loads((ROOT / "schemas" / f"{answer['command']}.json").read_text())
        failures += list(errors(answer, schema, f"{path}: {answer['command']}"))
    for failure in failures:
        print(failure)
    return 1 if failures or not paths else 0


@functools.cache
def needs_server(binary, command):
    """Its runs, against a server, are held to its schema by tests of their own."""
    done = subprocess.run([binary, command, "--help"], capture_output=True, text=True, check=False)
    return re.search(r"--dsn DSN +REQUIRED", done.stdout) is not None


def main():
    if sys.argv[1] == "--objects":
        sys.exit(check_objects(sys.argv[2:]))
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    schemas = {p.stem: json.loads(p.read_text()) for p in (ROOT / "schemas").glob("*.json")}
    failures = []
    for name, schema in schemas.items():
        failures += keyword_errors(schema, name)
    # A validator that accepts everything would pass, too.
    wrong = {"tool": "isoscope", "version": 1, "command": "check", "verdict": "fine", "stats": {}}
    if len(list(errors(wrong, schemas["check"], ""))) != 3:
        failures.append("the validator overlooks errors")
    seen = {}
    with tempfile.TemporaryDirectory() as folder:
        for link in ("examples", "levels"):
            os.symlink(ROOT / link, pathlib.Path(folder) / link)
        for line in dict.fromkeys(commands_of(binary)):
            if re.search(r"[|&;<>#]|--dsn|(^| )-o ?-", line) or " --help" in line or "--version" in line:
                continue
            words = shlex.split(line)
            if words[0] in ("help", "version") or needs_server(binary, words[0]):
                continue
            if "--json" not in words:
                words.append("--json")
            if "--timeout" not in words and "levels" != words[0]:
                words += ["--timeout", "4"]
            done = subprocess.run([binary, *words], cwd=folder, capture_output=True, text=True, check=False,
                                  stdin=subprocess.DEVNULL)
            out = done.stdout
            for i, word in enumerate(words[:-1]):
                if word in ("-o", "--output") and words[0] not in ("convert", "generate"):
                    out = (pathlib.Path(folder) / words[i + 1]).read_text() if not out else out
            if not out:
                failures.append(f"isoscope {line}: prints no object: {done.stderr[:200]}")
                continue
            try:
                answer = json.loads(out)
            except ValueError as error:
                failures.append(f"isoscope {line}: {error}")
                continue
            name = "error" if "error" in answer else answer.get("command", "")
            seen[name] = seen.get(name, 0) + 1
            if (name == "error") != (done.returncode == 2):
                failures.append(f"isoscope {line}: exit code {done.returncode} of {name}")
            if name not in schemas:
                failures.append(f"isoscope {line}: no schema for {name}")
                continue
            failures += [f"isoscope {line}: {e}" for e in errors(answer, schemas[name], "")]
    for name in schemas:
        if name not in seen and not needs_server(binary, name):
            failures.append(f"no output was held to schemas/{name}.json")
    print("\n".join(failures))
    print(", ".join(f"{name} {count}" for name, count in sorted(seen.items())))
    sys.exit(1 if failures else 0)


main()
