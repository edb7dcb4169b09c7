"""How cost grows: with series, tag values, connections, the age of the data and the points of a query. Each curve is a cost per
unit (a point, a series, an answer) which the design says does not grow; the page says where it does."""
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

import plots
from measuring import START
from support import memory_of

TITLE = "How cost grows"
OURS = "Hourglass"
METRICS = [f"cpu.usage_{name}" for name in ("user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest",
                                            "guest_nice")]
HOUR_S = 3600
GROWN = 2  # A cost has grown if it exceeds this multiple of the lowest cost at fewer units; smaller changes count as noise.


class Curve:
    """A curve of the cost of one unit. The expectation is always that this cost does not grow."""

    def __init__(self, key, x, y, law):
        self.key, self.x, self.y, self.law, self.points, self.stopped = key, x, y, law, [], ""

    def add(self, x, y):
        self.points.append([x, y])

    def try_to(self, x, measured):
        """Adds the point that measured() returns. A server may refuse a load that is too large; the curve ends there."""
        try:
            self.add(x, measured())
        except RuntimeError as error:
            self.stopped = f"at {x:,}: {str(error).splitlines()[-1][:200]}"

    def latest(self):
        return f"{self.points[-1][1]:.3g} ({self.y})" if self.points else self.stopped

    def as_data(self):
        return {"key": self.key, "x": self.x, "y": self.y, "law": self.law, "points": self.points, "stopped": self.stopped}


def request(metrics, start, end, aggregator, downsample, filters=()):
    return "/api/query\t" + json.dumps({"start": start, "end": end, "queries": [
        {"metric": metric, "aggregator": aggregator, "filters": list(filters), **({"downsample": downsample} if downsample else {})}
        for metric in metrics]})


def hostname(kind, text, group=False):
    return {"type": kind, "tagk": "hostname", "filter": text, "groupBy": group}


def ask(bench, server, requests, passes=1, **options):
    """Runs query_client for each round and returns the medians of its figures."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("".join(line + "\n" for line in requests))
        file.flush()
        rounds = [bench.ask(server, file.name, passes=passes, **options) for _ in range(bench.rounds)]
    return {field: statistics.median(run[field] for run in rounds) for field in rounds[0]}


def write(bench, server, start, **options):
    """Writes with put_client, each round at later times; returns the medians of its figures and the time after the last point."""
    rounds = []
    for _ in range(bench.rounds):
        rounds.append(bench.put(server, start=start, decimals=0, step=10, **options))
        start += options["steps"] * options["passes"] * 10
    return {field: statistics.median(run[field] for run in rounds) for field in rounds[0]}, start


def by_series(bench):
    made = Curve("series-created", "series", "CPU-ns to create one", "a series costs the same, however many there are")
    written = Curve("series-written", "series", "CPU-ns a point", "a point costs a look-up in a hash table: the caches' misses may show")
    asked = Curve("series-asked", "series", "µs for an hour of one series", "the index finds one series as quickly among many")
    held = Curve("series-memory", "series", "B of memory each", "fixed parts are divided among more")
    for series in bench.pick([10**3, 10**4, 10**5, 10**6, 10**7], [10**3, 10**4, 10**5, 10**6], [10**3, 10**4]):
        hosts = series // 10
        with bench.running(OURS) as (server,):
            empty = memory_of(server.pids)["anonymous"]
            run = bench.put(server, hosts=hosts, steps=1, passes=1, decimals=0, start=START)
            made.add(series, run["cpu_ns"])
            run, end = write(bench, server, START + 10, hosts=hosts, steps=max(1, min(200, 1_000_000 // series)), passes=2)
            written.add(series, run["cpu_ns"])
            held.add(series, (memory_of(server.pids)["anonymous"] - empty) / series)
            one = [request(METRICS[:1], START, min(end, START + HOUR_S) - 1, "max", "1m-max", [hostname("literal_or", f"host_{host}")])
                   for host in random.Random(1).sample(range(hosts), min(hosts, 200))]
            asked.add(series, ask(bench, server, one)["median_us"])
        bench.say(f"{series} series: create {made.points[-1][1]:.0f} ns, write {written.points[-1][1]:.0f} ns, ask {asked.points[-1][1]:.0f} us, "
                  f"{held.points[-1][1]:.0f} B")
    return [made, written, asked, held]


def by_tag_values(bench):
    kinds = {
        "literal": (Curve("values-literal", "values of a tag", "µs for one value", "one value is looked up"),
                    lambda n: [hostname("literal_or", f"host_{n // 2}")], lambda n: 1),
        "all": (Curve("values-all", "values of a tag", "ns for each series of one sum", "each series is read once"),
                lambda n: [hostname("wildcard", "*")], lambda n: n),
        "group": (Curve("values-group", "values of a tag", "ns for each group", "each group is answered once"),
                  lambda n: [hostname("wildcard", "*", True)], lambda n: n),
        "regexp": (Curve("values-regexp", "values of a tag", "ns for each value, a tenth of which fit",
                         "the expression is tried once for each value"),
                   lambda n: [hostname("regexp", "host_.*7$")], lambda n: n),
    }
    for values in bench.pick([10, 10**2, 10**3, 10**4, 10**5, 10**6], [10, 10**2, 10**3, 10**4, 10**5], [10, 100]):
        with bench.running(OURS) as (server,):
            bench.put(server, hosts=values, metrics=1, steps=6, passes=1, decimals=0, step=60, start=START)
            for curve, filters, units in kinds.values():
                line = request(METRICS[:1], START, START + HOUR_S - 1, "sum", "1h-avg", filters(values))
                per_unit = 1 if units(values) == 1 else 1000 / units(values)
                curve.try_to(values, lambda line=line, per_unit=per_unit: per_unit * ask(
                    bench, server, [line], passes=max(1, min(200, 100_000 // values)))["median_us"])
        bench.say(f"{values} values: " + ", ".join(f"{kind} {row[0].latest()}" for kind, row in kinds.items()))
    return [row[0] for row in kinds.values()]


def by_connections(bench):
    written = Curve("connections-written", "connections", "CPU-ns a point, 500 a request", "a connection more costs no point anything")
    asked = Curve("connections-asked", "connections", "CPU-µs an answer of one series", "nor an answer")
    waited = Curve("connections-waited", "connections", "median wait of an answer, µs, for each connection",
                   "two cores' work is shared: the wait grows with the connections, not faster")
    with bench.running(OURS) as (server,):
        hosts, start = 1000, START
        bench.put(server, hosts=hosts, steps=1, passes=1, decimals=0, start=START - HOUR_S)
        for connections in bench.pick([1, 2, 4, 8, 16, 32, 64], [1, 4, 16, 64], [1, 4]):
            run, start = write(bench, server, start, hosts=hosts, steps=bench.pick(100, 50, 2), passes=2, batch=500,
                               connections=connections)
            written.add(connections, run["cpu_ns"])
            lines = [request(METRICS[:1], START, START + HOUR_S - 1, "max", "1m-max", [hostname("literal_or", f"host_{host}")])
                     for host in random.Random(1).sample(range(hosts), hosts)]
            run = ask(bench, server, lines, passes=bench.pick(3, 2, 1), connections=connections)
            asked.add(connections, run["cpu_us"])
            waited.add(connections, run["median_us"] / connections)
            bench.say(f"{connections} connections: write {written.points[-1][1]:.0f} ns, ask {run['cpu_us']:.0f} us of processor, "
                      f"{run['median_us']:.0f} us, {run['rate']:.0f} answers/s")
    return [written, asked, waited]


class Year:
    """The data of a hundred hosts with ten metrics and a point every 30 s: 2.9 million points a day, 1,051 million a year."""
    HOSTS, STEP_S = 100, 30

    def __init__(self, bench, server):
        self.bench, self.server, self.hours = bench, server, 0

    def grow(self, hours):
        """Writes until the data spans the given number of hours; returns the figures of put_client."""
        more = hours - self.hours
        at_once = 24 if more % 24 == 0 else 1
        run = self.bench.put(self.server, hosts=self.HOSTS, steps=at_once * HOUR_S // self.STEP_S, passes=more // at_once, decimals=0,
                             step=self.STEP_S, start=START + self.hours * HOUR_S, settle=self.bench.pick(10, 5, 0))
        self.hours = hours
        return run

    def points(self, metrics, seconds):
        return self.HOSTS * metrics * seconds // self.STEP_S


def by_age(bench, year):
    written = Curve("age-written", "hours of data", "CPU-ns a point, merges included", "merges rewrite a point a few times: with the logarithm")
    last = Curve("age-last", "hours of data", "µs for the last hour of one series", "files of other hours are passed over")
    old = Curve("age-old", "hours of data", "µs for any hour of one series", "the same, from a file")
    size = Curve("age-size", "hours of data", "B on disk a point", "merged rows only become smaller")
    chance = random.Random(2)
    for hours in bench.pick([1, 24, 168, 720, 8760], [1, 24, 168, 720], [1, 2]):
        written.add(hours, year.grow(hours)["settled_cpu_ns"])

        def line(hour):
            at = START + hour * HOUR_S
            return request(METRICS[:1], at, at + HOUR_S - 1, "max", "1m-max",
                           [hostname("literal_or", f"host_{chance.randrange(Year.HOSTS)}")])
        last.add(hours, ask(bench, year.server, [line(hours - 1) for _ in range(200)])["median_us"])
        old.add(hours, ask(bench, year.server, [line(chance.randrange(hours)) for _ in range(200)])["median_us"])
        stats = {stat["metric"].split("storage.")[-1]: float(stat["value"]) for stat in year.server.daemon.get("/api/stats")
                 if "storage.files.bytes" in stat["metric"]}
        if stats["files.bytes"] > 0:  # the first hour may not have been written to a file yet
            size.add(hours, stats["files.bytes"] / year.points(10, hours * HOUR_S))
        bench.say(f"{hours} h: write {written.points[-1][1]:.0f} ns, last hour {last.points[-1][1]:.0f} us, any hour {old.points[-1][1]:.0f} us, "
                  f"{size.points[-1][1] if size.points else 0:.2f} B a point")
    return [written, last, old, size]


def by_points(bench, year):
    """Measures queries over all hours that the data has."""
    hourly = Curve("points-hourly", "points of a query", "ns a point, 1h-avg of all hosts",
                   "with whole hours merged rows have their sums: far below a decoded point's cost")
    minutes = Curve("points-minutes", "points of a query", "ns a point, 10m-max of all hosts", "each point is decoded once")
    for exponent in range(3, 10):
        metrics = 10 if exponent == 9 else 1
        seconds = 10**exponent * Year.STEP_S // (Year.HOSTS * metrics)
        if seconds > year.hours * HOUR_S:
            for curve in (hourly, minutes):
                curve.stopped = f"10^{exponent} and more are not in the data of this run"
            break
        for curve, downsample in ((hourly, "1h-avg"), (minutes, "10m-max")):
            # The ranges are counted back from the end of the data; the newest points are still in memory.
            end = START + year.hours * HOUR_S
            line = request(METRICS[:metrics], end - seconds, end - 1, "sum", downsample)
            curve.try_to(10**exponent, lambda line=line: ask(
                bench, year.server, [line], passes=max(1, min(100, 10**6 // 10**exponent)))["median_us"] * 1000 / 10**exponent)
        bench.say(f"10^{exponent} points: " + ", ".join(curve.latest() for curve in (hourly, minutes)))
    return [hourly, minutes]


def measure(bench):
    curves, began = [], time.monotonic()
    for group in (by_connections, by_tag_values, by_series):
        curves += group(bench)
        bench.say(f"{group.__name__}: {(time.monotonic() - began) / 60:.1f} min so far")
    with bench.running(OURS) as (server,):
        year = Year(bench, server)
        curves += by_age(bench, year)
        curves += by_points(bench, year)
    return [curve.as_data() for curve in curves]


def verdict(curve):
    """Describes the curve in words: where the cost of a unit first exceeded GROWN times the lowest cost before it."""
    least = None
    for x, y in curve["points"]:
        if least is not None and y > GROWN * least:
            return f"grows: at {x:,} {y / least:.1f} times the least before"
        least = y if least is None else min(least, y)
    return "does not grow"


GROUPS = {"connections": "Connections", "values": "Values of a tag", "series": "Series", "age": "Age of the data",
          "points": "Points of a query"}


def page(data, folder):
    text = ["Hourglass alone. Each figure is the cost of one unit, the median of the rounds; expected is that it does not grow, for the reason given. \"Grows\" "
            f"means more than {GROWN} times the least at fewer units. With the age of the data every day has the values of the first one, which files "
            "make use of: what a point takes is told by the part `sizes`."]
    for group, title in GROUPS.items():
        curves = [curve for curve in data if curve["key"].split("-")[0] == group and curve["points"]]
        if not curves:
            continue
        drawn = plots.draw(Path(folder, f"growth-{group}.png"), title, curves[0]["x"], "cost of a unit",
                           {curve["y"]: curve["points"] for curve in curves}, log_y=True)
        columns = sorted({x for curve in curves for x, _ in curve["points"]})
        lines = [f"| {curves[0]['x']} | expected | found | " + " | ".join(f"{x:,}" for x in columns) + " |",
                 "| --- | --- | --- |" + " --- |" * len(columns)]
        for curve in curves:
            at = dict(map(tuple, curve["points"]))
            cells = [figure(at[x]) if x in at else "" for x in columns]
            stopped = f"; stopped: {curve['stopped']}" if curve["stopped"] else ""
            lines.append(f"| {curve['y']} | {curve['law']} | {verdict(curve)}{stopped} | " + " | ".join(cells) + " |")
        text.append(f"### {title}\n\n![{title}](results/{drawn})\n\n" + "\n".join(lines))
    return "\n\n".join(text)


def figure(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


GOALS = []
