#!/usr/bin/env python3
"""Failures of a cluster while clients write and scan: no acknowledged point is lost, and no point appears that was not sent.

    ../testbed/testbed run --heap 1g -- faults.py [--only TEXT]      needs HOURGLASS_TSDB, the program

Each failure happens while four clients write points of their own series through /api/put, noting what was acknowledged, and
one reads all series again and again. Afterwards, within two minutes, each acknowledged point is there with its value, and each point that is
there was sent. What is not acknowledged is refused with 503 and a time to come again; any other answer, or none, is a failure. HBase's
administration from Java divides and moves regions (admin/). Tables that are missing are told by name. The last line reads "N passed, N failed".
"""
import argparse
import contextlib
import http.client
import json
import os
import sys
import threading
import time

import bed
import thrift2
from checks import Checks

START = 1699999200
POINTS_OF_A_PUT = 20
WRITERS = 4
AWAY_S = 5          # seconds for which a part of the cluster is down
REFUSAL = 503       # with Retry-After: the client should try again
PATIENCE_S = 120    # seconds within which points that waited in the daemon must be in HBase


class Load:
    """Writers and a reader that use one daemon until they are stopped."""

    def __init__(self, daemon, name):
        self.daemon = daemon
        self.name = name  # part of the metrics' names, different for each failure
        self.ending = threading.Event()
        self.sent = [0] * WRITERS           # points sent by each writer; the value n has the time START + n
        self.acknowledged = [set() for _ in range(WRITERS)]
        self.refusals = self.reads = self.failed_reads = 0
        self.wrong = []  # answers that are neither a success nor a refusal
        self.threads = [threading.Thread(target=self.write, args=(i,)) for i in range(WRITERS)]
        self.threads.append(threading.Thread(target=self.read))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        for thread in self.threads:
            thread.join()

    def write(self, i):
        while not self.ending.is_set():
            first = self.sent[i]
            numbers = range(first, first + POINTS_OF_A_PUT)
            self.sent[i] = numbers.stop
            body = json.dumps([{"metric": f"{self.name}.{n % 3}", "timestamp": START + n, "value": n,
                                "tags": {"writer": str(i)}} for n in numbers])
            status, wrong = self.post(body)
            if status == 204:
                self.acknowledged[i].update(numbers)
                continue
            self.refusals += 1
            if wrong:
                self.wrong.append(wrong)
            time.sleep(0.2)

    def post(self, body):
        """Returns (status, what is wrong with the answer unless it is a refusal)."""
        connection = self.daemon.connection(timeout=120)
        try:
            connection.request("POST", "/api/put", body)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
            good = answer.status == 204 or answer.status == REFUSAL and answer.getheader("Retry-After")
            return answer.status, None if good else f"{answer.status} {text[:300]}"
        except (OSError, http.client.HTTPException) as error:
            return None, f"no answer: {type(error).__name__}: {error}"
        finally:
            connection.close()

    def read(self):
        while not self.ending.is_set():
            try:
                points_of(self.daemon, self.name)
                self.reads += 1
            except (OSError, RuntimeError):
                self.failed_reads += 1
                time.sleep(0.2)

    def count(self):
        return sum(len(numbers) for numbers in self.acknowledged)

    def wait_for_more(self, points, patience_s=150):
        """Waits until that many more points are acknowledged."""
        aim, end = self.count() + points, time.monotonic() + patience_s
        while self.count() < aim:
            if time.monotonic() > end:
                raise RuntimeError(f"{aim - self.count()} points short of {points} after {patience_s} s")
            time.sleep(0.05)


def points_of(daemon, name):
    """Returns [{second: value}], one entry for each writer."""
    found = [{} for _ in range(WRITERS)]
    for metric in range(3):
        try:
            series = daemon.query(START - 1, f"none:{name}.{metric}{{writer=*}}", START + 10_000_000)
        except RuntimeError as refused:
            if getattr(refused, "status", None) == 400:  # nobody has written the metric yet
                continue
            raise
        for one in series:
            found[int(one["tags"]["writer"])].update({int(at) - START: value for at, value in one["dps"].items()})
    return found


def settled_difference(load, daemon):
    """The difference after the daemon has sent to HBase what it kept while HBase was down."""
    end = time.monotonic() + PATIENCE_S
    while (why := difference(load, daemon)) and time.monotonic() < end:
        time.sleep(2)
    return why


def difference(load, daemon):
    for i, found in enumerate(points_of(daemon, load.name)):
        lost = [n for n in load.acknowledged[i] if found.get(n) != n]
        invented = [n for n, value in found.items() if n >= load.sent[i] or value != n]
        if lost or invented:
            return f"writer {i}: {len(lost)} acknowledged points lost ({lost[:3]}), {len(invented)} invented ({invented[:3]})"
    return None


def gateway_killed(load):
    bed.testbed("stop", "thrift", "--kill")
    time.sleep(AWAY_S)
    bed.testbed("start", "thrift")
    load.wait_for_more(400)


def hbase_killed(load):
    bed.testbed("stop", "hbase", "--kill")
    time.sleep(AWAY_S)
    bed.testbed("start", "hbase")
    load.wait_for_more(400)


def regions_divided(load):
    for second in (0, 1):
        bed.admin("split", "tsdb-f", *(["000001"] if second == 0 else ["000002"]))
        load.wait_for_more(400)
    if int(bed.admin("count", "tsdb-f").split()[-1]) < 3:
        raise RuntimeError("the table was not divided")


def regions_moved(load):
    for _ in range(3):
        bed.admin("reopen", "tsdb-f")
        load.wait_for_more(400)


FAULTS = [gateway_killed, regions_divided, regions_moved, hbase_killed]


def table_missing():
    config = {"tsd.storage.hbase.create_tables": "false"}
    daemon = bed.Hourglass(config, "-nosuch")
    try:
        daemon.start(20)
    except RuntimeError as error:
        return None if "tsdb-uid-nosuch" in str(error) else f"the table is not named: {error}"
    daemon.stop()
    return "the daemon started without its tables"


def put_one(daemon, value):
    """Returns (status, text)."""
    connection = daemon.connection(timeout=120)
    try:
        connection.request("POST", "/api/put?summary", json.dumps(
            {"metric": "table.dropped", "timestamp": START, "value": value, "tags": {"host": "a"}}))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def table_dropped():
    """A table is dropped while the daemon runs: the error names it, and everything works once the table exists again."""
    bed.testbed("tables", "--suffix=-gone")
    daemon = bed.Hourglass({}, "-gone")
    daemon.start()
    try:
        if (first := put_one(daemon, 1))[0] != 200:
            return f"before: {first}"
        with contextlib.closing(thrift2.Client(bed.gateway_port())) as client:
            client.drop_table(b"tsdb-gone")
        status, text = put_one(daemon, 2)
        if status != 503 or "tsdb-gone" not in text:
            return f"without its table: {status} {text[:300]}"
        bed.testbed("tables", "--suffix=-gone")
        if (again := put_one(daemon, 3))[0] != 200:
            return f"with its table again: {again}"
        points = daemon.query(START - 1, "none:table.dropped", START + 1)[0]["dps"]
        return None if points == {str(START): 3} else f"with its table again: {points}"
    finally:
        daemon.stop()
        bed.testbed("drop", "--suffix=-gone")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    os.environ.setdefault("HOURGLASS_TSDB", str(bed.HERE.parent.parent / "build/release/tsdb"))
    checks = Checks()

    def tell(name, why, more=""):
        checks.demand(why is None, f"{name}{more}" + (f"\n     {why}" if why else ""))

    bed.testbed("tables", "--suffix=-f")
    daemon = bed.Hourglass({}, "-f")
    daemon.start()
    try:
        for fault in FAULTS:
            if only not in fault.__name__:
                continue
            load = Load(daemon, fault.__name__)
            try:
                with load:
                    load.wait_for_more(200)
                    fault(load)
                why = settled_difference(load, daemon)
                if not why and load.wrong:
                    why = f"{len(load.wrong)} answers are neither 204 nor {REFUSAL} with Retry-After, such as {load.wrong[0]}"
            except (OSError, RuntimeError, ValueError) as error:
                why = f"{type(error).__name__}: {error}"
            tell(fault.__name__.replace("_", " "), why, f": {load.count()} points acknowledged, {load.refusals} requests "
                 f"refused, {load.reads} reads, {load.failed_reads} failed")
    finally:
        daemon.stop()
        bed.testbed("drop", "--suffix=-f")
    for fault in (table_missing, table_dropped):
        if only in fault.__name__:
            tell(fault.__name__.replace("_", " "), fault())
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
