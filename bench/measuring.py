"""One measurement run: the programs that were built, how much to measure, and where results go."""
import contextlib
import datetime
import json
import os
import statistics
import sys
import time

import servers
import support

START = 1_700_006_400  # a whole day's start


class Bench:
    """size: "full", "quick" (fewer points, as many rounds) or "tiny" (only tries that everything works). For a quick look
    at queries: `only`, parts of their names; `hosts` and `hours` of their data."""

    def __init__(self, size, rounds, skip=(), only=(), hosts=None, hours=None):
        self.size, self.rounds, self.skip, self.only = size, rounds, set(skip), only
        self.hosts, self.hours = hosts, hours
        self.programs = support.PROGRAMS
        looks_only = size == "tiny" or only or hosts or hours
        self.results = (support.ROOT / "build" / "bench-look" if looks_only else support.ROOT / "bench") / "results"
        self.results.mkdir(parents=True, exist_ok=True)
        self.page = self.results.parent / "RESULTS.md"

    def pick(self, full, quick, tiny):
        return {"full": full, "quick": quick, "tiny": tiny}[self.size]

    def wants(self, name):
        return not self.only or any(part in name for part in self.only)

    def say(self, text):
        print(text, flush=True)

    # The servers, by name.

    def start(self, name, folder, **options):
        if name == "Hourglass":
            return servers.Hourglass(self.programs / "tsdb", folder, **options)
        return {"VictoriaMetrics": servers.VictoriaMetrics, "InfluxDB": servers.InfluxDB,
                "OpenTSDB": servers.OpenTSDB, "Prometheus": servers.Prometheus}[name](folder)

    def available(self, name):
        return name not in self.skip and (name != "OpenTSDB" or servers.OpenTSDB.is_here())

    @contextlib.contextmanager
    def running(self, *names, **options):
        """The servers of these names, each in a folder of its own that goes away with it; options are Hourglass's."""
        with support.scratch() as folder, contextlib.ExitStack() as stack:
            started = []
            for name in names:
                if self.available(name):
                    server = self.start(name, folder, **(options if name == "Hourglass" else {}))
                    stack.callback(server.stop)
                    started.append(server)
            yield started

    # The clients. Options are theirs: put(server, wire="telnet", batch=500, gzip=True).

    def put(self, server, **options):
        return support.finish(self.start_put(server, **options))

    def start_put(self, server, **options):
        return support.start_client(self.programs / "put_client", "--port", server.port(options.get("wire", "put")),
                                    "--pid", server.pids, *as_words(options))

    def ask(self, server, file, **options):
        return support.finish(self.start_ask(server, file, **options))

    def start_ask(self, server, file, **options):
        return support.start_client(self.programs / "query_client", "--port", server.query_port, "--pid", server.pids,
                                    "--paths", file, *as_words(options))

    def compact(self, data):
        """Flushes and merges a data directory that no daemon uses."""
        return support.client(self.programs / "compact_store", data)

    # The results.

    def file_of(self, part):
        return self.results / f"{part}.json"

    def measure(self, part, module):
        """Runs a part and keeps what it measured."""
        load_before, began = os.getloadavg()[0], time.monotonic()
        data = module.measure(self)
        self.file_of(part).write_text(json.dumps({
            "part": part, "date": datetime.datetime.now().isoformat(" ", "minutes"), "machine": support.machine(),
            "versions": support.versions(), "size": self.size, "rounds": self.rounds, "load_before": round(load_before, 1),
            "minutes": round((time.monotonic() - began) / 60, 1), "command": " ".join(["bench/run", *sys.argv[1:]]),
            "data": data}, indent=1) + "\n")

    def result(self, part):
        """What was kept of a part; None if it has not run."""
        file = self.file_of(part)
        return json.loads(file.read_text()) if file.exists() else None


def as_words(options):
    words = []
    for name, value in options.items():
        if value is True:
            words.append("--" + name)
        elif value is not False:
            words += ["--" + name, value]
    return words


def check_count(server, metric, start, end, expected, patience_s=60):
    """Every point that was sent can be counted, or the figures are worth nothing. Some servers take their time."""
    found = None
    for _ in range(patience_s):
        found = server.count(metric, start, end)
        if found == expected:
            return
        time.sleep(1)
    raise RuntimeError(f"{server.name}: {expected} points of {metric} were sent, {found} are there")


def ratio(above, below):
    return above / below if below else float("nan")


def spread(rows, field):
    """Median, least and greatest of the rounds."""
    values = [row[field] for row in rows]
    return statistics.median(values), min(values), max(values)
