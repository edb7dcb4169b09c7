"""Writers and readers at the same time, and latencies when requests are sent at a fixed rate, no matter how fast the server answers."""
import json
import tempfile
from pathlib import Path

import plots
import support
from goals import number
from measuring import START
from questions import METRICS, Questions

TITLE = "Writes and queries at the same time, and latency at a fixed rate"
OURS, VM = "Hourglass", "VictoriaMetrics"
HOSTS, BATCH, CONNECTIONS = 1000, 500, 8
SHARES = (0.25, 0.5, 0.75)  # shares of the rate that was reached in the closed loop
STEADY_POINTS = 500_000     # points written per second while queries are measured


class Side:
    """One server, and the time up to which it has been given points."""

    def __init__(self, bench, server, hours, folder):
        self.bench, self.server, self.end = bench, server, START + hours * 3600
        questions = Questions(HOSTS, hours, START, self.end, 200)
        self.files = {}
        for name, question in (("small", questions.maxima("small", 1, 1, 1, 60, 200)), ("large", questions.averages("large", 10, 1))):
            self.files[name] = Path(folder, f"{server.name}-{name}")
            self.files[name].write_text("".join(line + "\n" for line in question.asked[server.name]))

    def load(self, hours):
        self.bench.put(self.server, hosts=HOSTS, steps=360, passes=hours, start=START, decimals=0)

    def start_writing(self, seconds, rate=0):
        return self.bench.start_put(self.server, hosts=HOSTS, steps=20, seconds=seconds, rate=rate, start=self.end, decimals=0,
                                    batch=BATCH, connections=CONNECTIONS)

    def finish_writing(self, process):
        run = support.finish(process)
        self.end += int(run["points"] / (HOSTS * len(METRICS))) * 10
        return run

    def start_asking(self, name, seconds):
        return self.bench.start_ask(self.server, self.files[name], seconds=seconds)

    def once(self, seconds):
        """Runs one round and returns {figure: number}."""
        row = {}
        writing = self.finish_writing(self.start_writing(seconds))
        row["write alone"] = writing["rate"]
        for name in ("small", "large"):
            row.update(self.answers(f"{name} alone", support.finish(self.start_asking(name, seconds))))
        process = self.start_writing(seconds)
        large = support.finish(self.start_asking("large", seconds))
        row["write beside large"] = self.finish_writing(process)["rate"]
        row.update(self.answers("large beside write", large))
        for name in ("small", "large"):
            process = self.start_writing(seconds + 1, STEADY_POINTS / BATCH)
            answers = support.finish(self.start_asking(name, seconds))
            row["steady beside " + name] = self.finish_writing(process)["rate"]
            row.update(self.answers(f"{name} beside steady", answers))
        for share in SHARES:
            run = self.finish_writing(self.start_writing(seconds, share * writing["rate"] / BATCH))
            for field in ("median_us", "p99_us", "p999_us"):
                row[f"open {share} {field}"] = run[field]
            row[f"open {share} rate"] = run["rate"]
        return row

    @staticmethod
    def answers(name, run):
        return {f"{name} {field}": run[field] for field in ("median_us", "p99_us")}


def measure(bench):
    hours = bench.pick(8, 4, 1)
    rows = {}
    with bench.running(OURS, VM) as running, tempfile.TemporaryDirectory() as folder:
        sides = [Side(bench, server, hours, folder) for server in running]
        for side in sides:
            side.load(hours)
        for round_number in range(bench.rounds):
            for side in sides:
                row = side.once(bench.pick(5, 3, 0.5))
                rows.setdefault(side.server.name, []).append(row)
                bench.say(f"round {round_number + 1} {side.server.name}: " + json.dumps({name: round(value) for name, value in row.items()}))
    return {"hours": hours, "rows": rows}


def page(data, folder):
    figures = {name: support.medians(runs) for name, runs in data["rows"].items()}
    lines = ["| | " + " | ".join(figures) + " |", "| --- |" + " --- |" * len(figures)]

    def line(text, cell):
        lines.append(f"| {text} | " + " | ".join(cell(row) for row in figures.values()) + " |")

    def answers(name):
        return lambda row: f"{row[name + ' median_us'] / 1000:.2f} / {row[name + ' p99_us'] / 1000:.2f} ms"
    line("writes alone", lambda row: f"{row['write alone'] / 1e6:.2f} M/s")
    line("writes beside large queries", lambda row: f"{row['write beside large'] / 1e6:.2f} M/s "
         f"({row['write beside large'] / row['write alone']:.0%})")
    for name in ("large", "small"):
        line(f"{name} queries alone, median / p99", answers(f"{name} alone"))
        if name == "large":
            line("large queries beside writes as fast as they go", answers("large beside write"))
        line(f"{name} queries beside {STEADY_POINTS:,} points/s", answers(f"{name} beside steady"))
    for share in SHARES:
        line(f"put at {share:.0%} of its own closed loop's rate: median / p99 / p99.9", lambda row, share=share: " / ".join(
            number(row[f"open {share} {field}"] / 1000) for field in ("median_us", "p99_us", "p999_us")) + " ms")
    drawn = plots.draw(Path(folder, "mixed-latency.png"), f"put of {BATCH} points, open loop", "points/s", "99th percentile, ms",
                       {name: [(row[f"open {share} rate"], row[f"open {share} p99_us"] / 1000) for share in SHARES]
                        for name, row in figures.items()}, log_y=True)
    return (f"{HOSTS} hosts, 10 metrics, {data['hours']} h of integers at 10 s. Writes: {BATCH} points a request, {CONNECTIONS} connections; large: "
            "double-groupby-all over everything, one connection; small: single-groupby-1-1-1. At a fixed rate requests fall due whatever the server does, "
            f"and latency counts from then.\n\n![latency](results/{drawn})\n\n" + "\n".join(lines))


GOALS = []
