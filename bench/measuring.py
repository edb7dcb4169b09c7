"""One measurement run: the programs, the amount of data, and the folder for results."""
import contextlib
import datetime
import json
import os
import statistics
import sys
import time

import servers
import support

START = 1_700_006_400  # the start of a day in UTC
OURS, OLD = "Hourglass", "Hourglass before"  # the build of this checkout, and the build that --against compares it with


class Bench:
    """size: "full", "quick" (fewer points, as many rounds) or "tiny" (only tries that everything works). For a quick look
    at queries: `only`, parts of their names; `hosts` and `hours` of their data. With `old`, a tsdb program, that build is measured
    in place of all peers."""

    def __init__(self, size, rounds, skip=(), only=(), hosts=None, hours=None, old=None):
        self.size, self.rounds, self.skip, self.only = size, rounds, set(skip), only
        self.hosts, self.hours, self.old = hosts, hours, old
        self.programs = support.PROGRAMS
        looks_only = size == "tiny" or only or hosts or hours
        place = "build/bench-against" if old else "build/bench-look" if looks_only else "bench"
        self.results = support.ROOT / place / "results"
        self.results.mkdir(parents=True, exist_ok=True)
        self.page = self.results.parent / "RESULTS.md"

    def pick(self, full, quick, tiny):
        return {"full": full, "quick": quick, "tiny": tiny}[self.size]

    def wants(self, name):
        return not self.only or any(part in name for part in self.only)

    def say(self, text):
        print(text, flush=True)

    # Starting and choosing servers.

    def start(self, name, folder, **options):
        if name in (OURS, OLD):
            return servers.Hourglass(self.programs / "tsdb" if name == OURS else self.old, folder, name=name, **options)
        return {"VictoriaMetrics": servers.VictoriaMetrics, "InfluxDB": servers.InfluxDB,
                "OpenTSDB": servers.OpenTSDB, "Prometheus": servers.Prometheus}[name](folder)

    def available(self, name):
        if self.old:
            return name in (OURS, OLD)
        return name not in self.skip and (name != "OpenTSDB" or servers.OpenTSDB.is_here())

    def sides(self, *names):
        """The servers of the given names that are available; when an old build is compared, only the old and the new Hourglass."""
        found = [name for name in names if self.available(name)]
        return [*found, OLD] if self.old and OURS in found else found

    def turn(self, running, number):
        """The order of the servers in a round: when two builds are compared, they take turns at going first."""
        return running[::-1] if self.old and number % 2 else running

    @contextlib.contextmanager
    def running(self, *names, **options):
        """Starts the servers of these names, each in its own folder, which is removed at the end; the options are for Hourglass."""
        with support.scratch() as folder, contextlib.ExitStack() as stack:
            started = []
            for name in names:
                if self.available(name):
                    server = self.start(name, folder, **(options if name in (OURS, OLD) else {}))
                    stack.callback(server.stop)
                    started.append(server)
            try:
                yield started
            except Exception:
                for server in started:
                    if server.product == OURS:
                        print(server.state(), file=sys.stderr)
                raise

    # Running the clients. The options are passed on to them: put(server, wire="telnet", batch=500, gzip=True).

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

    def stop_merged(self, server):
        """Stops the Hourglass daemon and has its whole data directory flushed and merged; what compact_store says of it.
        An old build merges by itself: its files may have another format."""
        if self.old:
            for call in ("flush", "compact"):
                server.daemon.ask("POST", "/api/admin/" + call, None, servers.PATIENCE_S)
            server.stop()
            return None
        server.stop()
        return support.client(self.programs / "compact_store", server.data)

    # Storing the results.

    def file_of(self, part):
        return self.results / f"{part}.json"

    def measure(self, part, module):
        """Runs a part and stores what it measured."""
        load_before, began = os.getloadavg()[0], time.monotonic()
        data = module.measure(self)
        self.file_of(part).write_text(json.dumps({
            "part": part, "date": datetime.datetime.now().isoformat(" ", "minutes"), "machine": support.machine(),
            "versions": support.versions(), "size": self.size, "rounds": self.rounds, "load_before": round(load_before, 1),
            "minutes": round((time.monotonic() - began) / 60, 1), "command": " ".join(["bench/run", *sys.argv[1:]]),
            "data": data}, indent=1) + "\n")

    def result(self, part):
        """The stored result of a part; None if it has not run."""
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
    """Checks that every point that was sent can be counted; otherwise the figures would be worthless. Waits, because some servers need time."""
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
    """Returns the median, the smallest and the largest value of a field over the rounds."""
    values = [row[field] for row in rows]
    return statistics.median(values), min(values), max(values)
