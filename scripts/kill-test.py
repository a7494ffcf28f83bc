#!/usr/bin/env python3
"""Kills isoscope with SIGKILL at random moments and looks at the files that it leaves.

    scripts/kill-test.py build/isoscope [--kills N] [--seed N]

Half of the kills hit `explore --histories`, which writes line by line: the file must hold whole
lines, numbered 1, 2, 3, ..., each a history that `check` accepts at the level that was explored,
and that `stats` and `convert` read. (The kernel may tear the line that a killed process writes; the
guard of the file then cuts it off, within moments.) The other half hits commands that write whole
files (generate, convert, run --trace): the file must be the old one or a complete new one. In no
case may another file be left.

Exit code 0 if everything was as it must be, else 1.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

OLD = "the old file\n"
SESSIONS = 10


def program():
    """More histories than anybody can wait for."""
    return "".join(
        f"session s{n} {{ {{ a := read(x); b := read(y); write(x, {n}); write(y, {n}) }} }}\n"
        for n in range(1, SESSIONS + 1))


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


class Killer:
    def __init__(self, isoscope, rng):
        self.isoscope = os.path.abspath(isoscope)
        self.rng = rng
        self.lines = 0
        self.untouched = 0
        self.cut_off = 0

    def run(self, *arguments, text=None):
        return subprocess.run([self.isoscope, *arguments], input=text, text=True,
                              capture_output=True, check=False)

    def kill(self, folder, arguments, longest):
        """Starts the command, and kills it after a while; returns whether it was still running."""
        with open(os.devnull, "w") as nothing:
            process = subprocess.Popen([self.isoscope, *arguments], cwd=folder, stdout=nothing,
                                       stderr=nothing)
        time.sleep(self.rng.uniform(0, longest))
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL

    def history(self, line):
        """A line of --histories as a history file."""
        header = {"format": "isoscope-history/1", "init": line["init"]}
        return "\n".join(json.dumps(part) for part in [header, *line["transactions"]]) + "\n"

    def text_when_guarded(self, path):
        end = time.monotonic() + 5
        while True:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if not text or text.endswith("\n") or time.monotonic() > end:
                return text
            self.cut_off += 1
            time.sleep(0.01)

    def look_at_lines(self, path, level):
        text = self.text_when_guarded(path)
        if text == OLD:
            self.untouched += 1
            return
        expect(not text or text.endswith("\n"), "the last line is torn")
        lines = text.splitlines()
        self.lines += len(lines)
        histories = []
        for number, line in enumerate(lines, 1):
            try:
                histories.append(json.loads(line))
            except ValueError as error:
                raise Failure(f"line {number} of {len(lines)} is no JSON: {error}") from error
            expect(histories[-1]["history"] == number, f"line {number} has another number")
            expect(len(histories[-1]["transactions"]) == SESSIONS, f"line {number} is not whole")
        for line in histories[-1:] + self.rng.sample(histories, min(2, len(histories))):
            history = self.history(line)
            check = self.run("check", "-", "--level", level, text=history)
            expect(check.returncode == 0, f"check does not accept a line: {check.stderr}")
            stats = self.run("stats", "-", "--json", text=history)
            expect(stats.returncode == 0 and json.loads(stats.stdout), "stats refuses a line")
            converted = self.run("convert", "-", "--to", "jsonl", text=history)
            expect(converted.returncode == 0, "convert refuses a line")

    def kill_lines(self, folder):
        level = self.rng.choice(["rc", "cc", "si"])
        threads = self.rng.choice(["1", "2"])
        path = os.path.join(folder, "all.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(OLD)
        was_running = self.kill(folder, ["explore", os.path.join(os.pardir, "program.txn"), "--level", level,
                                         "--threads", threads, "--histories", "all.jsonl"], 1.0)
        expect(was_running, "explore ended by itself")
        self.look_at_lines(path, level)

    def kill_whole(self, folder):
        commands = [
            ["generate", "history", "--txns", "300000", "--to", "jsonl", "-o", "all.jsonl"],
            ["convert", os.path.join(os.pardir, "large.jsonl"), "--to", "jsonl", "-o", "all.jsonl"],
            ["run", os.path.join(os.pardir, "program.txn"), "--store", "weak", "--level", "cc", "--runs", "3000",
             "--trace", "all.jsonl"],
        ]
        path = os.path.join(folder, "all.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(OLD)
        was_running = self.kill(folder, self.rng.choice(commands), 1.0)
        with open(path, encoding="utf-8") as file:
            is_old = file.read(len(OLD)) == OLD
        expect(is_old or not was_running or self.is_complete(path), "half a file")
        self.untouched += is_old
        if not is_old:
            stats = self.run("stats", path, "--json")
            expect(stats.returncode == 0, f"stats refuses the file: {stats.stderr}")

    def is_complete(self, path):
        with open(path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read() == b"\n"

    def once(self, number, home):
        folder = os.path.join(home, str(number))
        os.mkdir(folder)
        if number % 2 == 0:
            self.kill_lines(folder)
        else:
            self.kill_whole(folder)
        left = sorted(os.listdir(folder))
        expect(left == ["all.jsonl"], f"files are left behind: {left}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("isoscope", help="the program")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    killer = Killer(options.isoscope, random.Random(options.seed))
    failures = 0
    with tempfile.TemporaryDirectory(prefix="isoscope-kill-") as home:
        with open(os.path.join(home, "program.txn"), "w", encoding="utf-8") as file:
            file.write(program())
        made = killer.run("generate", "history", "--txns", "50000", "-o",
                          os.path.join(home, "large.jsonl"))
        if made.returncode != 0:
            sys.exit(f"cannot generate a history: {made.stderr}")
        for number in range(options.kills):
            try:
                killer.once(number, home)
            except Failure as failure:
                failures += 1
                print(f"kill {number}: {failure}")
    print(f"{options.kills - failures} of {options.kills} kills left valid files (seed "
          f"{options.seed}): {killer.lines} lines, {killer.untouched} files not "
          f"yet touched, {killer.cut_off} times a guard was awaited")
    sys.exit(1 if failures or killer.lines == 0 else 0)


if __name__ == "__main__":
    main()
