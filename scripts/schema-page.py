#!/usr/bin/env python3
"""Writes docs/json.md from schemas/*.json: one table for each command.

    scripts/schema-page.py [--check]

With --check it only tells whether the page is up to date (exit code 1 if not); a test does that.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = """# JSON

<!-- Written by scripts/schema-page.py from schemas/*.json. -->

`--json` prints exactly one object. `schemas/` has a JSON Schema per command, and one for errors; a test
validates the output of every command for the examples of its `--help` and for the commands of these pages.
Members that are named here stay; later versions may add others, so programs should ignore unknown members. If
`limit` is present, a limit was reached, and the answer is what was known then.

"""


def type_of(schema):
    if "anyOf" in schema:
        return " or ".join(type_of(one) for one in schema["anyOf"])
    if "const" in schema:
        return f'`"{schema["const"]}"`'
    if "enum" in schema:
        return " ".join(f"`{word}`" for word in schema["enum"])
    kind = schema.get("type", "any")
    if kind == "array" and schema.get("items"):
        inner = type_of(schema["items"])
        return "list of " + (inner + "s" if inner in ("string", "object", "number", "integer") else inner)
    return kind


def rows(schema, prefix=""):
    required = schema.get("required", [])
    for name, member in schema.get("properties", {}).items():
        path = f"{prefix}{name}"
        when = "" if name in required else "*may be absent*; "
        yield f"| `{path}` | {type_of(member).replace('|', chr(92) + '|')} | {when}{member.get('description', '')} |"
        inner = member
        step = f"{path}."
        while inner.get("type") == "array":
            inner, step = inner.get("items", {}), step[:-1] + "[]."
        if inner.get("properties"):
            yield from rows(inner, step)


def page():
    text = HEAD
    for path in sorted((ROOT / "schemas").glob("*.json"), key=lambda p: (p.stem == "error", p.stem)):
        schema = json.loads(path.read_text())
        text += f"## {schema['title']}\n\n{schema['description']} Schema: [schemas/{path.name}](../schemas/{path.name}).\n\n"
        text += "| member | type | |\n|---|---|---|\n" + "\n".join(rows(schema)) + "\n\n"
    return text.rstrip("\n") + "\n"


target = ROOT / "docs/json.md"
if "--check" in sys.argv:
    if not target.exists() or target.read_text() != page():
        sys.exit("docs/json.md is out of date: run scripts/schema-page.py")
else:
    target.write_text(page())
