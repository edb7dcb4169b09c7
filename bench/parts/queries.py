"""The TSBS queries over one connection (bench/query_bench): Hourglass and VictoriaMetrics, as ingested and merged."""
import json
import subprocess
import tempfile
from pathlib import Path

from goals import Goal
from measuring import ratio
from support import ROOT, medians

TITLE = "Queries, against VictoriaMetrics"
OURS, PEER = "Hourglass", "VictoriaMetrics"


def measure(bench):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "queries.json")
        subprocess.run([ROOT / "bench/query_bench", "--json", file, "--rounds", str(bench.rounds),
                        "--hosts", str(bench.pick(1000, 1000, 20)), "--hours", str(bench.pick(24, 8, 2)),
                        *(["--skip-vm"] if not bench.available(PEER) else [])], check=True)
        return json.loads(file.read_text())


def page(data, _folder):
    points = data["hosts"] * 10 * data["hours"] * 360
    text = [f"{data['hosts']} hosts, 10 metrics, integers, 10 s step, {data['hours']} h = {points / 1e6:.1f} M points. Over one "
            "keep-alive connection: wall time, median / 99th percentile, and the server's processor time for an answer. Answers were "
            "compared first. Last columns: the peer's median ÷ ours. high-cpu uses our value filter (docs/extensions.md)."]
    for state, questions in data["states"].items():
        names = list(next(iter(questions.values())))
        lines = [f"| {state} | " + " | ".join(names) + " | wall | processor |", "| --- |" + " --- |" * (len(names) + 2)]
        for question, sides in questions.items():
            cells = []
            for name in names:
                run = medians(sides[name])
                cells.append(f"{ms(run['median_us'])} / {ms(run['p99_us'])} ms, {ms(run['cpu_us'])} ms")
            both = PEER in sides and OURS in sides
            cells += [f"**{peer_ratio(data, state, question, field):.1f}**" if both else "" for field in ("median_us", "cpu_us")]
            lines.append(f"| {question} | " + " | ".join(cells) + " |")
        text.append("\n".join(lines))
    return "\n\n".join(text)


def ms(micros):
    return f"{micros / 1000:.3f}"


def value(data, state, question, name, field="median_us"):
    return medians(data["states"][state][question][name])[field]


def peer_ratio(data, state, question, field="median_us"):
    return ratio(value(data, state, question, PEER, field), value(data, state, question, OURS, field))


def times(question, factor):
    return Goal(f"{question}: ≥ {factor} × as fast as VictoriaMetrics, as ingested and merged",
                lambda data: min(peer_ratio(data, state, question) for state in data["states"]), at_least=factor, unit="×")


def within(question, limit, field="median_us", what="end to end"):
    return Goal(f"{question}: ≤ {limit:,} µs {what}",
                lambda data: max(value(data, state, question, OURS, field) for state in data["states"]), at_most=limit, unit="µs")


GOALS = [
    times("single-groupby-1-1-1", 1.5), within("single-groupby-1-1-1", 75),
    within("single-groupby-1-1-1", 20, "cpu_us", "of the server's processor"),
    times("single-groupby-1-8-1", 3), within("single-groupby-1-8-1", 100),
    times("single-groupby-5-8-1", 4), within("single-groupby-5-8-1", 190),
    times("cpu-max-all-8", 5), within("cpu-max-all-8", 450),
    times("double-groupby-1", 5), times("double-groupby-5", 5), times("double-groupby-all", 5),
    within("double-groupby-all", 64_000),
    times("high-cpu-1", 2.5), times("high-cpu-all", 5), within("high-cpu-all", 30_000),
    times("lastpoint (peer looks back 24 h)", 10), within("lastpoint (peer looks back 24 h)", 25_000),
    times("groupby-orderby-limit, 5 min", 5), times("groupby-orderby-limit, all", 5),
]
