#!/usr/bin/env python3
"""No request of any endpoint stops the service of other clients.

    endpoints.py --tsdb build/release/tsdb [--planted build/release/planted_tsdb] [--only TEXT]

The endpoints are those of the program (tests/docs/reference.py reads them); one without cases in endpoint_cases.py is a failure. Each
case is a hostile request to a daemon that holds data which makes it expensive. While it runs, and after it:

- other clients' GET /api/version, GET /api/aggregators, put and small query are answered within a second;
- the daemon lives, and its resident memory stays within tsd.memory.limit plus a quarter.

A request that takes longer than a moment is listed by GET /api/stats/query. It is sent three times. It ends within a second after
DELETE /api/stats/query?id=N, after its client has left, and at its time limit. A put whose client has left stores nothing more. Of the protocols without responses, what was read is
stored to its end.

With --planted the cases of one endpoint are sent to planted_tsdb, which has a loop without an end in it: they must fail. --only: endpoints and
cases with this text in "VERB /path: case". The last line reads "N passed, N failed".
"""
import argparse
import contextlib
import gzip
import http.client
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "docs")]
sys.dont_write_bytecode = True
import endpoint_cases as given  # noqa: E402
import pages  # noqa: E402
import reference  # noqa: E402
from daemon import Daemon, free_port  # noqa: E402

LIMIT = 512 << 20  # tsd.memory.limit
ANSWER_S = 1.0  # limit for other clients' requests, and for the end of a request that was ended
STREAM_S = 60.0  # limit for processing what came over a connection of a protocol without responses
MOMENT_S = 0.5  # a request that takes longer is listed, and every way to end it is tried
TIME_LIMIT_S = 3.0  # tsd.query.timeout; longer than what the other ways to end a request may take
STOP_S = 15.0  # limit for a stop of the daemon while requests run
PATIENCE_S = 20.0  # how long to wait for a request that nothing ends before the daemon is killed
SLOW_IN_FULL = 3  # the number of slow cases per endpoint that are sent three times; the others are only ended by a call
LATE = ("another client took", "did not end", "still computes", "is not listed", "the put was answered", "not answered", "no connection")  # parts of faults that a busy machine can cause, too
PROBES = ("/api/version", "/api/aggregators", "a put", "a small query")
SETTINGS = {
    "tsd.memory.limit": LIMIT, "tsd.query.timeout": int(TIME_LIMIT_S * 1000), "tsd.storage.max_tags": 8, "tsd.http.query.allow_delete": "false",
    "tsd.core.histograms.config": '{"net.opentsdb.core.SimpleHistogramDecoder": 42}', "tsd.rollups.enable": "true",
    "tsd.rollups.config": '{"aggregationIds":{"sum":0,"count":1},"intervals":[{"interval":"1m","rowSpan":"1h","table":"tsdb","preAggregationTable":"tsdb-agg",'
                          '"defaultInterval":true},{"interval":"1h","rowSpan":"1d","table":"tsdb-rollup-1h","preAggregationTable":"tsdb-agg-1h"}]}'}
TREES = {"tsd.core.tree.enable_processing": "true", "tsd.core.meta.enable_realtime_ts": "true", "tsd.core.meta.enable_tsuid_tracking": "true"}


def say(text):
    print(text, flush=True)


class World:
    """The data of the daemon, which makes requests expensive; with `empty`, only the series of the probes are written."""

    def __init__(self, daemon, empty):
        self.daemon, self.now = daemon, int(time.time())
        self.tsuids = self.tree_tsuids = ["000001000001000001"] * 10
        self.tree = self.split_tree = 1
        self.put([given.put_point(at=self.now - 9)])
        if not empty:
            self.fill()

    def send(self, method, path, members):
        connection = self.daemon.connection(120)
        connection.request(method, path, members if isinstance(members, bytes) else json.dumps(members),
                           {**given.JSON, **({"Content-Encoding": "gzip"} if isinstance(members, bytes) else {})})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status not in (200, 204, 304):
            raise RuntimeError(f"{method} {path}: {answer.status} {body[:300]!r}")
        return json.loads(body) if body else None

    def put(self, points, path="/api/put", at_once=10_000):
        for begin in range(0, len(points), at_once):
            self.send("POST", path, points[begin:begin + at_once])

    def series(self, metric, count):
        found = self.send("POST", "/api/search/lookup", {"metric": metric, "limit": count})
        return [result["tsuid"] for result in found["results"]]

    def fill(self):
        now = self.now
        for metric in ("wide", "wider"):
            self.put([given.put_point(metric, now - 60, i % 7, host=f"h{i}", dc=f"d{i % 100}") for i in range(given.SERIES)])
        self.put([given.put_point("text", now - 60, i, host="a" * given.LONG_VALUE + str(i)) for i in range(given.TEXT_SERIES)])
        self.put([given.put_point("long", now - given.LONG_POINTS + i, i % 100, host="a") for i in range(given.LONG_POINTS)])
        again = gzip.compress(b"[" + b",".join([json.dumps(given.put_point("again", now - 60)).encode()] * 400_000) + b"]", 1)
        for _ in range(8):
            self.send("POST", "/api/put", again)
        self.put([given.put_point("two", at) for at in (1_400_000_000, 1_700_000_000)])
        self.put([given.put_point(f"name{i}." + "x" * 200, now) for i in range(given.NAMES)])

        def histogram(metric, at, buckets, host):
            return {"metric": metric, "timestamp": at, "overflow": 0, "underflow": 0, "buckets": buckets, "tags": {"host": host}}
        self.put([histogram("hist", now - 100, {"0,1": 1}, f"h{i}") for i in range(given.HISTOGRAM_SERIES)], "/api/histogram")
        for k in range(8):
            self.put([histogram("histwide", now // 3600 * 3600 - 3600 + k, {f"{i * 8 + k},{i * 8 + k + 1}": 1 for i in range(given.WIDE_BUCKETS)}, "a")], "/api/histogram")
        self.tsuids = self.series("wide", 200)
        for tsuid in (None, self.tsuids[0]):
            self.put([{"startTime": now - 1_800 * i, "description": "x" * 100, **({"tsuid": tsuid} if tsuid else {})} for i in range(given.ANNOTATIONS)],
                     "/api/annotation/bulk", 1_000)
        self.fill_trees()

    def fill_trees(self):
        """Creates a tree with many leaves in one branch, and a tree that splits a custom value into many pieces."""
        self.daemon.stop()
        self.daemon.settings.update(TREES)
        self.daemon.start()
        self.tree = self.send("POST", "/api/tree", {"name": "flat", "enabled": True})["treeId"]
        self.send("POST", "/api/tree/rule", {"treeId": self.tree, "level": 0, "order": 0, "type": "METRIC"})
        self.send("POST", "/api/tree/rule", {"treeId": self.tree, "level": 1, "order": 0, "type": "TAGK", "field": "host"})
        self.put([given.put_point("flat", self.now, host=f"h{i}") for i in range(given.TREE_SERIES)])
        self.tree_tsuids = self.series("flat", given.TREE_SERIES)
        metric = self.tree_tsuids[0][:6]
        self.send("POST", "/api/uid/uidmeta", {"uid": metric, "type": "metric", "custom": {"path": ".".join("ab"[i % 2] for i in range(30_000))}})
        self.split_tree = self.send("POST", "/api/tree", {"name": "split"})["treeId"]
        self.send("POST", "/api/tree/rule", {"treeId": self.split_tree, "level": 0, "order": 0, "type": "METRIC_CUSTOM", "field": "x", "customField": "path",
                                             "separator": "\\."})


class Watch:
    """Sends other clients' requests and watches the daemon's memory, in a separate process that a large request of this one cannot hold up."""

    def __init__(self, daemon, now):
        self.worst = multiprocessing.Array("d", len(PROBES), lock=False)
        self.since = multiprocessing.Array("d", len(PROBES), lock=False)  # start times of the probes that are running; 0 = not running
        self.peak = multiprocessing.Value("d", 0, lock=False)
        self.pid = multiprocessing.Value("q", 0, lock=False)  # the daemon's process id; 0 = no daemon is being watched
        self.over = multiprocessing.Value("b", 0, lock=False)
        self.asked = [("GET", "/api/version", None), ("GET", "/api/aggregators", None), ("POST", "/api/put", json.dumps(given.put_point(at=now, value=2))),
                      ("GET", f"/api/query?start={now - 60}&end={now + 600}&m=sum:probe", None)]
        self.daemon = daemon
        self.process = multiprocessing.Process(target=self.run, daemon=True)
        self.process.start()

    def run(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for i in range(len(PROBES)):
            threading.Thread(target=self.probe, args=(i,), daemon=True).start()
        while not self.over.value:
            if self.pid.value:
                self.look(self.pid.value)
            time.sleep(0.02)

    def look(self, pid):
        with contextlib.suppress(OSError, StopIteration):
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                resident = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS"))
            self.peak.value = max(self.peak.value, resident)
            if resident > 3 * LIMIT and self.pid.value == pid:
                os.kill(pid, signal.SIGKILL)  # stops the daemon before it takes memory that the rest of the machine needs

    def probe(self, i):
        while not self.over.value:
            pid = self.pid.value
            if pid:
                began = self.since[i] = time.monotonic()
                good = self.answered(*self.asked[i])
                took = time.monotonic() - began
                if self.pid.value == pid:  # otherwise the daemon has ended meanwhile
                    self.worst[i] = max(self.worst[i], took if good else max(took, 9.0))
                self.since[i] = 0
            time.sleep(0.05)

    def answered(self, method, path, body):
        try:
            connection = self.daemon.connection(8)
            connection.request(method, path, body)
            answer = connection.getresponse()
            answer.read()
            connection.close()
            return answer.status in (200, 204)
        except (OSError, http.client.HTTPException):
            return False

    def begin(self):
        self.pid.value = self.daemon.process.pid
        self.peak.value = 0
        for i in range(len(PROBES)):
            self.worst[i] = 0

    def faults(self):
        """The faults since begin(); waits for probes that are still running."""
        end = time.monotonic() + 9
        while time.monotonic() < end and any(since and time.monotonic() - since > 0.15 for since in self.since):
            time.sleep(0.01)
        found = [f"{what} of another client took {worst:.1f} s" if worst < 9 else f"{what} of another client was not answered"
                 for what, worst in zip(PROBES, self.worst) if worst > ANSWER_S]
        if self.peak.value > 1.25 * LIMIT:
            found.append(f"{int(self.peak.value) >> 20} MiB of memory, limit {LIMIT >> 20}")
        return found

    def end(self):
        self.over.value = 1
        self.process.join(10)


class Client:
    """Sends one request and discards the response."""

    def __init__(self, port, verb, case, body):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.connection.connect()
        self.socket = self.connection.sock
        self.remote = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.status = None  # "cut": closed before the response was complete; "refused": closed while the request was being sent
        self.text = b""
        self.began = time.monotonic()
        self.thread = threading.Thread(target=self.run, args=(verb, case, body), daemon=True)
        self.thread.start()

    def run(self, verb, case, body):
        try:
            self.connection.request(verb, case.path, body, case.headers)
        except OSError:
            self.status = "refused"
            return
        try:
            answer = self.connection.getresponse()
            self.text = answer.read(500)
            while answer.read(1 << 20):
                pass
            self.status = answer.status
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            self.status = "cut"

    def wait(self, seconds):
        """Waits up to that many seconds; returns whether the request is over."""
        self.thread.join(max(0.0, seconds))
        return not self.thread.is_alive()

    def good(self):
        """Whether the response states a known reason. OpenTSDB answers some invalid requests with 500 and a reason."""
        if self.status == 500:
            return self.text != b"" and b"Internal error" not in self.text
        return self.status == "refused" or isinstance(self.status, int) and (200 <= self.status < 500 or self.status in (501, 503))

    def took(self):
        return time.monotonic() - self.began

    def leave(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
            self.socket.close()


class Harness:
    def __init__(self, tsdb, folder, empty):
        self.ports = {"graphite": free_port(), "pickle": free_port()}
        self.daemon = Daemon(tsdb, folder, {**SETTINGS, "tsd.graphite.port": self.ports["graphite"], "tsd.graphite.pickle.port": self.ports["pickle"]})
        self.ports["telnet"] = self.daemon.port
        self.daemon.start()
        began = time.monotonic()
        self.world = World(self.daemon, empty)
        say(f"the daemon holds its data after {time.monotonic() - began:.0f} s")
        self.watch = Watch(self.daemon, self.world.now)
        self.passed = self.failed = 0
        self.slow = None  # the last request that takes long and can be ended: (verb, case, body)

    def end(self):
        self.watch.pid.value = 0
        self.watch.end()
        if self.daemon.process.poll() is not None:
            return
        if self.slow is None:
            self.daemon.stop()
            return
        client = Client(self.daemon.port, *self.slow)
        client.wait(MOMENT_S)
        began = time.monotonic()
        status, took = self.daemon.stop(), time.monotonic() - began
        faults = [f"it ended with {status}: {self.daemon.log_tail().strip()[-300:]!r}"] if status != 0 else []
        self.count("SIGTERM while a slow request runs", faults + ([f"it took {took:.1f} s"] if took > STOP_S else []))

    def count(self, what, faults):
        self.passed, self.failed = self.passed + (not faults), self.failed + bool(faults)
        if faults:
            say(f"FAIL {what}: " + "; ".join(dict.fromkeys(faults)))

    # Running one case.

    def begin(self):
        if self.daemon.process.poll() is not None:
            self.daemon.start()
        self.watch.begin()

    def finish(self, faults):
        """Returns all faults. A daemon that still works though no client waits is killed, so that it does not disturb the next case."""
        faults = faults + self.watch.faults()
        self.watch.pid.value = 0
        if self.daemon.process.poll() is not None:
            faults.append(f"the daemon ended with {self.daemon.process.returncode}: {self.daemon.log_tail().strip()[-300:]!r}")
        elif any(late in fault for fault in faults for late in ("not answered", "did not end", "still computes")):
            self.daemon.kill()
        return faults

    def judge(self, what, attempt):
        """Counts the result of attempt(): (faults, whether it was slow). If it was only late, it is repeated up to twice, because the machine may be busy."""
        def tried():
            try:
                return attempt()
            except OSError as error:
                return self.finish([f"no connection: {error}"]), False

        faults, slow = tried()
        for _ in range(2):
            if not faults or not all(any(late in fault for late in LATE) for fault in faults):
                break
            say(f"again: {what}: " + "; ".join(faults))
            faults, slow = tried()
        self.count(what, faults)
        return slow

    def send(self, verb, case, body, in_full):
        faults = []
        self.begin()
        try:
            verb = case.method or verb
            others = [Client(self.daemon.port, verb, case, body) for _ in range(case.at_once - 1)]
            client = Client(self.daemon.port, verb, case, body)
            slow = not client.wait(MOMENT_S)
            if slow:
                faults += self.kill(client)
                if in_full and not faults:
                    faults += self.leave(Client(self.daemon.port, verb, case, body))
                    client = Client(self.daemon.port, verb, case, body)
                    faults += self.time_out(client)
                    self.slow = (verb, case, body) if verb == "GET" and not faults else self.slow
            elif not client.good() or case.status not in (None, client.status):
                faults.append(f"answered with {client.status} {client.text[:200]!r}")
            for other in others:
                faults += self.gone(other, "one of them")
        except OSError as error:
            slow = False
            faults.append(f"no connection: {error}")
        return self.finish(faults), slow

    def running(self, remote):
        """What GET /api/stats/query says about that client's request; None if it does not list it."""
        known = self.daemon.get("/api/stats/query", timeout=PATIENCE_S)
        return next((each for each in [*known["running"], *known.get("requests", [])] if each.get("remote") == remote), None)

    def kill(self, client):
        """Ends a listed request by DELETE /api/stats/query; returns the faults."""
        try:
            listed = self.running(client.remote)
            if listed is None:
                if client.wait(0):
                    return []
                gone = self.gone(client, "is not listed by /api/stats/query, and")
                return gone or ["is not listed by /api/stats/query"]
            connection = self.daemon.connection(PATIENCE_S)
            connection.request("DELETE", f"/api/stats/query?id={listed['id']}")
            status = connection.getresponse().status
            connection.close()
        except (OSError, RuntimeError, http.client.HTTPException, ValueError) as error:
            client.leave()
            return [f"/api/stats/query was not answered: {error}", "did not end"]
        if status not in (204, 404):
            return [f"DELETE /api/stats/query was answered with {status}"]
        if client.wait(ANSWER_S):
            return []
        client.leave()
        return [f"did not end within {ANSWER_S:.0f} s after DELETE /api/stats/query"]

    def gone(self, client, why):
        """For a request that cannot be ended by a call: checks that it ends by itself."""
        if client.wait(PATIENCE_S - client.took()):
            return []
        client.leave()
        return [f"{why} did not end within {PATIENCE_S:.0f} s"]

    def leave(self, client, more=b""):
        """Sends `more`, and closes the client's connection during its request; returns the faults."""
        if client.wait(MOMENT_S):
            return []
        if more:
            client.socket.sendall(more)
            time.sleep(0.1)
        client.leave()
        # Behind unread bytes, the daemon looks for the end of the stream once a second.
        end = time.monotonic() + ANSWER_S + (0.5 if more else 0)
        while self.running(client.remote) is not None:
            if time.monotonic() > end:
                return [f"did not end within {ANSWER_S:.0f} s after its client had left"]
            time.sleep(0.05)
        return self.quiet("after its client had left")

    def quiet(self, when, within_s=2.0):
        """Checks that an ended request uses no more processor time: within the limit there is a third of a second with almost no work."""
        for _ in range(int(3 * within_s)):
            before = self.cpu_s()
            time.sleep(0.33)
            if self.cpu_s() - before < 0.15:
                return []
        return [f"still computes {within_s:.0f} s {when}"]

    def cpu_s(self):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{self.daemon.process.pid}/stat").read_text("utf-8", "replace").rsplit(")", 1)[1].split()
            return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def time_out(self, client):
        """Lets a request run into the time limit; returns the faults."""
        if client.wait(TIME_LIMIT_S + ANSWER_S):
            return []
        begun = client.text != b""  # the time limit applies until the first byte of the response
        client.leave()
        if begun:
            return []
        return [f"did not end within {ANSWER_S:.0f} s after its time limit of {TIME_LIMIT_S} s"]

    def put_is_left(self):
        """The client of a put of many new series leaves while the put runs: it ends, stores nothing afterwards, and each series has its point."""
        self.begin()
        series = 200_000
        case = given.Case("", "/api/put", json.dumps([given.put_point("left", self.world.now, host=f"left{i}") for i in range(series)]), given.JSON)
        client = Client(self.daemon.port, "POST", case, case.body())
        while self.running(client.remote) is None:
            if client.wait(0.01):
                return self.finish([f"the put was answered with {client.status} before its client could leave"]), False
        client.leave()
        faults = []
        end = time.monotonic() + ANSWER_S
        while not faults and self.running(client.remote) is not None:
            if time.monotonic() > end:
                faults.append(f"did not end within {ANSWER_S:.0f} s after its client had left")
            time.sleep(0.05)
        stored = []
        for _ in range(2):
            stored.append(len(self.world.send("POST", "/api/suggest", {"type": "tagv", "q": "left", "max": series})))
            time.sleep(ANSWER_S)
        if stored[0] != stored[1] or stored[1] == series:
            faults.append(f"made {stored[1]} of {series} names, {stored[1] - stored[0]} of them after its client had left")
        query = {"start": self.world.now - 3600, "end": self.world.now + 3600, "queries": [{"metric": "left", "aggregator": "count"}]}
        points = sum(sum(s["dps"].values()) for s in self.world.send("POST", "/api/query", query)) if stored[1] else 0
        if points != stored[1]:
            faults.append(f"made {stored[1]} names, but stored {points:.0f} points")
        return self.finish(faults), False

    def pipelining_client_leaves(self):
        """A client sends the beginning of its next request and leaves while its slow request runs."""
        self.begin()
        client = Client(self.daemon.port, *self.slow)
        faults = self.leave(client, b"GET /api/version")
        if not faults and client.status not in (None, "cut"):
            faults.append(f"the request was answered with {client.status} before its client could leave")
        return self.finish(faults), False

    # Running all cases.

    def ask(self, pair, cases):
        began, before, slow = time.monotonic(), self.failed, 0
        verb = pair.split()[0]
        count = 0
        for case in cases:
            body, in_full = case.body(), slow < SLOW_IN_FULL
            slow += self.judge(f"{verb} {case.path.partition('?')[0][:60]}: {case.what}", lambda c=case, b=body, f=in_full: self.send(verb, c, b, f))
            count += 1
        say(f"{'ok  ' if self.failed == before else 'bad '} {pair}: {count} cases, {slow} slow, {time.monotonic() - began:.1f} s")

    def stream(self, protocol, made):
        """Sends bytes to a port of another protocol and discards the answers."""
        self.begin()
        faults = []
        try:
            with socket.create_connection(("127.0.0.1", self.ports[protocol]), timeout=5) as client:
                sender = threading.Thread(target=self.pour, args=(client, made), daemon=True)
                sender.start()
                sender.join(5)
        except OSError as error:
            faults.append(f"no connection: {error}")
        faults += self.quiet("after its client had left", STREAM_S)
        return self.finish(faults), False

    @staticmethod
    def pour(client, content):
        with contextlib.suppress(OSError):
            client.sendall(content)
            client.shutdown(socket.SHUT_WR)
            while client.recv(1 << 16):
                pass


def endpoints(harness_cases):
    """Returns (the program's endpoints, what is wrong with their cases)."""
    pairs, wrong = reference.asked_for((pages.ROOT / "http/routes/endpoints.cc").read_text())
    known = harness_cases.keys() | given.WITHOUT_PARAMETERS | given.NOT_CALLED.keys()
    wrong += [f"{pair} has no cases in endpoint_cases.py" for pair in sorted(pairs - known)]
    wrong += [f"{pair} has cases, and is no endpoint" for pair in sorted(known - pairs)]
    # Deletions come last, because deleted data makes other requests expensive.
    return sorted(pairs, key=lambda pair: (pair.startswith("DELETE"), pair)), wrong


def path_of(pair):
    """The path of the request; PromQL's endpoints are below /api/v1."""
    verb, path = pair.split()
    return {"/api/label": "/api/v1/label/host/values"}.get(path, path.replace("/api/", "/api/v1/") if path in (
        "/api/labels", "/api/series", "/api/query_range", "/api/read", "/api/write") else path), verb


def planted_faults(planted):
    """Checks that the harness notices the endless loop of planted_tsdb; returns what is wrong."""
    done = subprocess.run([sys.executable, __file__, "--tsdb", planted, "--empty", "--only", "GET /api/suggest: a name that nobody has"],
                          capture_output=True, text=True, check=False, timeout=300)
    seen = "a name that nobody has:" in done.stdout and "did not end" in done.stdout
    if done.returncode == 1 and seen:
        return []
    return [f"the harness does not see an unbounded loop (exit status {done.returncode}): {done.stdout[-1000:]}{done.stderr[-1000:]}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", required=True)
    parser.add_argument("--planted", help="planted_tsdb, on which the harness must fail")
    parser.add_argument("--only", default="", help="a part of \"VERB /path: case\"")
    parser.add_argument("--empty", action="store_true", help="the daemon holds next to nothing")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends this process and, with it, the daemon
    with tempfile.TemporaryDirectory(prefix="endpoints-", ignore_cleanup_errors=True) as folder:
        harness = Harness(args.tsdb, folder, args.empty)
        try:
            by_pair = given.cases(harness.world)
            pairs, wrong = endpoints(by_pair)
            for each in wrong:
                harness.count(each, ["see WITHOUT_PARAMETERS and cases()"])
            for pair in pairs:
                if pair in given.NOT_CALLED:
                    continue
                path, verb = path_of(pair)
                chosen = [case for case in [*by_pair.get(pair, []), *given.anything(verb, path)] if args.only in f"{pair}: {case.what}"]
                if chosen:
                    harness.ask(pair, chosen)
            if harness.slow is not None:
                harness.judge("a slow request: its client sends more bytes and leaves", harness.pipelining_client_leaves)
            if args.only in "POST /api/put: its client leaves":
                harness.judge("POST /api/put: its client leaves", harness.put_is_left)
            for what, protocol, content in given.streams():
                if args.only in f"{protocol}: {what}":
                    made = content()
                    harness.judge(f"{protocol}: {what}", lambda p=protocol, m=made: harness.stream(p, m))
        finally:
            harness.end()
    if args.planted:
        harness.count("planted_tsdb", planted_faults(args.planted))
    say(f"{harness.passed} passed, {harness.failed} failed")
    return 1 if harness.failed else 0


if __name__ == "__main__":
    sys.exit(main())
