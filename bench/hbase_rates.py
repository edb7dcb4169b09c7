#!/usr/bin/env python3
"""Measures the cost of points and rows over HBase: rates, and the processor time of the daemon, the gateway and HBase.

    tests/testbed/testbed run --heap 1g -- bench/hbase_rates.py [--points 1000000] [--daemons 3]

First one daemon, then so many on the same tables, each with a client of its own. Processor time tells on a machine that others
use, too; rates only on one left alone. A line of JSON for each measurement: docs/scale.py takes them with --measured.
"""
import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests" / "cluster")]
import bed  # noqa: E402

BUILD = HERE.parent / "build/release"
START = 1699999200
METRICS = ["user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"]  # the metrics that put_client writes
STEPS, STEP_S = 60, 60
SERIES_HOSTS = 10_000


def processes():
    """Returns {name of the process in the test bed: its process id}."""
    # The exit status is 1 if one of the processes was stopped; that is not an error here.
    rows = [line.split("\t") for line in bed.testbed("status", may_fail=True).splitlines()]
    return {row[0]: int(row[1].split()[1]) for row in rows if row[1].startswith("pid")}


def processor_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Meter:
    """Measures the processor seconds of the daemons, the gateway and HBase between entry and exit of a with-statement."""

    def __init__(self, daemons):
        parts = processes()
        self.pids = {"daemon": [daemon.process.pid for daemon in daemons], "gateway": [parts["thrift"]],
                     "hbase": [parts["hbase"]]}

    def read(self):
        return {part: sum(map(processor_s, pids)) for part, pids in self.pids.items()}

    def __enter__(self):
        self.before, self.began = self.read(), time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.began
        now = self.read()
        self.used = {part: now[part] - self.before[part] for part in now}


def report(what, daemons, count, unit, meter):
    costs = {f"{part}_us": round(used / count * 1e6, 3) for part, used in meter.used.items()}
    print(json.dumps({"what": what, "daemons": daemons, unit: count, f"{unit}_per_s": round(count / meter.seconds),
                      **costs}), flush=True)


def disk_bytes():
    """The size of the data table's files, after everything has been written to them."""
    bed.admin("flush", "tsdb-r")
    folder = Path(os.environ["TESTBED_DIR"], "data/root/data/default/tsdb-r")
    return sum(path.stat().st_size for path in folder.rglob("*") if path.parent.name == "t" and path.is_file())


def memory_bytes(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def put(daemons, points, batch, seed):
    hosts = max(1, points // (len(METRICS) * STEPS * len(daemons)))
    clients = [subprocess.Popen([BUILD / "put_client", f"--port={daemon.port}", f"--hosts={hosts}", f"--metrics={len(METRICS)}",
                                 "--tags=2", f"--steps={STEPS}", f"--step={STEP_S}", f"--batch={batch}", "--connections=4",
                                 "--passes=1", "--decimals=2", f"--seed={seed + i}", f"--start={START + 3600 * (seed + i)}"],
                                stdout=subprocess.PIPE, text=True) for i, daemon in enumerate(daemons)]
    for client in clients:
        told, _ = client.communicate()
        if client.returncode:
            raise RuntimeError(f"put_client: {told[-500:]}")
    return hosts * len(METRICS) * STEPS * len(daemons)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--daemons", type=int, default=3)
    args = parser.parse_args()
    os.environ.setdefault("HOURGLASS_TSDB", str(BUILD / "tsdb"))
    bed.testbed("tables", "--suffix=-r")
    config = {"tsd.http.request.enable_chunked": "true", "tsd.http.request.max_chunk": "33554432"}
    daemons = [bed.Hourglass(config, "-r") for _ in range(args.daemons)]
    for daemon in daemons:
        daemon.start()
    try:
        for seed in (100, 101):  # the names get their ids, and Java compiles the code that is used often
            put(daemons[:1], args.points, 1000, seed)
        for batch, share in ((1000, 1), (200, 2), (50, 5)):
            with Meter(daemons) as meter:
                points = put(daemons[:1], args.points // share, batch, batch)
            report(f"put, {batch} points a request", 1, points, "points", meter)
        with Meter(daemons) as meter:
            points = put(daemons, args.points, 1000, 10)
        report("put, 1000 points a request", args.daemons, points, "points", meter)
        rows = 0
        with Meter(daemons) as meter:
            for metric in METRICS:
                # The hour of data that the first client has written.
                for series in daemons[0].query(START + 3_600_000, f"sum:1h-count:cpu.usage_{metric}",
                                               START + 3_603_599):
                    rows += int(sum(series["dps"].values())) // STEPS
        report("scan of rows of 60 cells", 1, rows, "rows", meter)
        before = disk_bytes()
        points = put(daemons[:1], args.points, 1000, 20)
        print(json.dumps({"what": "disk", "bytes_per_point": round((disk_bytes() - before) / points, 2)}), flush=True)
        before = memory_bytes(daemons[1].process.pid)
        series = SERIES_HOSTS * len(METRICS)
        subprocess.run([BUILD / "put_client", f"--port={daemons[1].port}", f"--hosts={SERIES_HOSTS}",
                        f"--metrics={len(METRICS)}", "--tags=2", "--create", "--connections=4"],
                       stdout=subprocess.DEVNULL, check=True)
        grown = memory_bytes(daemons[1].process.pid) - before
        print(json.dumps({"what": "memory", "bytes_per_series": round(grown / series)}), flush=True)
    finally:
        for daemon in daemons:
            daemon.stop()
        bed.testbed("drop", "--suffix=-r")
    return 0


if __name__ == "__main__":
    sys.exit(main())
