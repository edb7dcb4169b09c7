"""Ingest in the languages beside OpenTSDB's own, and PromQL: Hourglass and VictoriaMetrics, alternating. InfluxDB's lines: part `peers`."""
import tempfile
from pathlib import Path

from measuring import START, check_count, ratio
from questions import METRICS, Questions
from support import medians

TITLE = "Other languages"
OURS, VM = "Hourglass", "VictoriaMetrics"
HOSTS, STEP_S, PASSES = 1000, 10, 2
TAGS_MAX = {"tsd.storage.max_tags": 10}
GOALS = []

# Name, options of the client, the metric's name there, points of each series in a pass (full, quick, tiny), who speaks it.
LOADS = [
    ("Prometheus remote write, 500 x8", {"wire": "remote", "batch": 500, "connections": 8}, "cpu_usage_user", (100, 50, 2), (OURS, VM)),
    ("Prometheus remote write, 2000 x4", {"wire": "remote", "batch": 2000, "connections": 4}, "cpu_usage_user", (100, 50, 2), (OURS, VM)),
    ("Graphite's lines with tags x4", {"wire": "graphite", "batch": 5000, "connections": 4}, "cpu.usage_user", (50, 20, 2), (OURS, VM)),
    # This version of the peer does not speak it.
    ("OTLP, protobuf, 2000 x4", {"wire": "otlp", "batch": 2000, "connections": 4}, "cpu.usage_user", (50, 20, 2), (OURS,)),
]


def measure_load(bench, running, name, options, metric, steps):
    """{server: [round]}; the points are counted at the end."""
    rows = {server.name: [] for server in running}
    common = {**options, "hosts": HOSTS, "decimals": 2}
    for server in running:
        bench.put(server, **common, create=True, start=START)
    for number in range(bench.rounds):
        begin = START + number * PASSES * steps * STEP_S
        for server in running:
            run = bench.put(server, **common, steps=steps, passes=PASSES, step=STEP_S, start=begin, settle=bench.pick(5, 2, 0))
            rows[server.name].append(run)
            bench.say(f"{name} round {number + 1} {server.name:16} {run['rate'] / 1e6:6.3f} M points/s, "
                      f"{run['cpu_ns']:6.0f} CPU-ns/point ({run['settled_cpu_ns']:.0f} settled)")
    steps *= PASSES * bench.rounds
    for server in running:
        check_count(server, metric, START - 3600, START + steps * STEP_S, HOSTS * (steps + 1), patience_s=300)
    bench.say("every point is in each server")
    return rows


def promql_files(hours, folder):
    """{question: file of requests}: the same expressions, as Prometheus' API has them, for both."""
    questions = Questions(HOSTS, hours, START, START + hours * 3600, 100)
    asked = [questions.maxima("one series, an hour by minutes", 1, 1, 1, 60, 100),
             questions.maxima("8 series, an hour by minutes", 1, 8, 1, 60, 100),
             questions.averages("1,000 series by hours and host", 1, 3)]
    files = {}
    for question in asked:
        files[question.name] = Path(folder, question.name.replace(" ", "-").replace(",", ""))
        # Written by remote write, a name has no dot.
        files[question.name].write_text("".join(path.replace("cpu.usage", "cpu_usage") + "\n" for path in question.asked[VM]))
    return files


def measure_promql(bench):
    hours = bench.pick(12, 4, 1)
    rows = {}
    with bench.running(OURS, VM, settings=TAGS_MAX) as running, tempfile.TemporaryDirectory() as folder:
        for server in running:
            bench.put(server, wire="remote", batch=2000, connections=4, hosts=HOSTS, decimals=2, steps=360, passes=hours, start=START)
            check_count(server, "cpu_usage_user", START, START + hours * 3600 - 1, HOSTS * hours * 360, patience_s=300)
        for name, file in promql_files(hours, folder).items():
            for _ in range(bench.rounds):
                for server in running:
                    run = bench.ask(server, file)
                    rows.setdefault(name, {}).setdefault(server.name, []).append(run)
            bench.say(f"PromQL, {name}: " + ", ".join(f"{server} {medians(runs)['median_us']:.0f} us" for server, runs in rows[name].items()))
    return {"hours": hours, "rows": rows}


def measure(bench):
    rows = {}
    for name, options, metric, steps, speakers in LOADS:
        with bench.running(*speakers, settings=TAGS_MAX) as running:
            rows[name] = measure_load(bench, running, name, options, metric, bench.pick(*steps))
    return {"writes": rows, "promql": measure_promql(bench)}


def page(data, _folder):
    lines = ["| written | points/s (median) | CPU-ns/point | request, median / p99 | points/s ÷ VM | VM's CPU ÷ ours |", "| --- |" + " --- |" * 5]
    for name, sides in data["writes"].items():
        for server, runs in sides.items():
            mine = medians(runs)
            cells = [f"{mine['rate'] / 1e6:.3f} M", f"{mine['cpu_ns']:.0f}",
                     f"{mine['median_us'] / 1000:.2f} / {mine['p99_us'] / 1000:.2f} ms" if mine["p99_us"] else ""]
            both = server == OURS and VM in sides
            cells += [f"**{times(sides, OURS, VM, 'rate'):.2f}**", f"**{times(sides, VM, OURS, 'cpu_ns'):.2f}**"] if both else ["", ""]
            lines.append(f"| {name} {server} | " + " | ".join(cells) + " |")
    asked = ["| PromQL | Hourglass, median / p99, processor | VictoriaMetrics | wall | processor |", "| --- |" + " --- |" * 4]
    for name, sides in data["promql"]["rows"].items():
        cells = [f"{mine['median_us'] / 1000:.3f} / {mine['p99_us'] / 1000:.3f} ms, {mine['cpu_us'] / 1000:.3f} ms"
                 for mine in (medians(sides[server]) for server in (OURS, VM) if server in sides)]
        if VM in sides:
            cells += [f"**{times(sides, VM, OURS, field):.1f}**" for field in ("median_us", "cpu_us")]
        asked.append(f"| {name} | " + " | ".join(cells) + " |")
    return (f"10,000 series that exist already, {HOSTS} hosts with {len(METRICS)} metrics, 4 tags, two decimals; a request of so many points over so many "
            "connections.\n\n" + "\n".join(lines) + f"\n\nThe same expressions over {data['promql']['hours']} h of them, one connection:\n\n" +
            "\n".join(asked))


def times(sides, above, below, field):
    return ratio(medians(sides[above])[field], medians(sides[below])[field])
