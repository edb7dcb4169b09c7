"""The time from the acknowledgement of a point to the first query that finds it."""
import http.client
import json
import statistics
import time
import urllib.parse

from goals import Goal
from measuring import START
from servers import wait_until

TITLE = "Freshness"
OURS, VM = "Hourglass", "VictoriaMetrics"
PATIENCE_S = 30


class Asker:
    """Writes one point after the other over connections that stay open, and asks for each."""

    def __init__(self, server):
        self.server = server
        self.writes = http.client.HTTPConnection("127.0.0.1", server.port("put"), timeout=60)
        self.reads = http.client.HTTPConnection("127.0.0.1", server.query_port, timeout=60)

    def write(self, second, value):
        self.writes.request("POST", "/api/put", json.dumps(
            {"metric": "fresh", "timestamp": second, "value": value, "tags": {"host": "a"}}),
            {"Content-Type": "application/json"})
        answer = self.writes.getresponse()
        text = answer.read()
        if answer.status != 204:
            raise RuntimeError(f"put: {answer.status} {text[:300]!r}")

    def finds(self, second, value):
        if self.server.name == VM:
            path = "/api/v1/query?" + urllib.parse.urlencode({"query": "last_over_time(fresh[9s])", "time": second + 4, "nocache": 1})
        else:
            path = "/api/query?" + urllib.parse.urlencode({"start": second, "end": second + 1, "m": "sum:fresh"})
        self.reads.request("GET", path)
        answer = self.reads.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"query: {answer.status} {text[:300]!r}")
        document = json.loads(text)
        if self.server.name == VM:
            return any(float(series["value"][1]) == value for series in document["data"]["result"])
        return any(series["dps"].get(str(second)) == value for series in document)

    def make_series(self):
        """Creates the series first, because finding a new series takes time that is not measured here."""
        self.write(START - 3600, 0)
        if self.server.name == VM:
            self.server.get("/internal/force_flush")
        wait_until(lambda: self.finds(START - 3600, 0), "the series is not found", pause_s=0.5)

    def wait(self, second, value):
        """Returns (milliseconds from the acknowledgement until the point was found, number of queries that this took)."""
        self.write(second, value)
        began, questions = time.monotonic(), 0
        while time.monotonic() - began < PATIENCE_S:
            questions += 1
            if self.finds(second, value):
                return (time.monotonic() - began) * 1000, questions
        raise RuntimeError(f"{self.server.name}: a point was not found within {PATIENCE_S} s")


def measure(bench):
    rows = {}
    with bench.running(OURS, VM) as running:
        askers = [Asker(server) for server in running]
        for asker in askers:
            asker.make_series()
        for number in range(bench.rounds):
            for asker in askers:
                name = asker.server.name
                count = bench.pick(200, 200, 20) if name == OURS else bench.pick(10, 5, 1)
                waits = [asker.wait(START + (number * count + i) * 10, number * count + i) for i in range(count)]
                rows.setdefault(name, []).append({
                    "points": count, "median_ms": statistics.median(ms for ms, _ in waits), "max_ms": max(ms for ms, _ in waits),
                    "at_once": sum(questions == 1 for _, questions in waits) / count})
                bench.say(f"{name} round {number + 1}: found after {rows[name][-1]['median_ms']:.2f} ms (median), "
                          f"{rows[name][-1]['at_once']:.0%} by the first question")
    return rows


def page(data, _folder):
    lines = ["| server | points | found by the first question | found after, median | at most |", "|" + " --- |" * 5]
    for name, runs in data.items():
        lines.append(f"| {name} | {sum(run['points'] for run in runs)} | {statistics.mean(run['at_once'] for run in runs):.0%} | "
                     f"{statistics.median(run['median_ms'] for run in runs):.2f} ms | {max(run['max_ms'] for run in runs):.1f} ms |")
    return ("One point is put to a series that exists; from its acknowledgement on, a query for it is asked again and again (the query itself takes a part of a "
            "millisecond).\n\n" + "\n".join(lines))


GOALS = [Goal("an acknowledged point is found by the first query", lambda data: min(run["at_once"] for run in data[OURS]),
              at_least=1, unit="of all points")]
