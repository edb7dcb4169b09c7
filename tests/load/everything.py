#!/usr/bin/env python3
"""Fifty clients ask for everything at once while writers keep writing: the daemon stays within its memory, loses
nothing that it acknowledged, and still answers small questions at once.

    everything.py --tsdb build/release/tsdb [--seconds 60] [--clients 50] [--short]

The daemon is small (512 MiB, of which its queries get 128), its data larger than what one query may hold. Demanded of
every answer to a large question: it is complete (200), or refused in words (413, 503). Of the memory: that what the
process holds for itself (RssAnon) stays below the sum of its budgets. Of the small questions: all are answered with
the right points; their median is below 100 ms, unless --short, which ./test uses, leaves the stop-watch out. Then
clients go away and queries are ended by call: their threads and their memory must come free.
Starts its own daemon on a free port, and kills no other. The last line reads "N passed, N failed".
"""
import argparse
import collections
import http.client
import json
import multiprocessing
import socket
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import Checks, wait_until  # noqa: E402
from daemon import Daemon  # noqa: E402

MIB = 1 << 20
MEMORY = 512 * MIB            # tsd.memory.limit
QUERIES = 128 * MIB           # tsd.query.memory.limit
ONE_QUERY = 64 * MIB          # tsd.query.memory.per_query
UNFLUSHED = MEMORY * 4 // 10  # the amount of unflushed data at which the store refuses writes
ELSE = 128 * MIB              # program, names, connections, what the allocator keeps
START = 1_700_000_000 - 1_700_000_000 % 3600
HOUR = 3600
WRITERS = 4
MEDIAN_MAX_MS = 100

SETTINGS = {"tsd.memory.limit": MEMORY, "tsd.query.memory.limit": QUERIES, "tsd.query.memory.per_query": ONE_QUERY,
            "tsd.storage.log.max": 64 * MIB}

# Queries for everything, each the most expensive in its way: memory for points, for buckets, for the answer; time to merge and to print.
LARGE = ("none:load.cpu", "sum:load.cpu", "none:1m-p99:load.cpu", "avg:1m-avg-zero:load.cpu{host=*}",
         "sum:rate:load.cpu{host=*}", "max:10s-max:load.cpu")


def post(connection, points):
    connection.request("POST", "/api/put", json.dumps(points), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def query_path(expression, start=START, end=START + 24 * HOUR):
    return "/api/query?" + urllib.parse.urlencode({"start": start, "end": end, "m": expression})


def seed(daemon, hosts, hours):
    """Writes a point every 5 s for each host; its value is the number of that second."""
    connection = daemon.connection()
    for host in range(hosts):
        for hour in range(hours):
            points = [{"metric": "load.cpu", "timestamp": START + hour * HOUR + second, "value": second,
                       "tags": {"host": f"h{host}", "dc": f"d{host % 3}"}} for second in range(0, HOUR, 5)]
            while (status := post(connection, points)) == 503:
                time.sleep(0.05)
            if status != 204:
                raise RuntimeError(f"seeding: {status}")
    connection.close()


class Worker(threading.Thread):
    """Repeats a step until it is told to stop; stores the error that a step raises."""

    def __init__(self, daemon, stop):
        super().__init__()
        self.daemon_under_test, self.stop, self.error = daemon, stop, None
        self.connection = None

    def run(self):
        try:
            self.connection = self.daemon_under_test.connection(timeout=300)
            while not self.stop.is_set():
                self.step()
        except Exception as error:  # pylint: disable=broad-except
            self.error = f"{type(self).__name__}: {error!r}"
        finally:
            if self.connection is not None:
                self.connection.close()

    def get(self, path):
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        return answer.status, answer.read()


class Writer(Worker):
    """Writes a point per second for each of its own series; the value is a running number."""

    def __init__(self, daemon, stop, number):
        super().__init__(daemon, stop)
        self.number, self.tick, self.acknowledged, self.refused = number, 0, 0, 0

    def step(self):
        points = [{"metric": "load.written", "timestamp": START + self.tick, "value": self.tick,
                   "tags": {"writer": f"w{self.number}", "series": f"s{series}"}} for series in range(50)]
        status = post(self.connection, points)
        if status == 204:
            self.tick += 1
            self.acknowledged = self.tick
        elif status == 503:
            self.refused += 1
            time.sleep(0.05)
        else:
            raise RuntimeError(f"put: {status}")
        time.sleep(0.005)


def ask_small(port, host, stop, results):
    """One series, one hour, again and again: (durations in ms, wrong answers). A process of its own, so that it waits
    for the daemon alone, not for the interpreter that the other clients share."""
    path = query_path(f"sum:load.cpu{{host=h{host}}}", START, START + HOUR - 1)
    expected = {str(START + second): second for second in range(0, HOUR, 5)}
    took_ms, wrong = [], []
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        while not stop.is_set():
            began = time.monotonic()
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            took_ms.append((time.monotonic() - began) * 1000)
            if answer.status != 200 or json.loads(body)[0]["dps"] != expected:
                wrong.append((answer.status, body[:200]))
            time.sleep(0.02)
    except Exception as error:  # pylint: disable=broad-except
        wrong.append(repr(error))
    results.put((took_ms, wrong))


class Large(Worker):
    """Runs a query for everything, again and again."""

    def __init__(self, daemon, stop, number):
        super().__init__(daemon, stop)
        self.number, self.asked, self.outcomes, self.wrong = number, 0, collections.Counter(), []

    def step(self):
        expression = LARGE[(self.number + self.asked) % len(LARGE)]
        self.asked += 1
        self.connection.request("GET", query_path(expression))
        answer = self.connection.getresponse()
        # Reads the answer in pieces, so that the client itself needs little memory.
        head, tail = answer.read(1 << 10), b""
        while piece := answer.read(1 << 20):
            tail = (tail + piece)[-1024:]
        status = answer.status
        self.outcomes[status] += 1
        if status == 200:
            whole = head.startswith(b"[") and (head + tail).endswith(b"]")
        else:
            words = json.loads(head)["error"]["message"]
            whole = status in (413, 503) and ("memory" in words or "large" in words)
        if not whole:
            self.wrong.append((expression, status, head[:300]))
        if status != 200:
            time.sleep(0.2)


class Memory(threading.Thread):
    """Records the largest memory that the process has used by itself."""

    def __init__(self, pid, stop):
        super().__init__()
        self.pid, self.stop, self.most = pid, stop, 0

    def read(self):
        for line in Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        return 0

    def run(self):
        while not self.stop.wait(0.05):
            self.most = max(self.most, self.read())


def running(daemon):
    return daemon.get("/api/stats/query")["running"]


def taken(daemon):
    return next(int(stat["value"]) for stat in daemon.get("/api/stats")
                if stat["metric"] == "tsd.query.memory" and stat["tags"]["type"] == "taken")


def ask_and_leave(daemon, expression, read_bytes=0):
    """Sends a query and returns the socket; the caller closes it."""
    client = socket.create_connection(("127.0.0.1", daemon.port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
    client.sendall(f"GET {query_path(expression)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode("ascii"))
    if read_bytes:
        client.recv(read_bytes)
    return client


def under_load(daemon, options, checks):
    stop = threading.Event()
    memory = Memory(daemon.process.pid, stop)
    writers = [Writer(daemon, stop, number) for number in range(WRITERS)]
    forks = multiprocessing.get_context("fork")
    small_stop, small_results = forks.Event(), forks.Queue()
    small = [forks.Process(target=ask_small, args=(daemon.port, host, small_stop, small_results)) for host in range(2)]
    for process in small:
        process.start()
    large = [Large(daemon, stop, number) for number in range(options.clients)]
    for thread in [memory, *writers, *large]:
        thread.start()
    stop.wait(options.seconds)
    small_stop.set()
    small_found = [small_results.get() for _ in small]
    for process in small:
        process.join()
    stop.set()
    for thread in [memory, *writers, *large]:
        thread.join()

    for worker in [*writers, *large]:
        checks.must(worker.error is None, f"{worker.error}")
    outcomes = sum((worker.outcomes for worker in large), collections.Counter())
    print(f"large questions: {dict(outcomes)}")
    wrong = [what for worker in large for what in worker.wrong]
    checks.must(not wrong, f"large questions answered wrongly: {wrong[:3]}")
    checks.must(outcomes[200] > 0, "no large question was answered")

    wrong = [what for _, found in small_found for what in found]
    checks.must(not wrong, f"small questions answered wrongly: {wrong[:3]}")
    took = [ms for times, _ in small_found for ms in times]
    checks.must(len(took) > 0, "no small question was answered")
    if len(took) > 1:
        print(f"small questions: {len(took)}, median {statistics.median(took):.1f} ms, "
              f"95 % {statistics.quantiles(took, n=20)[-1]:.1f} ms, most {max(took):.1f} ms")
    if not options.short:
        checks.must(took and statistics.median(took) < MEDIAN_MAX_MS, "the median is above "
                      f"{MEDIAN_MAX_MS} ms")

    budget = UNFLUSHED + QUERIES + ELSE
    print(f"memory: at most {memory.most // MIB} MiB of {budget // MIB}")
    checks.must(memory.most < budget, "the memory outgrew its budgets")
    print(f"writes: {sum(w.acknowledged for w in writers) * 50} points acknowledged, "
          f"{sum(w.refused for w in writers)} requests refused")
    return writers


def check_written(daemon, writers, checks):
    for writer in writers:
        checks.must(writer.acknowledged > 0, f"writer {writer.number} wrote nothing")
        for series in (0, 49):
            answer = daemon.query(START, f"sum:load.written{{writer=w{writer.number},series=s{series}}}",
                                  end=START + max(writer.acknowledged, 1))
            found = answer[0]["dps"] if answer else {}
            lost = [t for t in range(writer.acknowledged) if found.get(str(START + t)) != t]
            checks.must(not lost, f"writer {writer.number} series {series}: {len(lost)} points lost")
        count = daemon.query(START, f"sum:0all-count:load.written{{writer=w{writer.number}}}",
                             end=START + writer.acknowledged + 1)
        total = sum(count[0]["dps"].values()) if count else 0
        # A request without a response may have been stored all the same.
        checks.must(writer.acknowledged * 50 <= total <= (writer.acknowledged + 1) * 50,
                      f"writer {writer.number}: {writer.acknowledged * 50} acknowledged, {total} found")


def check_endings(daemon, options, checks):
    checks.must(wait_until(lambda: not running(daemon)), "queries run though nobody asks")
    checks.must(wait_until(lambda: taken(daemon) == 0), "memory is taken though no query runs")

    # Clients that disconnect before the answer, and in the middle of it.
    clients = [ask_and_leave(daemon, "sum:rate:load.cpu{host=*}") for _ in range(10)]
    clients += [ask_and_leave(daemon, "sum:rate:load.cpu{host=*}", read_bytes=1 << 10) for _ in range(3)]
    for client in clients:
        client.close()
    checks.must(wait_until(lambda: not running(daemon)), "queries run on for clients that have gone")

    # A client that does not read its answer; only DELETE /api/stats/query ends its query.
    client = ask_and_leave(daemon, "none:load.cpu" if options.short else "none:load.cpu{dc=d1}", read_bytes=1)
    checks.must(wait_until(lambda: any(q["phase"] == "answering" for q in running(daemon))),
                  "no query stands in its answer")
    for query in running(daemon):
        connection = daemon.connection()
        connection.request("DELETE", f"/api/stats/query?id={query['id']}")
        checks.must(connection.getresponse().status == 204, "a query could not be ended")
        connection.close()
    checks.must(wait_until(lambda: not running(daemon)), "a query runs on though it was ended")
    client.close()
    checks.must(wait_until(lambda: taken(daemon) == 0), "an ended query keeps its memory")
    completed = daemon.get("/api/stats/query")["completed"]
    checks.must(any("administrator" in q["exception"] for q in completed), "the end is not listed")
    log = (daemon.folder / "tsd.log").read_text(encoding="utf-8", errors="replace")
    checks.must("query ended early" in log and "m=" in log, "the log does not tell of the ended query")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--short", action="store_true", help="10 s, less data, no stop-watch")
    options = parser.parse_args()
    if options.short:
        options.seconds = min(options.seconds, 10)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="everything-") as folder:
        daemon = Daemon(options.tsdb, folder, SETTINGS)
        daemon.start()
        try:
            hosts, hours = (60, 12) if options.short else (200, 24)
            seed(daemon, hosts, hours)
            print(f"stored: {hosts * hours * 720} points; {options.clients} clients, {options.seconds:.0f} s")
            writers = under_load(daemon, options, checks)
            check_written(daemon, writers, checks)
            check_endings(daemon, options, checks)
            checks.must(daemon.process.poll() is None, "the daemon died")
            checks.must(daemon.stop() == 0, "the daemon did not stop cleanly")
        finally:
            if daemon.process.poll() is None:
                daemon.kill()
            if checks.failed:
                print(daemon.log_tail())
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
