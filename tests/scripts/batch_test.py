#!/usr/bin/env python3
"""Commands that mpirun spreads have the results, in order, that they have one after the other.

    tests/scripts/batch_test.py FOLDER-OF-BENCH
"""
import os
import sys

sys.path.insert(0, sys.argv[1])
import batch  # noqa: E402

os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"})
COMMANDS = [["sh", "-c", f"echo out {i}; echo err {i} >&2; exit {i % 4}"] for i in range(12)]


def results(mpirun):
    return [(run.code, run.output, run.errors) for run in batch.run_all(COMMANDS, mpirun)]


def main():
    expected = [(i % 4, f"out {i}\n", f"err {i}\n") for i in range(12)]
    for mpirun in ("", "mpirun -q -n 1", "mpirun -q -n 3"):
        found = results(mpirun)
        if found != expected:
            sys.exit(f"'{mpirun}': {found}")
    # One of the processes dies: no result, rather than a part of them.
    kill = [["sh", "-c", "kill -9 $PPID"]]
    try:
        list(batch.run_all(kill + COMMANDS, "mpirun -q -n 2"))
    except SystemExit as stopped:
        if "exit code" in str(stopped):
            return
    sys.exit("a killed process was not noticed")


if __name__ == "__main__":
    main()
