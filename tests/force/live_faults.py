#!/usr/bin/env python3
"""Kills a private server under `isoscope stress`, and starts it again.

    tests/force/live_faults.py ISOSCOPE

 - A server that keeps what it has committed explains the history, at its own levels, kill after kill.
 - One that does not wait for its log (synchronous_commit = off) loses commits that it has told: that is found.
Exit code 2 where PostgreSQL is missing.
"""
import glob
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "record"))
from live_kills import Server  # noqa: E402

# A killed postmaster may stay a zombie of whoever started it; its children end by themselves, soon.
RESTART = r"""#!/bin/sh
data={data}
pid=$(head -1 "$data/postmaster.pid")
children=$(cat /proc/$pid/task/$pid/children)
kill -9 "$pid"
for p in $pid $children; do
  while [ -e /proc/$p ] && ! grep -q '^State:.*Z' /proc/$p/status 2>/dev/null; do sleep 0.02; done
done
rm -f "$data/postmaster.pid" {folder}/.s.PGSQL.*
cd {folder}
for i in $(seq 20); do
  setsid {start} </dev/null >>{folder}/log 2>&1 &
  started=$!
  while kill -0 $started 2>/dev/null; do
    {ready} && exit 0
    sleep 0.05
  done
done
exit 1
"""


def restart_script(server):
    """A command that kills the server and starts it again, as `--kill-server` takes it."""
    path = os.path.join(server.folder, "restart.sh")
    with open(path, "w") as file:
        file.write(RESTART.format(
            data=shlex.quote(server.folder + "/data"), folder=shlex.quote(server.folder),
            start=" ".join(shlex.quote(word) for word in server.process.args),
            ready=f"{server.programs}/pg_isready -q -h 127.0.0.1 -p {server.port}"))
    os.chmod(path, 0o755)
    return path


def postmaster(server):
    with open(server.folder + "/data/postmaster.pid") as file:
        return int(file.readline())


def configure(server, **settings):
    commands = [f"ALTER SYSTEM SET {name} = '{value}'" for name, value in settings.items()]
    commands.append("SELECT pg_reload_conf()")
    words = ["psql", "-qAtX", server.dsn]
    for command in commands:
        words += ["-c", command]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def stress(isoscope, server, *words):
    ran = subprocess.run([isoscope, "stress", "--dsn", server.dsn, "--kill-server", restart_script(server),
                          "--timeout", "120", "--json", *words], capture_output=True, text=True)
    assert ran.returncode in (0, 1), f"{words}: {ran.returncode} {ran.stdout} {ran.stderr}"
    return json.loads(ran.stdout)


def main():
    isoscope = sys.argv[1]
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda p: int(p.split("/")[4]))
    if not programs:
        print("PostgreSQL is not installed")
        sys.exit(2)
    with tempfile.TemporaryDirectory(prefix="isoscope-faults-") as folder:
        server = Server(folder, programs[-1])
        try:
            first = postmaster(server)
            for workload, isolation, level in (("register", "SERIALIZABLE", "ser"),
                                               ("list", "REPEATABLE READ", "si"),
                                               ("bank", "READ COMMITTED", "pg-rc")):
                answer = stress(isoscope, server, "--workload", workload, "--isolation", isolation, "--level", level,
                                "--txns", "1500", "--server-kills", "2")
                assert answer["verdict"] == "consistent", answer
                assert "lost_commits" not in answer, answer
                assert answer["killed_servers"] == 2, answer
                assert answer["committed"] > 300, answer
                assert any(error.startswith(("08", "57P")) for error in answer["aborts"]) or answer["unknown"], answer
                print(f"{workload} at {isolation}: {answer['committed']} committed, {answer['unknown']} of unknown "
                      f"outcome, consistent with {level}")
            assert postmaster(server) != first, "the server was not killed"
            configure(server, synchronous_commit="off", wal_writer_delay="10s")
            # rc alone allows old data at any time; a commit that is gone is wrong all the same.
            for workload, isolation, level in (("register", "SERIALIZABLE", "ser"), ("list", "SERIALIZABLE", "ser"),
                                               ("register", "READ COMMITTED", "rc"), ("list", "READ COMMITTED", "rc"),
                                               ("bank", "READ COMMITTED", "rc")):
                # The server may be killed just after its log was written: then nothing is lost, and nothing is wrong.
                for _ in range(5):
                    answer = stress(isoscope, server, "--workload", workload, "--isolation", isolation,
                                    "--level", level, "--txns", "1500", "--server-kills", "1")
                    if answer["verdict"] != "consistent":
                        break
                assert answer["verdict"] == "violated", answer
                assert answer["lost_commits"], answer
                print(f"{workload} without waiting for the log: violated at {level}, {answer['committed']} committed")
        finally:
            if os.path.exists(server.folder + "/data/postmaster.pid"):
                os.kill(postmaster(server), signal.SIGINT)  # at once
            server.process.wait()


if __name__ == "__main__":
    main()
