#!/usr/bin/env python3
"""Many commands that do not depend on each other, one after the other or spread by mpirun.

    from batch import add_option, run_all
    add_option(parser)                                  # --mpirun 'mpirun -n 4'
    for run in run_all(commands, args.mpirun): ...      # in the order of the commands

Every process that mpirun starts takes the next command that nobody has taken, until there is none:
a file that only one process can make says that it is taken. So all machines need the folder of the
commands, which is in $TMPDIR, or /tmp. A process that dies ends them all, and there is no result.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time


class Run:
    """One finished program: its exit code, what it printed, and what it used."""

    def __init__(self, command, limit, cwd=None):
        begin = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen(command, stdout=out, stderr=err, cwd=cwd)
            usage = self.wait(child, begin + limit)
            self.wall = time.monotonic() - begin
            self.cpu = usage.ru_utime + usage.ru_stime
            self.peak_bytes = usage.ru_maxrss * 1024
            self.code = child.returncode
            out.seek(0)
            err.seek(0)
            self.output, self.errors = out.read().decode(), err.read().decode()

    @staticmethod
    def wait(child, deadline):
        """Waits with wait4, which alone tells what this child used; kills it at the deadline."""
        pause = 0.0005
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid != 0:
                child.returncode = os.waitstatus_to_exitcode(status)
                return usage
            if time.monotonic() > deadline:
                child.kill()
            time.sleep(pause)
            pause = min(2 * pause, 0.02)

    @staticmethod
    def of(fields):
        run = Run.__new__(Run)
        run.__dict__.update(fields)
        return run


def add_option(parser):
    parser.add_argument("--mpirun", metavar="COMMAND", default="",
                        help="spread the commands over the processes that this starts: 'mpirun -n 4'")


def run_all(commands, mpirun="", limit=3600, cwd=None):
    """A Run for each command; as a generator, so that a table can grow while it is measured."""
    commands = [[str(word) for word in command] for command in commands]
    if not mpirun:
        for command in commands:
            yield Run(command, limit, cwd)
        return
    with tempfile.TemporaryDirectory(prefix="batch-") as folder:
        jobs = {"commands": commands, "limit": limit, "cwd": str(cwd) if cwd else None}
        pathlib.Path(folder, "jobs.json").write_text(json.dumps(jobs))
        ran = subprocess.run([*shlex.split(mpirun), sys.executable, __file__, folder], check=False)
        if ran.returncode != 0:
            sys.exit(f"{mpirun}: exit code {ran.returncode}")
        for number in range(len(commands)):
            result = pathlib.Path(folder, f"{number}.json")
            if not result.exists():
                sys.exit(f"{mpirun}: no result of {shlex.join(commands[number])}")
            yield Run.of(json.loads(result.read_text()))


def is_ours(claim):
    try:
        os.close(os.open(claim, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def work(folder):
    """One of the processes."""
    jobs = json.loads(pathlib.Path(folder, "jobs.json").read_text())
    for number, command in enumerate(jobs["commands"]):
        if not is_ours(os.path.join(folder, f"{number}.taken")):
            continue
        run = Run(command, jobs["limit"], jobs["cwd"])
        written = pathlib.Path(folder, f"{number}.written")
        written.write_text(json.dumps(vars(run)))
        written.rename(pathlib.Path(folder, f"{number}.json"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    work(sys.argv[1])
