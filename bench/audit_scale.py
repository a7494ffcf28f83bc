#!/usr/bin/env python3
"""How audit grows with the number of functions: applications that share their tables.

    bench/audit_scale.py build/isoscope [--smallest]         the table of docs/PERFORMANCE.md
    bench/audit_scale.py --print shop|ring FUNCTIONS         one of the applications, as SQL

shop: every function reads and changes rows of three tables that all of them share (by one UPDATE,
or behind FOR UPDATE) and writes a line of a journal, or reports about one of them: serializable at
REPEATABLE READ and READ COMMITTED. With `ring`, the first functions of it are replaced by a ring:
each reads a row of one table and changes a row of the next, so that at REPEATABLE READ a cycle has
as many calls as the ring has functions, and no fewer.

Each row is one run of the program: CPU time of the whole process, its answer, the number of
questions to the solver. A row with another answer than the known one, or above its limit, is
marked, and the script then exits with 1.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

TABLES = 3


def schema(tables):
    return "".join(
        f"CREATE TABLE t{t} (id integer PRIMARY KEY, a integer NOT NULL, b integer NOT NULL,"
        f" c integer NOT NULL);\n" for t in range(tables)) + (
        "CREATE TABLE journal (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind integer, amount integer);\n")


def function(number, body, declare="x integer; y integer;"):
    return (f"CREATE FUNCTION f{number}(p integer, q integer) RETURNS integer LANGUAGE plpgsql AS $$\n"
            f"DECLARE {declare}\nBEGIN\n{body}  RETURN x;\nEND; $$;\n")


def shop_function(number, tables):
    """Four kinds in turn; which tables it is about goes around."""
    first, second, third = ((number // 4 + shift) % tables for shift in range(3))
    column = "ab"[number % 7 == 0]
    kind = number % 4
    guarded = f"  UPDATE t{first} SET {column} = {column} - q WHERE id = p AND {column} >= q RETURNING {column} INTO x;\n"
    add = f"  UPDATE t{{}} SET {column} = {column} + q WHERE id = p;\n"
    line = f"  INSERT INTO journal (kind, amount) VALUES ({number}, q);\n"
    if kind == 0:  # one UPDATE with a guard, and one more
        body = guarded + "  IF FOUND THEN\n" + add.format(second) + line + "  END IF;\n"
    elif kind == 1:  # look, then change, behind a lock
        body = (f"  SELECT {column} INTO x FROM t{first} WHERE id = p FOR UPDATE;\n"
                f"  SELECT {column} INTO y FROM t{second} WHERE id = p FOR UPDATE;\n"
                f"  IF x > q THEN\n    UPDATE t{first} SET {column} = x - q WHERE id = p;\n"
                f"    UPDATE t{second} SET {column} = y + q WHERE id = p;\n" + line + "  END IF;\n")
    elif kind == 2:  # three tables
        body = "".join(add.format(t) for t in sorted({first, second, third})) + line
    else:  # a report
        body = (f"  SELECT sum({column}) INTO x FROM t{first} WHERE c > q;\n" if number % 8 == 3 else
                "  SELECT sum(amount) INTO x FROM journal WHERE kind = q;\n")
    return function(number, body)


def ring_function(number, length):
    return function(number,
                    f"  SELECT a INTO x FROM r{number} WHERE id = 1;\n"
                    f"  UPDATE r{(number + 1) % length} SET a = q WHERE id = 1 AND b < 5;\n")


def application(kind, functions, ring=0):
    text = schema(TABLES)
    if kind == "ring":
        ring = ring or functions
        text += "".join(f"CREATE TABLE r{t} (id integer PRIMARY KEY, a integer NOT NULL, b integer NOT NULL);\n"
                        for t in range(ring))
    for number in range(functions):
        text += ring_function(number, ring) if number < ring else shop_function(number, TABLES)
    return text


# Kind, functions, length of the ring, options, the known answer, the most CPU seconds.
ROWS = [
    *(("shop", n, 0, ["--level", level, "--cycle", "3"], "none", limit)
      for level in ("si", "pg-rr", "pg-rc") for n, limit in ((5, 1), (10, 2), (20, 3), (40, 5))),
    *(("shop", n, 0, ["--level", level, "--prove"], "serializable", limit)
      for level in ("si", "pg-rr", "pg-rc") for n, limit in ((5, 2), (10, 5), (20, 10), (40, 20))),
    ("ring", 40, 3, ["--level", "pg-rr", "--cycle", "3"], "anomaly", 5),
    *(("ring", n, n, ["--level", "pg-rr", "--cycle", str(n)], "anomaly", 20) for n in (4, 6, 8)),
    ("ring", 40, 8, ["--level", "pg-rr", "--cycle", "8"], "anomaly", 60),
]


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--timeout", default="120")
    parser.add_argument("--print", nargs=2, metavar=("KIND", "FUNCTIONS"), dest="shown")
    args = parser.parse_args()
    if args.shown:
        print(application(args.shown[0], int(args.shown[1])), end="")
        return 0
    print("| application | functions | options | answer | CPU s | at most | questions |")
    print("|---|---|---|---|---|---|---|")
    right = True
    for kind, functions, ring, options, expected, limit in ROWS[:1] if args.smallest else ROWS:
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
            file.write(application(kind, functions, ring))
            file.flush()
            before = cpu_seconds()
            done = subprocess.run([args.binary, "audit", file.name, *options, "--timeout", args.timeout, "--json"],
                                  text=True, capture_output=True, check=False)
            seconds = cpu_seconds() - before
        answer = json.loads(done.stdout)
        verdict = answer["verdict"]
        if verdict != expected:
            verdict += f" **instead of {expected}**"
        if verdict != expected or (seconds > limit and not args.smallest):
            right = False
        shown = kind if not ring else f"{kind} of {ring}"
        print(f"| {shown} | {functions} | {' '.join(options)} | {verdict} | {seconds:.2f} | {limit} "
              f"| {answer['stats']['questions']} |", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
