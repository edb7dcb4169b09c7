#!/usr/bin/env python3
"""The same series in a Prometheus of Debian and in Hourglass, the same questions to both, and the answers compared.

    compare.py --tsdb build/release/tsdb [--only TEXT] [--verbose]

Numbers are equal but for 1e-12 of their size, labels and times exactly; of errors the status and the kind. promtool asks
Hourglass, too, and prints what it prints of Prometheus. The last line reads "N passed, N failed".

The Prometheus of Debian is 2.42, and Hourglass answers as Prometheus 3. Windows of 2.42 include their begin. So no sample and no
step of a subquery lies at the begin of a window: samples are never at whole tenths of a second, and expressions are evaluated
at fractions of a second. Since 2.51 a rate is extrapolated in another way where a counter was 0 shortly before its first sample,
so counters begin with a large number. An expression behind "unlike 2.42: " must have another answer, for the reason in the comment before it.
"""
import argparse
import http.client
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from daemon import Daemon, free_port  # noqa: E402

START = 1700000000
SECONDS = 7000
INSTANTS = (START + 3600.3, START + 5432.1, START + 60.3)
RANGES = ((START - 100.7, START + SECONDS + 700.3, 137), (START + 2000.3, START + 2100.3, 5))
TOLERANCE = 1e-12
FIRST_COUNT = 1e7  # of counters
AT_AN_INSTANT = "at an instant: "
UNLIKE = "unlike 2.42: "


def points(random_numbers, every_s, value, gaps=()):
    """(milliseconds, value) pairs at slightly irregular times, like those of scrapes; without points in the gaps."""
    offset = random_numbers.randrange(every_s * 1000)
    for i in range(SECONDS // every_s):
        ms = START * 1000 + i * every_s * 1000 + offset + random_numbers.choice((0, 0, 0, 1, 7, -3, 250))
        ms += ms % 100 == 0
        number = value(i)
        if not any(begin <= i < end for begin, end in gaps):
            yield ms, number


def make_series():
    """Returns {(name, labels): points}, the same ones each time."""
    numbers = random.Random(7)
    series = {}

    def add(name, labels, *args, **words):
        series[name, tuple(sorted(labels.items()))] = list(points(numbers, *args, **words))

    def counter(step, reset_chance=0.004):
        state = [FIRST_COUNT + numbers.randrange(5)]

        def value(_):
            state[0] = 0.0 if numbers.random() < reset_chance else state[0] + numbers.randrange(step)
            return state[0]
        return value

    instances = [("localhost:9090", "api"), ("localhost:9091", "api"), ("db 1", "db")]
    for instance, job in instances:
        for code, step in (("200", 90), ("404", 9), ("500", 3)):
            add("requests_total", {"instance": instance, "job": job, "code": code}, 15, counter(step))
        size = numbers.uniform(1e8, 9e8)
        add("memory", {"instance": instance}, 15, lambda _, size=size: float(round(size + numbers.uniform(-1e7, 1e7))))
        add("build_info", {"instance": instance, "version": "1." + instance[-1]}, 60, lambda _: 1.0)
    for room, mean in (("kitchen", 19), ("cellar", 12), ("attic", 24)):
        add("temperature", {"room": room}, 10,
            lambda i, mean=mean: round(mean + 5 * math.sin(i / 50) + numbers.uniform(-1, 1), 3))
    add("temperature", {"room": "office"}, 10, lambda i: 20.0, gaps=((100, 300), (500, 540)))
    add("lonely", {}, 30, lambda i: float(i % 5))
    add("sparse", {"a": "b"}, 60, lambda i: i * 1.5, gaps=((10, 30), (40, 47), (60, 90)))
    add("tiny", {"a": "b"}, 15, lambda i: numbers.choice((1e-9, 1e9, -1e9, 3.14e-7, 1e16, -1e16)))
    for job in ("api", "db"):
        bounds = ["0.05", "0.1", "0.25", "0.5", "1", "2.5", "+Inf"]
        counts, total, seconds = [[] for _ in bounds], [FIRST_COUNT * (i + 1) for i in range(len(bounds))], [FIRST_COUNT]
        sums = []
        for _ in range(SECONDS // 15):
            for _ in range(numbers.randrange(6)):
                seen = numbers.expovariate(3 if job == "api" else 1)
                seconds[0] += seen
                for at, bound in enumerate(bounds):
                    total[at] += seen <= float(bound)
            sums.append(round(seconds[0], 6))
            for at in range(len(bounds)):
                counts[at].append(total[at])
        for at, bound in enumerate(bounds):
            add("latency_bucket", {"job": job, "le": bound}, 15, lambda i, at=at: counts[at][i])
        add("latency_sum", {"job": job}, 15, lambda i: sums[i])
        add("latency_count", {"job": job}, 15, lambda i: counts[-1][i])
    return series


def escaped(text):
    """The name as docs/ingestion.md describes it."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_./") else f"_x{ord(c):04X}_" for c in text)


def open_metrics(series):
    lines = []
    for (name, labels), values in sorted(series.items()):
        text = ",".join(f'{key}="{value}"' for key, value in labels)
        lines += [f"{name}{{{text}}} {value!r} {ms / 1000:.3f}" for ms, value in values]
    return "\n".join(lines) + "\n# EOF\n"


def documents(series):
    """Request bodies for /api/put."""
    found = []
    for (name, labels), values in series.items():
        tags = {escaped(key): escaped(value) for key, value in labels} or {"source": "unknown"}
        for ms, value in values:
            found.append({"metric": escaped(name), "tags": tags, "value": value,
                          "timestamp": ms // 1000 if ms % 1000 == 0 else ms})
    for begin in range(0, len(found), 1000):
        yield json.dumps(found[begin:begin + 1000])


class Prometheus:
    """A Prometheus from Debian, on its own blocks."""

    def __init__(self, folder, series):
        for program in ("prometheus", "promtool"):
            if shutil.which(program) is None:
                raise SystemExit(f"there is no program {program}: setup/install test brings it")
        (folder / "series.txt").write_text(open_metrics(series))
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", folder / "series.txt",
                        folder / "blocks"], check=True, stdout=subprocess.DEVNULL)
        (folder / "prometheus.yml").write_text("global: {}\n")
        self.port = free_port()
        with open(folder / "prometheus.log", "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/blocks",
                 f"--web.listen-address=127.0.0.1:{self.port}", "--storage.tsdb.retention.time=100y"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)
        for _ in range(2400):
            try:
                if ask(self.port, "/-/ready")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        self.stop()
        raise SystemExit("Prometheus did not start: " + (folder / "prometheus.log").read_text()[-2000:])

    def stop(self):
        self.process.terminate()
        self.process.wait(120)


def ask(port, path, words=(), post=False):
    """Returns the status and the JSON document, or None if there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        text = urllib.parse.urlencode(words)
        if post:
            connection.request("POST", path, text, {"Content-Type": "application/x-www-form-urlencoded"})
        else:
            connection.request("GET", path + ("?" + text if text else ""))
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    return answer.status, json.loads(body) if body.startswith(b"{") else None


def equal(a, b):
    x, y = float(a), float(b)
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y or abs(x - y) <= TOLERANCE * max(abs(x), abs(y))


def samples_of(result):
    return result["values"] if "values" in result else [result["value"]]


def difference(expected, found, ordered):
    """The first difference of two documents; None if they are equal."""
    (status, theirs), (our_status, ours) = expected, found
    if ours is None:
        return f"status {our_status}, no document"
    if theirs["status"] == "error" or ours["status"] == "error":
        theirs, ours = ((s, d["status"], d.get("errorType")) for s, d in (expected, found))
        return None if theirs == ours else f"{theirs} {expected[1].get('error')} | {ours} {found[1].get('error')}"
    theirs, ours = theirs["data"], ours["data"]
    if theirs["resultType"] != ours["resultType"]:
        return f"{theirs['resultType']} | {ours['resultType']}"
    if theirs["resultType"] in ("scalar", "string"):
        same = theirs["result"] == ours["result"] or (
            theirs["resultType"] == "scalar" and theirs["result"][0] == ours["result"][0]
            and equal(theirs["result"][1], ours["result"][1]))
        return None if same else f"{theirs['result']} | {ours['result']}"
    theirs, ours = theirs["result"], ours["result"]
    if not ordered:
        theirs, ours = (sorted(part, key=lambda r: sorted(r["metric"].items())) for part in (theirs, ours))
    if [r["metric"] for r in theirs] != [r["metric"] for r in ours]:
        return f"series {[r['metric'] for r in theirs][:4]}… | {[r['metric'] for r in ours][:4]}…"
    for one, other in zip(theirs, ours):
        a, b = samples_of(one), samples_of(other)
        if [t for t, _ in a] != [t for t, _ in b]:
            return f"{one['metric']}: times {len(a)} {a[:3]}… | {len(b)} {b[:3]}…"
        for (at, x), (_, y) in zip(a, b):
            if not equal(x, y):
                return f"{one['metric']} at {at}: {x} | {y}"
    return None


class Report:
    def __init__(self, verbose):
        self.passed = self.failed = 0
        self.verbose = verbose

    def add(self, name, wrong):
        if wrong is None:
            self.passed += 1
            if self.verbose:
                print(f"ok {name}")
        else:
            self.failed += 1
            print(f"FAIL {name}: {wrong}")


def compare_expression(text, ports, report):
    theirs, ours = ports
    unlike = text.startswith(UNLIKE)
    text = text.removeprefix(UNLIKE)
    ranges = () if text.startswith(AT_AN_INSTANT) else RANGES
    text = text.removeprefix(AT_AN_INSTANT)
    ordered = text.startswith("sort")
    questions = [("/api/v1/query", {"query": text, "time": at}) for at in INSTANTS]
    questions += [("/api/v1/query_range", {"query": text, "start": begin, "end": end, "step": step})
                  for begin, end, step in ranges]
    if unlike:
        same = all(difference(ask(theirs, path, words), ask(ours, path, words), False) is None for path, words in questions)
        report.add(UNLIKE + text, "the answers are equal" if same else None)
        return
    for path, words in questions:
        wrong = difference(ask(theirs, path, words), ask(ours, path, words, post=path.endswith("range")),
                           ordered and path.endswith("query"))
        report.add(f"{text}  {[v for k, v in words.items() if k != 'query']}", wrong)


def compare_lists(ports, report):
    """Compares the lists of labels and series."""
    for path, words in (
            ("labels", ()), ("labels", (("match[]", "memory"),)), ("labels", (("match[]", '{room=~".+"}'),)),
            ("label/job/values", ()), ("label/instance/values", ()), ("label/le/values", ()),
            ("label/__name__/values", ()), ("label/no_such/values", ()),
            ("label/code/values", (("match[]", 'requests_total{job="db"}'),)),
            ("label/__name__/values", (("match[]", '{job="db"}'),)),
            ("series", (("match[]", "memory"), ("match[]", "lonely"))),
            ("series", (("match[]", '{job=~"a.*",code!="200"}'), ("match[]", 'requests_total{job="api"}'))),
            ("series", (("match[]", "no_such"),)), ("series", ()), ("series", (("match[]", "{}"),)),
            ("labels", (("match[]", "a b"),))):
        words = words + (("start", START - 600), ("end", START + SECONDS + 600))
        theirs, ours = (ask(port, "/api/v1/" + path, words) for port in ports)
        key = json.dumps
        parts = [(status, d.get("errorType"), sorted(d.get("data") or [], key=lambda item: key(item, sort_keys=True)))
                 for status, d in (theirs, ours)]
        report.add(f"{path} {words[:-2]}", None if parts[0] == parts[1] else f"{parts[0]} | {parts[1]}")


def compare_promtool(ports, report):
    """Compares what promtool prints for both. Equal numbers may differ in their last digit, so only queries with exact results are used."""
    at = str(START + 3600)
    span = [f"--start={START + 1000}", f"--end={START + 2000}", "--step=60s"]
    for words in (["instant", "{}", "--time=" + at, "requests_total"], ["instant", "{}", "--time=" + at, "1 + 1"],
                  ["instant", "{}", "--time=" + at, "sum by (job) (requests_total)"],
                  ["range", *span, "{}", "requests_total{job=\"api\"}"],
                  ["range", *span, "{}", "max_over_time(memory[5m])"],
                  ["series", "--match=requests_total", f"--start={START}", f"--end={at}", "{}"],
                  ["labels", f"--start={START}", f"--end={at}", "{}", "job"],
                  ["labels", f"--start={START}", f"--end={at}", "{}", "__name__"]):
        printed = []
        for port in ports:
            command = [word.replace("{}", f"http://127.0.0.1:{port}") if word == "{}" else word for word in words]
            done = subprocess.run(["promtool", "query", *command], capture_output=True, text=True, timeout=120)
            printed.append((done.returncode, sorted(done.stdout.splitlines()), done.stderr.strip()))
        same = printed[0] == printed[1] and printed[1][0] == 0 and printed[1][1]
        report.add("promtool query " + " ".join(words), None if same else f"{printed[0]} | {printed[1]}"[:600])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", type=Path, default=Path("build/release/tsdb"))
    parser.add_argument("--only", help="expressions that contain this text")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    text = Path(__file__).with_name("expressions.txt").read_text()
    expressions = [line for line in text.splitlines() if line and not line.startswith("# ")]
    expressions = [line for line in expressions if args.only is None or args.only in line]
    series = make_series()
    report = Report(args.verbose)
    with tempfile.TemporaryDirectory(prefix="promql-") as name:
        folder = Path(name)
        prometheus = Prometheus(folder, series)
        daemon = Daemon(args.tsdb, folder)
        try:
            daemon.start()
            for document in documents(series):
                connection = daemon.connection()
                connection.request("POST", "/api/put?details", document, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                body = answer.read()
                if answer.status not in (200, 204) or b'"failed":0' not in body:
                    raise SystemExit(f"put: {answer.status} {body[:500]!r}")
                connection.close()
            ports = (prometheus.port, daemon.port)
            for expression in expressions:
                compare_expression(expression, ports, report)
            if args.only is None:
                compare_lists(ports, report)
                compare_promtool(ports, report)
        finally:
            daemon.stop()
            prometheus.stop()
    print(f"{len(expressions)} expressions")
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
