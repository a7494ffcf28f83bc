#!/usr/bin/env python3
"""Kills the recorder, the application or the server at random, and looks at what is left.

    tests/record/live_kills.py ISOSCOPE [ROUNDS] [--reads log|append]      (or ISOSCOPE_KILLS=200 in the environment)

An application moves money between accounts on a private server and writes down, after each commit that it was told of,
which one it was. After each kill (SIGKILL, after a random time):
 - the file of the run has whole lines, each JSON, and isoscope reads it;
 - it has every transaction that the application was told of;
 - the server's data is as without the recorder: no money is lost, and the number of transfers is that of the ledger;
 - where the recorder was killed, `record --recover` finishes the file: every transaction is still there, those before the
   last reading of the log with what they read and wrote, and nothing that did not happen (the transfers come one after
   the other, so ser is never violated);
 - where only the application was killed, the recorder finishes the file by itself, to the same effect.
With --reads append the server has no log to read: a recorder that was killed leaves transactions with gaps, and
--recover says that it cannot finish the file and leaves it alone.
Exit code 2 where PostgreSQL or psycopg2 is missing.
"""
import argparse
import glob
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

DEBIAN_PYTHON = "/usr/bin/python3"

CLIENT = r"""
import os, random, sys
import psycopg2
told = open(sys.argv[1], "a", buffering=1)
rng = random.Random(int(sys.argv[2]))
connection = psycopg2.connect("", application_name="mover")
number = int(sys.argv[2]) * 100000
while True:
    number += 1
    a, b = rng.sample(range(20), 2)
    amount = rng.randrange(100)
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT balance FROM account WHERE id = %s", (a,))
        cursor.fetchone()
        cursor.execute("UPDATE account SET balance = balance - %s WHERE id = %s", (amount, a))
        cursor.execute("UPDATE account SET balance = balance + %s WHERE id = %s", (amount, b))
        cursor.execute("INSERT INTO ledger VALUES (%s, %s, %s, %s)", (number, a, b, amount))
    told.write(f"{number}\n")
"""


class Server:
    """A private server in a temporary folder."""

    def __init__(self, folder, programs, wal_level="logical"):
        self.folder, self.programs, self.wal_level, self.process = folder, programs, wal_level, None
        self.prefix = []
        if os.getuid() == 0:
            self.prefix = ["setpriv", "--reuid", "nobody", "--clear-groups"]
            shutil.chown(folder, "nobody")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.dsn = f"host=127.0.0.1 port={self.port} user=test dbname=postgres"
        subprocess.run(self.prefix + [programs + "/initdb", "-D", folder + "/data", "-U", "test", "-A", "trust",
                                      "--no-sync"], check=True, stdout=subprocess.DEVNULL, cwd=folder)
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.prefix + [self.programs + "/postgres", "-D", self.folder + "/data", "-p", str(self.port),
                           "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + self.folder,
                           "-c", "wal_level=" + self.wal_level, "-c", "fsync=off", "-c", "shared_buffers=16MB",
                           "-c", "temp_file_limit=200MB"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        ready = [self.programs + "/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        end = time.time() + 60
        while subprocess.run(ready).returncode != 0:
            if time.time() > end:
                raise SystemExit("the server does not start")
            if self.process.poll() is not None:
                return self.start()  # the shared memory of the one that was killed is still there
            time.sleep(0.05)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()


def look(server, run, told_file, isoscope, who):
    """What must hold after a kill. Returns how many transactions the application was told of."""
    import psycopg2
    with open(run, "rb") as file:
        text = file.read()
    assert text.endswith(b"\n") or not text, f"{who}: half a line: {text[-80:]}"
    lines = [json.loads(line) for line in text.decode().splitlines()]
    recorded = set()
    for line in lines[1:]:
        if "id" not in line:
            continue  # what the recorder keeps for itself
        for statement in line["stmts"]:
            if statement["sql"].startswith("INSERT INTO ledger") and line["status"] == "committed":
                recorded.add(int(statement["sql"].split("(")[1].split(",")[0]))
    with open(told_file) as file:
        told = {int(line) for line in file if line.endswith("\n")}
    assert told <= recorded, f"{who}: the application was told of {sorted(told - recorded)[:5]}, not in the file"
    if len(lines) > 1:
        code = subprocess.run([isoscope, "stats", run], capture_output=True).returncode
        assert code == 0, f"{who}: stats ends with {code}"
    with psycopg2.connect(server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT sum(balance) FROM account")
        assert cursor.fetchone()[0] == 20000, f"{who}: money was lost"
        cursor.execute("SELECT id FROM ledger")
        ledger = {row[0] for row in cursor}
        assert told <= ledger, f"{who}: a commit was lost"
        cursor.execute("""SELECT count(*) FROM account WHERE balance <> 1000
            - coalesce((SELECT sum(amount) FROM ledger WHERE source = account.id), 0)
            + coalesce((SELECT sum(amount) FROM ledger WHERE target = account.id), 0)""")
        assert cursor.fetchone()[0] == 0, f"{who}: an account does not agree with the ledger"
        cursor.execute("SELECT count(*) FROM pg_replication_slots WHERE NOT active")
        assert cursor.fetchone()[0] == 0, f"{who}: a slot was left behind"
    return len(told)


def recover(server, run, told_file, isoscope, who):
    """Finishes the file of a recorder that was killed."""
    done = subprocess.run([isoscope, "record", "--recover", run, "--dsn", server.dsn], capture_output=True, text=True)
    assert done.returncode == 0, f"{who}: --recover ends with {done.returncode}: {done.stderr}"
    look(server, run, told_file, isoscope, who + ", recovered")
    return understood(run, isoscope, who + ", recovered")


def refuse_to_recover(server, run, isoscope, who):
    """Without a log there is nothing to finish the file from."""
    with open(run, "rb") as file:
        before = file.read()
    done = subprocess.run([isoscope, "record", "--recover", run, "--dsn", server.dsn], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr, f"{who}: --recover ends with {done.returncode}: {done.stderr}"
    with open(run, "rb") as file:
        assert file.read() == before, f"{who}: --recover changed the file"


def understood(run, isoscope, who):
    """How many transfers of a file that was finished have what they read and wrote."""
    count = 0
    for line in map(json.loads, open(run)):
        inserts = [i for i, s in enumerate(line.get("stmts", [])) if s["sql"].startswith("INSERT INTO ledger")]
        # One that was cut off before its COMMIT is aborted, and wrote nothing.
        if not inserts or line.get("gaps") or line["status"] != "committed":
            continue
        written = {op[1]: op[2] for statement in line["ops"] for op in statement if op[0] in "wi"}
        number = line["stmts"][inserts[0]]["sql"].split("(")[1].split(",")[0]
        assert written.get(f"ledger[{number}].id") == number, f"{who}: {line['id']} writes {written}"
        assert sum(key.startswith("account[") for key in written) == 2, f"{who}: {line['id']} writes {written}"
        count += 1
    code = subprocess.run([isoscope, "check", run, "--level", "ser"], capture_output=True).returncode
    assert code in (0, 3), f"{who}: check ends with {code}"
    return count


def one_round(number, rng, server, isoscope, folder, reads):
    run, told = f"{folder}/run.jsonl", f"{folder}/told"
    for path in (run, told):
        if os.path.exists(path):
            os.unlink(path)
    open(told, "w").close()
    recorder = subprocess.Popen(
        [isoscope, "record", "--quiet", "--reads", reads, "--dsn", server.dsn, "-o", run, "--", sys.executable, "-c", CLIENT, told,
         str(number + 1)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    end = time.time() + 30
    while os.path.getsize(told) == 0 and time.time() < end and recorder.poll() is None:
        time.sleep(0.01)
    who = rng.choice(["recorder", "application", "server"])
    time.sleep(rng.random() * (2 if who == "recorder" else 0.3))
    if who == "recorder":
        recorder.kill()
    elif who == "server":
        server.process.kill()
    else:
        children = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(recorder.pid)], capture_output=True,
                                  text=True).stdout.splitlines()
        for child in children:
            if "psycopg2" in child:
                os.kill(int(child.split()[0]), signal.SIGKILL)
    try:
        recorder.wait(timeout=60)
    except subprocess.TimeoutExpired:
        recorder.kill()
        raise SystemExit(f"round {number}: the recorder did not end when the {who} was killed")
    if who == "server":
        server.process.wait()
        server.start()
    time.sleep(0.05)  # the guard of the file cuts off what the kernel left of a line
    count = look(server, run, told, isoscope, f"round {number}, {who} killed")
    what = f"round {number}, {who} killed"
    finished = 0
    if who == "recorder" and reads == "append":
        refuse_to_recover(server, run, isoscope, what)
    elif who == "recorder":
        finished = recover(server, run, told, isoscope, what)
    elif who == "application":
        finished = understood(run, isoscope, what)
    return who, count, finished


def main():
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    try:
        import psycopg2
    except ImportError:
        psycopg2 = None
        # The first python3 of the path may not be the one that the package psycopg2 belongs to.
        if sys.executable != DEBIAN_PYTHON and os.path.exists(DEBIAN_PYTHON):
            os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON] + sys.argv)
    if not programs or psycopg2 is None:
        print("PostgreSQL or psycopg2 is not installed (scripts/install-deps.sh live)")
        return 2
    parser = argparse.ArgumentParser()
    parser.add_argument("isoscope", type=os.path.abspath)
    parser.add_argument("rounds", type=int, nargs="?", default=int(os.environ.get("ISOSCOPE_KILLS", "12")))
    parser.add_argument("--reads", choices=["log", "append"], default="log")
    options = parser.parse_args()
    rounds = options.rounds
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    server_folder = tempfile.mkdtemp()
    server = Server(server_folder, programs[-1], "logical" if options.reads == "log" else "replica")
    rng = random.Random(5)
    killed = {}
    transactions = 0
    finished = {}
    try:
        with psycopg2.connect(server.dsn) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);"
                           "INSERT INTO account SELECT i, 1000 FROM generate_series(0, 19) i;"
                           "CREATE TABLE ledger (id int PRIMARY KEY, source int, target int, amount int)")
        for number in range(rounds):
            who, told, done = one_round(number, rng, server, options.isoscope, folder, options.reads)
            finished[who] = finished.get(who, 0) + done
            killed[who] = killed.get(who, 0) + 1
            transactions += told
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(server_folder, ignore_errors=True)
    print(f"{rounds} kills with --reads {options.reads} ({', '.join(f'{who} {n}' for who, n in sorted(killed.items()))}), "
          f"{transactions} transactions that the application was told of: none lost; with what they read and wrote: "
          + ", ".join(f"{n} after the {who} was killed" for who, n in sorted(finished.items()) if who != "server"))
    # A test that recorded nothing, or finished nothing, shows nothing.
    finishes = {"log": ("application", "recorder"), "append": ("application",)}[options.reads]
    return 0 if transactions > 0 and all(finished.get(who, 1) > 0 for who in finishes) else 1


if __name__ == "__main__":
    sys.exit(main())
