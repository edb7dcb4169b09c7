#!/usr/bin/env python3
"""Prometheus as it comes from Debian scrapes itself and a small exporter, and writes to the daemon, which is killed midway.
Then another Prometheus, which has no samples of its own, reads from the daemon.

    prometheus.py --tsdb build/release/tsdb [--seconds 60]

Every sample that the first one holds is stored, and nothing else: Prometheus sends again what was not answered. Both answer
the same to the same questions. NaN is not stored, by rule (docs/ingestion.md); a zero's sign Prometheus itself does not send. The last line reads "N passed, N failed".
"""
import http.server
import json
import math
import re
import shutil
import signal
import struct
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import names
import trial
from checks import wait_until
from daemon import free_port

DOWN_S = 2
START_S = 120
EVERYTHING = '{__name__=~".+"}'

CONFIGURATION = """
global:
  scrape_interval: 1s
  evaluation_interval: 1s
remote_write:
  - url: http://127.0.0.1:{write_port}/api/v1/write
    queue_config:
      batch_send_deadline: 300ms
      min_backoff: 50ms
      max_backoff: 300ms
    metadata_config:
      send_interval: 2s
"""
SCRAPES = """
rule_files:
  - {folder}/rules.yml
scrape_configs:
  - job_name: prometheus
    static_configs:
      - targets: ["127.0.0.1:{port}"]
  - job_name: exporter
    static_configs:
      - targets: ["127.0.0.1:{exporter_port}"]
"""
RULES = """
groups:
  - name: recorded
    rules:
      - record: job:up:sum
        expr: sum by (job) (up)
      - record: all:up:sum
        expr: sum(up)
"""
READER = """
remote_read:
  - url: http://127.0.0.1:{read_port}/api/v1/read
    read_recent: true
"""

# What the exporter shows beside the number of its scrapes.
KNOWN = {
    "hg_pi": 3.141592653589793,
    "hg_least": 5e-324,
    "hg_most": 1.7976931348623157e308,
    "hg_large_whole": 9007199254740993.0,
    "hg_minus": -12.5,
}
ODD = {"path": "/a b\"c\\d{e}=f,%*", "tongue": "grün, 温度, 😀", "escape": "_x0041_ _x003A_", "arch": "linux_x86_64"}


class Exporter(http.server.BaseHTTPRequestHandler):
    scrapes = 0

    def do_GET(self):
        Exporter.scrapes += 1
        lines = [f"hg_scrapes_total {Exporter.scrapes}", "hg_nan NaN"]
        lines += [f"{name} {value!r}" for name, value in KNOWN.items()]
        odd = ",".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in ODD.items())
        lines.append(f"hg_odd{{{odd}}} {Exporter.scrapes * 0.1!r}")
        body = ("\n".join(lines) + "\n").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Prometheus:
    def __init__(self, t, name, configuration):
        self.folder = t.folder / name
        self.folder.mkdir(exist_ok=True)
        self.port = free_port()
        self.settings = self.folder / "prometheus.yml"
        self.configure(configuration)
        self.process = t.start([
            shutil.which("prometheus"), f"--config.file={self.settings}", f"--storage.tsdb.path={self.folder}/data",
            f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"])
        until = time.monotonic() + START_S
        while not self.ready():
            if time.monotonic() > until or self.process.poll() is not None:
                raise RuntimeError("Prometheus does not start: " + self.process.said.read_text()[-1500:])
            time.sleep(0.05)

    def configure(self, text):
        self.settings.write_text(text)

    def ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def reload(self, text):
        self.configure(text)
        self.process.send_signal(signal.SIGHUP)

    def query(self, expression, at):
        """The result of a query at that second."""
        words = urllib.parse.urlencode({"query": expression, "time": f"{at:.3f}"}).encode()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query", words, timeout=60) as answer:
                said = json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{expression}: {error.code} {error.read()[:500]!r}") from error
        if said.get("warnings"):
            raise RuntimeError(f"{expression}: {said['warnings']}")
        return said["data"]["result"]

    def counter(self, name):
        """The current value of one of its own counters, summed over all labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            found = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", answer.read().decode(), re.MULTILINE)
        return sum(map(float, found))

    def samples(self, selector, at, seconds):
        """Returns {(labels as a frozenset, milliseconds): number} for the given number of seconds before `at`; without NaN."""
        found = {}
        for series in self.query(f"{selector}[{seconds}s]", at):
            labels = frozenset(series["metric"].items())
            for when, value in series["values"]:
                if not math.isnan(float(value)):
                    found[labels, round(when * 1000)] = float(value)
        return found


def as_stored(samples):
    """Converts the samples to the form of trial.stored."""
    out = {}
    for (labels, at), value in samples.items():
        tags = {name: text for name, text in labels if name != "__name__"}
        out[names.key(dict(labels)["__name__"], tags, at)] = value
    return out


def bits(value):
    return struct.pack(">d", value)


def differences(first, second):
    for key in first.keys() | second.keys():
        if key not in first or key not in second or bits(first[key]) != bits(second[key]):
            labels, at = key
            yield f"{dict(labels)} at {at}: {first.get(key)} here, {second.get(key)} there"


def same(one, other):
    """Whether two sums are equal, except for the rounding that depends on the order of adding."""
    if one is None or other is None:
        return False
    return math.isclose(one, other, rel_tol=1e-9) or (math.isnan(one) and math.isnan(other))


def check_known(t, samples):
    errors = []
    of = {}
    for (labels, _), value in samples.items():
        of.setdefault(dict(labels)["__name__"], []).append(value)
    for name, value in KNOWN.items():
        if {bits(found) for found in of.get(name, [])} != {bits(value)}:
            errors.append(f"{name} is {of.get(name)}, the exporter says {value}")
    counts = sorted(of.get("hg_scrapes_total", []))
    # Not each number is there: Prometheus drops a scrape that takes longer than its second.
    if len(counts) < 2 or len(set(counts)) != len(counts) or not set(counts) <= set(range(1, Exporter.scrapes + 1)):
        errors.append(f"scrapes are {counts}")
    odd = [dict(labels) for labels, _ in samples if ("__name__", "hg_odd") in labels]
    errors += [f"odd labels are {labels}" for labels in odd if not ODD.items() <= labels.items()] or \
        ([] if odd else ["no odd labels"])
    if "hg_nan" in of:
        errors.append("NaN was read")
    t.check.that(f"{len(counts)} scrapes of the exporter are read back with its very numbers and labels", errors)


def steady_instant(source, at, seconds):
    """The middle, or the nearest instant behind some seconds in which every scrape went well: one that did not leaves a mark of
    staleness, which remote write does not keep."""
    middle = at - seconds / 2
    for away in sorted(range(-int(seconds / 2) + 2, int(seconds / 2) - 10), key=abs):
        series = source.query("min(min_over_time(up[11s]))", middle + away)
        if series and float(series[0]["value"][1]) == 1:
            return middle + away
    return middle


def ask_both(t, source, reader, at, seconds):
    selectors = [EVERYTHING, "up", 'up{job="exporter"}', 'up{job!="exporter"}', '{__name__=~"job:.*"}', "all:up:sum",
                 'prometheus_http_requests_total{handler=~"/metr.*",code="200"}', '{job="exporter",path!~".+"}',
                 'hg_odd{arch="linux_x86_64"}', '{__name__!~"prometheus.*|go_.*",job="prometheus"}']
    errors, count = [], 0
    for selector in selectors:
        own, read = source.samples(selector, at, seconds), reader.samples(selector, at, seconds)
        count += len(own)
        errors += [f"{selector}: {difference}" for difference in differences(own, read)]
        if not own:
            errors.append(f"{selector} finds nothing")
    t.check.that(f"{len(selectors)} selectors find the same {count} samples by remote read", errors)
    errors, instant = [], steady_instant(source, at, seconds)
    for expression in ["rate(prometheus_http_requests_total[5s])", "sum by (job) (up)", "all:up:sum",
                       "histogram_quantile(0.9, sum by (le) (rate(prometheus_http_request_duration_seconds_bucket[10s])))",
                       "max_over_time(hg_scrapes_total[10s])"]:
        own, read = ({frozenset(series["metric"].items()): float(series["value"][1])
                      for series in each.query(expression, instant)} for each in (source, reader))
        if not own:
            errors.append(f"{expression} has no value")
        errors += [f"{expression}: {dict(labels)} is {own.get(labels)} here, {read.get(labels)} there"
                   for labels in own.keys() | read.keys() if not same(own.get(labels), read.get(labels))]
    t.check.that("expressions have the same values", errors)


def run(t):
    exporter = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Exporter)
    threading.Thread(target=exporter.serve_forever, daemon=True).start()
    began = time.time()
    (t.folder / "source").mkdir()
    (t.folder / "source" / "rules.yml").write_text(RULES)
    write = CONFIGURATION.format(write_port=t.daemon.port)
    source = Prometheus(t, "source", write)
    source.reload(write + SCRAPES.format(folder=source.folder, port=source.port,
                                         exporter_port=exporter.server_address[1]))
    t.writing(0.5)
    t.daemon.kill()
    time.sleep(DOWN_S)
    t.daemon.start()
    print(f"daemon killed (SIGKILL), up again after {DOWN_S} s on the same data", flush=True)
    t.writing(0.5)
    reloaded = time.time()
    source.reload(write)
    # Then scraping has stopped, so no more samples will be added.
    wait_until(lambda: source.counter("prometheus_config_last_reload_success_timestamp_seconds") >= reloaded)
    time.sleep(1.5)

    at, seconds = time.time(), math.ceil(time.time() - began) + 5
    held = source.samples(EVERYTHING, at, seconds)
    series = {labels for labels, _ in held}
    t.settled(as_stored(held), f"{len(held)} samples of {len(series)} series that Prometheus holds are stored, and nothing else is")
    sent, failed, again = (source.counter(f"prometheus_remote_storage_samples_{what}")
                           for what in ("total", "failed_total", "retried_total"))
    t.check.that(f"of {sent:.0f} samples {again:.0f} were sent again, and none was refused",
                 ([f"{failed:.0f} were refused"] if failed else []) +
                 ([] if again else ["none was sent again: the daemon was not missed"]))

    reader = Prometheus(t, "reader", READER.format(read_port=t.daemon.port))
    check_known(t, reader.samples('{job="exporter"}', at, seconds))
    ask_both(t, source, reader, at, seconds)
    exporter.shutdown()


if __name__ == "__main__":
    sys.exit(trial.main(run, __doc__, needs=["setup/install", "test"], seconds=16))
