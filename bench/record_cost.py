#!/usr/bin/env python3
"""What recording costs: CPU time of pgbench, server and recorder together, over that of pgbench and server.

    bench/record_cost.py build/isoscope [TRANSACTIONS [RUNS [one-cpu]]]

A row for each protocol of pgbench and each way to learn reads (--reads log, --reads append). A private server on
loopback, one pgbench client, its TPC-B-like transaction of seven statements. Each run has a server of its own; what starting and stopping a server costs is measured too and taken off. Of several runs the cheapest
counts: what others do on the machine only adds. `during` is what the run costs until pgbench has ended, `after` what
the recorder and the server still do then (decoding the log, computing what was read, writing the file).

The measure contains all that a recording does, from its start (copying the tables) to the finished file.

On several CPUs the ratio depends on where the system wakes the processes up. Two of them share a CPU as soon as the
machine has other work to do, which makes the direct run cheap; three do so less often. With `one-cpu` all processes
run on one CPU: such ratios are higher than those of an idle machine, and can be compared with each other.
"""
import argparse
import glob
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BIN = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
TICKS = os.sysconf("SC_CLK_TCK")


def spent(pid):
    """CPU seconds of a process, its children that have ended, and all that run below it."""
    total = 0.0
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
                children.setdefault(int(fields[1]), []).append((int(entry), fields))
            except (FileNotFoundError, ProcessLookupError):
                pass
    pending = [(p, f) for below in children.values() for p, f in below if p == pid]
    while pending:
        process, fields = pending.pop()
        total += sum(int(t) for t in fields[11:15]) / TICKS
        pending += children.get(process, [])
    return total


def run_below_the_recorder(arguments):
    """The command that is recorded: it runs pgbench, then writes down what everything has cost so far."""
    postmaster, notes = int(arguments[0]), arguments[1]
    code = subprocess.run(arguments[2:], stdout=subprocess.DEVNULL).returncode
    time.sleep(0.5)  # until the server's process of pgbench has ended and is counted
    with open(notes, "w") as file:
        json.dump({"server": spent(postmaster), "recorder": spent(os.getppid())}, file)
    return code


def measure(command_of):
    """CPU seconds of a server and what runs against it: in all, and until pgbench had ended."""
    work = tempfile.mkdtemp()
    prefix = []
    if os.getuid() == 0:
        prefix = ["setpriv", "--reuid", "nobody", "--clear-groups"]
        shutil.chown(work, "nobody")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    env = dict(os.environ, PGHOST="127.0.0.1", PGPORT=port, PGUSER="bench", PGDATABASE="postgres")
    try:
        subprocess.run(prefix + [BIN + "/initdb", "-D", work + "/data", "-U", "bench", "-A", "trust", "--no-sync"],
                       check=True, stdout=subprocess.DEVNULL, cwd=work)
        server = subprocess.Popen(
            prefix + [BIN + "/postgres", "-D", work + "/data", "-p", port, "-c", "listen_addresses=127.0.0.1",
                      "-c", "unix_socket_directories=" + work, "-c", "wal_level=logical", "-c", "fsync=off",
                      "-c", "autovacuum=off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=work)
        while subprocess.run([BIN + "/pg_isready", "-q"], env=env).returncode != 0:
            time.sleep(0.1)
        subprocess.run([BIN + "/pgbench", "-i", "-q"], env=env, check=True, capture_output=True)
        subprocess.run([BIN + "/psql", "-qc", "CHECKPOINT"], env=env, check=True)
        server_before = spent(server.pid)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        clients_before = usage.ru_utime + usage.ru_stime
        notes = work + "/notes.json"
        command = command_of(port, work, server.pid, notes)
        if command:
            subprocess.run(command, env=env, check=True, capture_output=True)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        clients = usage.ru_utime + usage.ru_stime - clients_before
        total = spent(server.pid) - server_before + clients
        during = total
        if os.path.exists(notes):
            with open(notes) as file:
                at_end = json.load(file)
            during = at_end["server"] - server_before + at_end["recorder"]
        server.send_signal(2)
        server.wait()
        return total, during
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the isoscope to measure")
    parser.add_argument("transactions", nargs="?", type=int, default=5000, help="of each run (5000)")
    parser.add_argument("runs", nargs="?", type=int, default=3, help="of which the cheapest counts (3)")
    parser.add_argument("cpus", nargs="?", choices=["one-cpu"], help="all processes on one CPU")
    args = parser.parse_args()
    isoscope, transactions, runs = os.path.abspath(args.binary), str(args.transactions), args.runs
    if args.cpus:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # all that is started from here inherits it
    print(f"{transactions} transactions, CPU seconds of the cheapest of {runs} runs, "
          f"on {len(os.sched_getaffinity(0))} CPUs")
    for protocol in ("prepared", "extended", "simple"):
        bench = [BIN + "/pgbench", "-n", "-M", protocol, "-t", transactions]

        def recorded(port, work, postmaster, notes, reads):
            return [isoscope, "record", "--quiet", "--reads", reads, "--dsn", f"host=127.0.0.1 port={port} user=bench dbname=postgres",
                    "-o", work + "/run.jsonl", "--", sys.executable, os.path.abspath(__file__), "--below",
                    str(postmaster), notes] + bench

        def direct(port, work, postmaster, notes, command=None):
            return [sys.executable, os.path.abspath(__file__), "--below", str(postmaster), notes] + (command or bench)

        # Python itself and an idle server are part of both.
        idle = min(measure(lambda *places: direct(*places, command=["true"]))[0] for _ in range(runs))
        plain = min(measure(direct)[0] for _ in range(runs)) - idle
        for reads in ("log", "append"):
            runs_of = [measure(lambda *places: recorded(*places, reads)) for _ in range(runs)]
            total, during = (cost - idle for cost in min(runs_of))
            print(f"{protocol:9} {reads:6}  direct {plain:6.2f}   recorded {total:6.2f}   ratio {total / plain:.2f}   "
                  f"during {during / plain:.2f}   after {(total - during) / plain:.2f}", flush=True)
    print(f"load of the machine in the last minute: {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--below":
        sys.exit(run_below_the_recorder(sys.argv[2:]))
    main()
