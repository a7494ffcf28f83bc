#!/usr/bin/env python3
"""Many workers on one exploration: measured with few, simulated with many.

    bench/scale_table.py measure build/isoscope PROGRAM.txn --level cc --processes 1,2
    build/bench/subtree_sizes PROGRAM.txn cc 50 > tree.txt
    bench/scale_table.py simulate tree.txt --rate 200000 --latency 0.001

measure    seconds of the clock and of the processors, for one process and for several of mpirun.
simulate   workers that take pieces as `explore --mpi` does: one that has nothing to do asks, and
           after `latency` seconds gets the untaken choices of a busy one that are closest to the
           root. The tree is measured: its nodes have the numbers of histories below them. All
           requests go through one leader, which handles one in `service` seconds. Efficiency is the
           time of one worker by that of all workers together.
"""
import argparse
import heapq
import json
import subprocess
import sys
import time

import plot


def measure(args):
    print(f"{'processes':<11}{'histories':>11}{'seconds':>9}{'speed-up':>10}")
    first = None
    for processes in map(int, args.processes.split(",")):
        command = [args.isoscope, "explore", args.program, "--level", args.level, "--json", "--violations", "0"]
        if processes > 1:
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-q", "-n", str(processes),
                       *command, "--mpi"]
        begin = time.monotonic()
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        seconds = time.monotonic() - begin
        if run.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)}: exit code {run.returncode}")
        first = first or seconds
        print(f"{processes:<11}{json.loads(run.stdout)['histories']:>11}{seconds:>9.2f}{first / seconds:>10.2f}",
              flush=True)


class Node:
    """A choice: own histories that are not below a listed choice, and the choices below it."""
    __slots__ = ("own", "all", "children")

    def __init__(self, own, all_below, children):
        self.own, self.all, self.children = own, all_below, children


def read_tree(path):
    open_nodes = {}  # by depth: closed nodes that wait for their parent
    with open(path, encoding="ascii") as lines:
        for line in lines:
            depth, own, all_below = map(int, line.split())
            # Deeper choices that are listed closed first; a depth without a line passes them up.
            children = []
            for deeper in sorted(d for d in open_nodes if d > depth):
                children += open_nodes.pop(deeper)
            node = Node(own, all_below, children)
            open_nodes.setdefault(depth, []).append(node)
    return open_nodes[0][0]


class Worker:
    """A stack of nodes with the children that are still to be taken."""

    def __init__(self):
        self.stack = []
        self.busy_until = 0.0

    def take(self, node):
        self.stack.append((node, list(node.children)))

    def next_work(self):
        """The own histories of the next node; None if there is nothing left."""
        while self.stack:
            _, rest = self.stack[-1]
            if rest:
                child = rest.pop(0)
                self.stack.append((child, list(child.children)))
                return child.own
            self.stack.pop()
        return None

    def split(self):
        for _, rest in self.stack:
            if rest:
                given = rest[:]
                rest.clear()
                return Node(0, sum(n.all for n in given), given)
        return None


def simulate_one(root, num_workers, rate, latency, service):
    workers = [Worker() for _ in range(num_workers)]
    workers[0].take(root)
    events = [(root.own / rate, 0)]
    idle = list(range(1, num_workers))
    busy = {0}
    leader_free = 0.0
    end = 0.0
    num_pieces = 1
    while events:
        now, number = heapq.heappop(events)
        worker = workers[number]
        work = worker.next_work()
        end = max(end, now)
        if work is None:
            busy.discard(number)
            idle.append(number)
            continue
        # Whoever waits is served by this one, if it has choices to give.
        while idle:
            given = worker.split()
            if given is None:
                break
            other = idle.pop()
            leader_free = max(leader_free, now) + service
            workers[other].take(given)
            busy.add(other)
            num_pieces += 1
            heapq.heappush(events, (leader_free + latency, other))
        heapq.heappush(events, (now + work / rate, number))
    return end, num_pieces


def simulate(args):
    root = read_tree(args.tree)
    alone = root.all / args.rate
    print(f"{root.all} histories, {alone:.1f} s alone")
    print(f"{'workers':<9}{'seconds':>10}{'efficiency':>12}{'pieces a worker':>17}")
    for workers in map(int, args.workers.split(",")):
        seconds, pieces = simulate_one(root, workers, args.rate, args.latency, args.service)
        print(f"{workers:<9}{seconds:>10.3f}{alone / seconds / workers:>11.0%}{pieces / workers:>17.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    measured = commands.add_parser("measure")
    measured.add_argument("isoscope")
    measured.add_argument("program")
    measured.add_argument("--level", default="cc")
    measured.add_argument("--processes", default="1,2")
    measured.set_defaults(run=measure)
    simulated = commands.add_parser("simulate")
    simulated.add_argument("tree")
    simulated.add_argument("--workers", default="1,2,10,100,1000,10000")
    simulated.add_argument("--rate", type=float, default=200000, help="histories a second of one worker")
    simulated.add_argument("--latency", type=float, default=0.001, help="seconds from asking to having")
    simulated.add_argument("--service", type=float, default=0.00001, help="seconds of the leader a piece")
    simulated.set_defaults(run=simulate)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    plot.beside(main)
