#!/usr/bin/python3
"""A daemon under steady load for a long time: its memory, disk, files and open descriptors must stay flat.

    soak.py --tsdb build/release/tsdb --minutes 60 [--rate 4000] [--out build/soak] [--no-plot | --plot]

Four connections write a live set of constant size again and again (SERIES series over HOURS hours, each point
overwritten in turn); others query it and delete hours of series. Points with five minutes left of their time to live
are written all the while, seen until it ends and not after. Regions are divided, joined, flushed and merged through
/api/admin every few seconds, and the store is kept small, so that flushes and merges come by themselves, too. Every few
seconds a line of samples goes to OUT/soak.csv; at the end OUT/soak.png shows them (python3-matplotlib, installed by `setup/install soak`).

The first third warms up. Then each quantity's median over the last third may exceed that of the middle third by
GROWTH and a slack at most; what was read must be what was written. Starts its own daemon on a free port and kills no
other. --self-test checks the checking. The last line reads "N passed, N failed".
"""
import argparse
import csv
import http.client
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from checks import Checks, judged  # noqa: E402
from daemon import Daemon, Refused  # noqa: E402
from shaker import Shaker  # noqa: E402

WRITERS = 4
SERIES = 200
HOURS = 6
STEP_S = 10           # seconds between two points of a series
BATCH = 500
START = (int(time.time()) // 3600 - HOURS) * 3600
EXPIRING = 100        # number of series whose points expire
LEFT_S = 300          # seconds that their points have left when they are written
SHAKE_S = 3           # seconds between two calls to /api/admin
SAMPLE_S = 5
GROWTH = 1.15
MIB = 1 << 20
# The allowed growth of each quantity: the size of the steps in which it grows.
SLACK = {"memory": 8 * MIB, "disk": 4 * MIB, "log": 128 * MIB, "files": 6, "descriptors": 8}
SETTINGS = {"tsd.storage.log.max": 1 << 20, "tsd.memory.limit": 256 * MIB, "tsd.http.query.allow_delete": "true"}
SPARE_S = 7200        # by which the time to live outlasts what is written again and again
COLUMNS = ("seconds", "memory", "disk", "log", "files", "descriptors", "points", "refused", "queries", "deletes", "expired",
           "regions", "flushes", "merges", "put_ms_median", "put_ms_p99", "query_ms_median", "query_ms_p99")


class Times:
    """Collects durations in milliseconds until they are taken. Thread-safe."""

    def __init__(self):
        self.lock = threading.Lock()
        self.ms = []
        self.total = 0

    def add(self, seconds):
        with self.lock:
            self.ms.append(seconds * 1000)
            self.total += 1

    def take(self):
        """Returns (median, 99th percentile) since the last call."""
        with self.lock:
            taken, self.ms = sorted(self.ms), []
        if not taken:
            return "", ""
        return round(statistics.median(taken), 2), round(taken[min(len(taken) - 1, len(taken) * 99 // 100)], 2)


class Load:
    """The clients, which work until they are told to stop."""

    def __init__(self, daemon, rate, ttl_s):
        self.daemon, self.rate, self.ttl_s = daemon, rate, ttl_s
        self.stop = threading.Event()
        self.puts, self.queries = Times(), Times()
        self.points = self.refused = self.deletes = self.expired = 0
        self.errors = []
        self.shaker = Shaker(daemon, 3, range(START, START + HOURS * 3600, 3600), SHAKE_S)
        self.threads = [threading.Thread(target=self.write, args=(i,)) for i in range(WRITERS)]
        self.threads += [threading.Thread(target=work) for work in (self.ask, self.delete, self.expire)]
        self.threads.append(self.shaker)

    def start(self):
        for thread in self.threads:
            thread.start()

    def end(self):
        self.stop.set()
        self.shaker.ended.set()
        for thread in self.threads:
            thread.join()
        self.errors += self.shaker.errors

    def fail(self, text):
        if len(self.errors) < 10:
            self.errors.append(text)

    def write(self, number):
        """Writes all hours of this writer's series, again and again. The value identifies the point."""
        pause = BATCH * WRITERS / self.rate
        connection = self.daemon.connection()
        mine = range(number, SERIES, WRITERS)
        due, waiting = time.monotonic(), []
        while not self.stop.is_set():
            for tick in range(0, HOURS * 3600 // STEP_S):
                waiting += [{"metric": "soak.m", "timestamp": START + tick * STEP_S, "value": tick * SERIES + series,
                             "tags": {"series": f"s{series}"}} for series in mine]
                if len(waiting) < BATCH:
                    continue
                count, body, waiting = len(waiting), json.dumps(waiting), []
                due = max(due + pause, time.monotonic() - 5)
                if self.stop.wait(max(0, due - time.monotonic())):
                    return
                began = time.monotonic()
                try:
                    connection.request("POST", "/api/put", body, {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    answer.read()
                except (OSError, http.client.HTTPException) as error:
                    self.fail(f"a put failed: {error}")
                    connection = self.daemon.connection()
                    continue
                if answer.status == 204:
                    self.puts.add(time.monotonic() - began)
                    self.points += count
                elif answer.status == 503:
                    self.refused += 1
                else:
                    self.fail(f"a put was answered with {answer.status}")

    def ask(self):
        """Queries an hour of a series; each value must be the one that was written for its time."""
        chance = random.Random(1)
        while not self.stop.wait(0.1):
            series, hour = chance.randrange(SERIES), chance.randrange(HOURS)
            began = time.monotonic()
            try:
                answer = self.daemon.query(START + hour * 3600, f"none:soak.m{{series=s{series}}}",
                                           end=START + hour * 3600 + 3599)
            except Refused as refused:
                if refused.status != 400:
                    self.fail(str(refused))
                continue  # nothing has been written yet
            except OSError as error:
                self.fail(f"a query failed: {error}")
                continue
            self.queries.add(time.monotonic() - began)
            for found in answer:
                for instant, value in found["dps"].items():
                    if value != (int(instant) - START) // STEP_S * SERIES + series:
                        self.fail(f"wrong: series {series} at {instant} = {value}")

    def expire(self):
        """Writes a point for each expiring series every second; then queries one series, which must hold exactly the points not expired yet."""
        connection, written, chance = self.daemon.connection(), set(), random.Random(4)
        while not self.stop.wait(1):
            instant = int(time.time()) - self.ttl_s + LEFT_S
            body = json.dumps([{"metric": "soak.old", "timestamp": instant, "value": instant, "tags": {"series": f"s{series}"}}
                               for series in range(EXPIRING)])
            try:
                connection.request("POST", "/api/put", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                if answer.status == 204:
                    written.add(instant)
                    self.points += EXPIRING
                elif answer.status == 503:
                    self.refused += 1
                else:
                    self.fail(f"a put of points that expire was answered with {answer.status}")
                found = self.daemon.query(instant - LEFT_S - 3600, f"none:soak.old{{series=s{chance.randrange(EXPIRING)}}}",
                                          end=instant)
            except Refused as refused:
                if refused.status != 400:
                    self.fail(str(refused))
                continue  # nothing has been written yet
            except (OSError, http.client.HTTPException) as error:
                self.fail(f"points that expire: {error}")
                connection = self.daemon.connection()
                continue
            horizon = int(time.time()) - self.ttl_s  # lower bound of the expiry time; it was computed after the query, which may have found older points
            seen = {int(second) for series in found for second in series["dps"]}
            missing = [second for second in written if second > horizon + 1 and second not in seen]
            over = [second for second in seen if second < instant - LEFT_S - 1]
            if missing or over:
                self.fail(f"of points that expire {len(missing)} are missing, {len(over)} should have gone")
            gone = {second for second in written if second <= horizon + 1}
            self.expired += len(gone) * EXPIRING
            written -= gone

    def delete(self):
        chance = random.Random(2)
        while not self.stop.wait(2):
            hour = START + chance.randrange(HOURS) * 3600
            words = urllib.parse.urlencode({"start": hour, "end": hour + 3599,
                                            "m": f"none:soak.m{{series=s{chance.randrange(SERIES)}}}"})
            connection = self.daemon.connection()
            try:
                connection.request("DELETE", "/api/query?" + words)
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    self.deletes += 1
                elif answer.status != 400:
                    self.fail(f"a delete was answered with {answer.status}")
            except (OSError, http.client.HTTPException) as error:
                self.fail(f"a delete failed: {error}")
            finally:
                connection.close()


def sizes(folder):
    """Returns (name, bytes on disk) of each file in the folder; files may vanish meanwhile."""
    found = []
    for path in folder.rglob("*"):
        try:
            found.append((path.name, path.stat().st_blocks * 512))
        except FileNotFoundError:
            pass
    return found


def sample(daemon, load, began):
    process = Path(f"/proc/{daemon.process.pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    files = sizes(daemon.folder / "data")
    stats = {stat["metric"]: int(stat["value"]) for stat in daemon.get("/api/stats")
             if stat["metric"].startswith("tsd.storage.")}
    put, query = load.puts.take(), load.queries.take()
    return {"seconds": round(time.monotonic() - began, 1), "memory": int(status["RssAnon"].split()[0]) * 1024,
            "disk": sum(size for name, size in files if not name.endswith(".log")),
            "log": sum(size for name, size in files if name.endswith(".log")), "files": len(files),
            "descriptors": len(list((process / "fd").iterdir())), "points": load.points, "refused": load.refused,
            "queries": load.queries.total, "deletes": load.deletes, "expired": load.expired,
            "regions": len(daemon.get("/api/admin/regions?table=tsdb")), "flushes": stats["tsd.storage.flushes"],
            "merges": stats["tsd.storage.merges"], "put_ms_median": put[0], "put_ms_p99": put[1],
            "query_ms_median": query[0], "query_ms_p99": query[1]}


def steady(samples):
    """Returns (quantity, median of the middle third, median of the last third, whether it is flat) for each quantity."""
    third = len(samples) // 3
    for quantity, slack in SLACK.items():
        middle, last = (statistics.median(row[quantity] for row in part)
                        for part in (samples[third:2 * third], samples[2 * third:]))
        yield quantity, middle, last, last <= middle * GROWTH + slack


def plot(out):
    """Draws OUT/soak.csv as OUT/soak.png with the distribution's Python, which has the package for it."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    with open(out / "soak.csv", newline="") as file:
        samples = [{name: float(text) if text else "" for name, text in row.items()} for row in csv.DictReader(file)]
    minutes = [row["seconds"] / 60 for row in samples]
    panels = (("MiB in memory (RssAnon)", {"memory": MIB}), ("MiB on disk", {"disk": MIB, "log": MIB}),
              ("files, descriptors, regions", {"files": 1, "descriptors": 1, "regions": 1}), ("flushes, merges", {"flushes": 1, "merges": 1}),
              ("ms of a put", {"put_ms_median": 1, "put_ms_p99": 1}),
              ("ms of a query", {"query_ms_median": 1, "query_ms_p99": 1}))
    figure, axes = pyplot.subplots(3, 2, figsize=(14, 12), sharex=True)
    for axis, (title, columns) in zip(axes.flat, panels):
        for column, unit in columns.items():
            pairs = [(minute, row[column] / unit) for minute, row in zip(minutes, samples) if row[column] != ""]
            axis.plot(*zip(*pairs), label=column)
        axis.set_title(title)
        axis.set_ylim(bottom=0)
        axis.grid(True)
        axis.legend()
    for axis in axes[-1]:
        axis.set_xlabel("minutes")
    figure.tight_layout()
    figure.savefig(out / "soak.png")


def self_test():
    def run(of_quantity):
        return [{**{name: 100 * MIB if name in ("memory", "disk", "log") else 50 for name in SLACK}, "memory": of_quantity(i)}
                for i in range(90)]

    def flat(samples):
        return all(good for *_, good in steady(samples))

    return judged({
        "what is constant is flat": flat(run(lambda i: 100 * MIB)),
        "what warms up and stays is flat": flat(run(lambda i: min(i, 25) * 4 * MIB)),
        "what swings is flat": flat(run(lambda i: (100 + i % 10 * 5) * MIB)),
        "what grows is not": not flat(run(lambda i: (100 + i) * MIB)),
        "what jumps late is not": not flat(run(lambda i: (200 if i > 70 else 100) * MIB)),
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--rate", type=int, default=4000, help="points per second")
    parser.add_argument("--out", default="build/soak", type=Path)
    parser.add_argument("--no-plot", action="store_true")
    parser.add_argument("--plot", action="store_true", help="only plot OUT/soak.csv")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if args.plot:
        return plot(args.out)

    args.out.mkdir(parents=True, exist_ok=True)
    samples, checks = [], Checks()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, open(args.out / "soak.csv", "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        ttl_s = int(HOURS * 3600 + args.minutes * 60 + SPARE_S)
        daemon = Daemon(args.tsdb, folder, {**SETTINGS, "tsd.storage.ttl": ttl_s})
        daemon.start()
        load = Load(daemon, args.rate, ttl_s)
        began = time.monotonic()
        load.start()
        try:
            while time.monotonic() - began < args.minutes * 60:
                time.sleep(SAMPLE_S)
                samples.append(sample(daemon, load, began))
                table.writerow(samples[-1])
                file.flush()
                if len(samples) % 12 == 0:
                    print(", ".join(f"{name} {samples[-1][name]}" for name in COLUMNS), flush=True)
        finally:
            load.end()
            status = daemon.stop()
        checks.demand(status == 0, f"the clean stop ended with {status}")
    for error in load.errors:
        print("FAIL " + error)
    checks.demand(not load.errors, f"{load.points} points written ({load.refused} batches refused), {load.queries.total} "
           f"queries, {load.deletes} deletes and {load.expired} expired points: {len(load.errors)} wrong")
    checks.demand(load.shaker.done["split"] and load.shaker.done["merge"] and load.expired,
           f"regions: {dict(load.shaker.done)}; points expired")
    checks.demand(samples[-1]["flushes"] > 3 and samples[-1]["merges"] > 0,
           f"{samples[-1]['flushes']} flushes, {samples[-1]['merges']} merges")
    for quantity, middle, last, good in steady(samples):
        checks.demand(good, f"{quantity}: {middle:.0f} in the middle third, {last:.0f} in the last")
    if not args.no_plot:
        subprocess.run([ROOT / "setup/install", "soak"], check=True)
        subprocess.run(["/usr/bin/python3", __file__, "--plot", "--out", args.out], check=True)
        print(f"see {args.out}/soak.csv, {args.out}/soak.png")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
