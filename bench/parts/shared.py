"""The shared store: the same load and the same query through a daemon with its own store, through one daemon on the store of another,
and through two of them at the same time."""
import contextlib
import json
import statistics
import sys
import time
import urllib.parse

import servers
import support
from measuring import START, check_count
from support import medians

TITLE = "The shared store"
HOSTS, METRICS, STEP_S = 1000, 10, 10
OWN, ONE, TWO = "a daemon with its own store", "one daemon on a storage node", "two daemons on a storage node"
QUERIES = {"100 series": "|".join(f"host_{i}" for i in range(100)), "1,000 series": "*"}
OPTIONS = {"batch": 5000, "hosts": HOSTS, "step": STEP_S, "decimals": 0}


def cpu_s(server):
    """The processor time that the process has used, in the clock that clock_getcpuclockid names."""
    return time.clock_gettime((~server.pid << 3) | 2)


@contextlib.contextmanager
def cluster(bench):
    """Starts a daemon with its own store, a storage node, and two daemons on it."""
    with support.scratch() as folder, contextlib.ExitStack() as stack:
        def start(name, **settings):
            settings = {key.replace("__", "."): value for key, value in settings.items()}
            server = servers.Hourglass(bench.programs / "tsdb", folder, settings=settings, name=name)
            stack.callback(server.stop)
            return server

        port = servers.free_port()
        own, node = start("own"), start("node", tsd__thrift2__port=port)
        front = [start(name, tsd__storage__backend="hbase", tsd__storage__hbase__thrift=f"127.0.0.1:{port}",
                       tsd__storage__enable_compaction="false") for name in ("first", "second")]
        try:
            yield own, node, front
        except Exception:
            for server in (own, node, *front):
                print(server.state(), file=sys.stderr)
            raise


def write(bench, daemons, node, begin, steps):
    """Writes through all daemons at the same time, each a part of the time range."""
    processes = {"daemons": daemons, "node": [node] if node else []}
    before = {kind: sum(map(cpu_s, each)) for kind, each in processes.items()}
    part = steps // len(daemons)
    clients = [bench.start_put(one, **OPTIONS, connections=4 // len(daemons), steps=part, passes=1, start=begin + i * part * STEP_S)
               for i, one in enumerate(daemons)]
    runs = [support.finish(client) for client in clients]
    points = steps * HOSTS * METRICS
    return {"rate": points / max(points / len(daemons) / run["rate"] for run in runs),
            **{f"{kind}_cpu_ns": (sum(map(cpu_s, each)) - before[kind]) / points * 1e9 for kind, each in processes.items()}}


def measure(bench):
    steps = bench.pick(200, 40, 2)
    data = {"writes": {OWN: [], ONE: [], TWO: []}, "queries": {name: {OWN: [], ONE: []} for name in QUERIES}}
    with cluster(bench) as (own, node, front):
        sides = {OWN: ([own], None), ONE: (front[:1], node), TWO: (front, node)}
        for server in (own, *front):
            bench.put(server, create=True, start=START, hosts=HOSTS)
        ends = {None: START, node: START}
        for number in range(bench.rounds):
            for side, (daemons, store) in sides.items():
                row = write(bench, daemons, store, ends[store], steps)
                ends[store] += steps * STEP_S
                data["writes"][side].append(row)
                bench.say(f"round {number + 1}, {side}: {row['rate'] / 1e6:.3f} M points/s, CPU-ns/point: "
                          f"daemons {row['daemons_cpu_ns']:.0f}, node {row['node_cpu_ns']:.0f}")
        for server, end in ((own, ends[None]), (front[0], ends[node]), (front[1], ends[node])):
            check_count(server, "cpu.usage_user", START - 3600, end, (end - START) // STEP_S * HOSTS + HOSTS)
        for name, hosts in QUERIES.items():
            path = "/api/query?" + urllib.parse.urlencode(
                {"start": START, "end": ends[None] - 1, "m": f"sum:1m-avg:cpu.usage_user{{hostname={'literal_or(' + hosts + ')' if '|' in hosts else hosts}}}"})
            answers = {}
            for number in range(bench.rounds):
                for side, server in ((OWN, own), (ONE, front[0]))[::-1 if number % 2 else 1]:
                    began = time.monotonic()
                    answer = servers.get(server.query_port, path)
                    data["queries"][name][side].append((time.monotonic() - began) * 1000)
                    answers[side] = [list(series["dps"]) for series in json.loads(answer)]
            if answers[OWN] != answers[ONE]:  # the values differ, because each load has its own
                raise RuntimeError(f"{name}: the times of the results differ")
            bench.say(f"{name}: " + ", ".join(f"{side} {statistics.median(runs):.1f} ms" for side, runs in data["queries"][name].items()))
    data["seconds"] = ends[None] - START
    return data


def page(data, _folder):
    lines = ["| through | points/s | CPU-ns/point of the daemons | of the storage node |", "|" + " --- |" * 4]
    for side, runs in data["writes"].items():
        mine = medians(runs)
        lines.append(f"| {side} | {mine['rate'] / 1e6:.3f} M | {mine['daemons_cpu_ns']:.0f} | {mine['node_cpu_ns']:.0f} |")
    asked = [f"| query of | {OWN} | {ONE} |", "|" + " --- |" * 3]
    asked += [f"| {name} | " + " | ".join(f"{statistics.median(runs):.1f} ms" for runs in sides.values()) + " |" for name, sides in data["queries"].items()]
    return (f"The same points, 5,000 in a request over 4 connections, 10,000 series that exist already, in alternating rounds. All processes share "
            f"the cores of the machine. {OWN[0].upper()}{OWN[1:]} sends nothing over a network; the other daemons send each point to the storage node "
            f"(docs/shared-store.md). The queries read {data['seconds'] // 60} minutes with a point every {STEP_S} seconds.\n\n"
            + "\n".join(lines) + "\n\n" + "\n".join(asked))


GOALS = []
