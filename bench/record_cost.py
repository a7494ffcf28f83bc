#!/usr/bin/env python3
"""What recording costs: CPU time of pgbench, server and recorder together, over that of pgbench and server.

    bench/record_cost.py build/isoscope [TRANSACTIONS]

A private server on loopback, one pgbench client, its TPC-B-like transaction of seven statements. Each way runs on a
server of its own; what starting and stopping a server costs is measured too and taken off.
"""
import glob
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ISOSCOPE = os.path.abspath(sys.argv[1])
TRANSACTIONS = sys.argv[2] if len(sys.argv) > 2 else "2000"
BIN = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]


def cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(command_of):
    """CPU seconds of a server and what runs against it."""
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
        before = cpu()
        command = command_of(port, work)
        if command:
            subprocess.run(command, env=env, check=True, capture_output=True)
        server.send_signal(2)
        server.wait()
        return cpu() - before
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main():
    nothing = measure(lambda port, work: None)
    for protocol in ("prepared", "extended", "simple"):
        bench = [BIN + "/pgbench", "-n", "-M", protocol, "-t", TRANSACTIONS]
        direct = measure(lambda port, work: bench) - nothing
        recorded = measure(
            lambda port, work: [ISOSCOPE, "record", "--quiet", "--dsn",
                                f"host=127.0.0.1 port={port} user=bench dbname=postgres", "-o", work + "/run.jsonl",
                                "--"] + bench) - nothing
        print(f"{protocol:9}  direct {direct:6.2f} s   recorded {recorded:6.2f} s   ratio {recorded / direct:.2f}")


if __name__ == "__main__":
    main()
