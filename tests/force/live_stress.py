#!/usr/bin/env python3
"""Random clients on a private PostgreSQL server.

    tests/force/live_stress.py ISOSCOPE [TRANSACTIONS]     (or ISOSCOPE_STRESS_TXNS=1000000 in the environment)

 - At its own levels nothing is found in so many transactions, half of them registers and half lists.
 - At READ COMMITTED and REPEATABLE READ the anomaly is found when the claimed level is one stronger; its smallest part
   is written as a plan, and force makes it happen again.
 - The same for the functions of an application, of which the smallest part is the application with sessions.
Exit code 2 where PostgreSQL is missing.
"""
import glob
import json
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "record"))
from live_kills import Server  # noqa: E402

# The levels of the server as it implements them, and as the literature has them.
OWN = (("READ COMMITTED", "register", "pg-rc"), ("READ COMMITTED", "list", "pg-rc"),
       ("REPEATABLE READ", "register", "pg-rr"), ("REPEATABLE READ", "list", "si"),
       ("SERIALIZABLE", "register", "pg-ser"), ("SERIALIZABLE", "list", "ser"))
# Transfers of the bank write all that they read, so snapshot isolation keeps them serializable.
ONE_STRONGER = (("READ COMMITTED", "si", ("register", "list", "bank")), ("REPEATABLE READ", "ser", ("register", "list")))
CALLS = "400"  # of an application


def run(isoscope, server, *words):
    ran = subprocess.run([isoscope, *words, "--dsn", server.dsn, "--json"], capture_output=True, text=True)
    assert ran.returncode in (0, 1), f"{words}: {ran.returncode} {ran.stdout} {ran.stderr}"
    answer = json.loads(ran.stdout)
    for level in answer.get("levels", []):
        level.pop("witness", None)  # long
    return answer


def own_levels(isoscope, server, txns):
    for isolation, workload, level in OWN:
        answer = run(isoscope, server, "stress", "--workload", workload, "--isolation", isolation, "--level", level,
                     "--txns", str(max(txns // 2, 100)))
        assert answer["verdict"] == "consistent", answer
        ended = answer["committed"] + sum(answer["aborts"].values())
        assert ended == max(txns // 2, 100), answer  # all of them were run and are in the history
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(f"{isolation}, {workload}: {answer['committed']} of {ended} committed, {answer['throughput']:.0f} a second, "
              f"{answer['seconds']:.0f} s, consistent with {level}; largest process so far {peak} MB", flush=True)


def handed_to_force(isoscope, server, folder):
    for isolation, level, workloads in ONE_STRONGER:
        for workload in workloads:
            plan = os.path.join(folder, "plan.json")
            answer = run(isoscope, server, "stress", "--workload", workload, "--isolation", isolation, "--level", level,
                         "--txns", "4000", "--keys", "3", "--plan", plan)
            assert answer["verdict"] == "violated", answer
            forced = run(isoscope, server, "force", plan, "--first")
            assert forced["verdict"] == "reproduced", (isolation, workload, open(plan).read(), forced)
            os.unlink(plan)
            print(f"{isolation}, {workload}: violates {level}, and force reproduces it", flush=True)


def applications(isoscope, server, folder):
    app = os.path.join(HERE, "..", "..", "examples", "sql", "bank.sql")
    plan = os.path.join(folder, "race.sql")
    answer = run(isoscope, server, "stress", "--workload", app, "--isolation", "READ COMMITTED", "--level", "si",
                 "--txns", CALLS, "--plan", plan)
    assert answer["verdict"] == "violated", answer
    forced = run(isoscope, server, "force", plan, "--level", "read-committed")
    assert forced["verdict"] == "reproduced", (open(plan).read(), forced)
    print(f"bank.sql: {answer['committed']} calls violate si, and force reproduces it", flush=True)
    for isolation, level in (("READ COMMITTED", "pg-rc"), ("REPEATABLE READ", "si"), ("SERIALIZABLE", "ser")):
        answer = run(isoscope, server, "stress", "--workload", app, "--isolation", isolation, "--level", level,
                     "--txns", CALLS)
        assert answer["verdict"] == "consistent", answer
        print(f"bank.sql at {isolation}: {answer['committed']} calls are consistent with {level}", flush=True)


def main():
    isoscope = os.path.abspath(sys.argv[1])
    txns = int(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("ISOSCOPE_STRESS_TXNS", "3000"))
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda p: int(p.split("/")[4]))
    if not programs:
        print("PostgreSQL is not installed")
        return 2
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as server_folder:
        server = Server(server_folder, programs[-1])
        try:
            own_levels(isoscope, server, txns)
            handed_to_force(isoscope, server, folder)
            applications(isoscope, server, folder)
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
