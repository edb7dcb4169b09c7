"""Ingest: Hourglass and VictoriaMetrics in alternating rounds, over HTTP put at many request sizes, and over lines."""
from against import Figure
from goals import Goal
from measuring import START, check_count, ratio
from support import medians

TAGS_MAX = {"tsd.storage.max_tags": 10}  # OpenTSDB's default is 8
TITLE = "Ingest, against VictoriaMetrics"
HOSTS, METRICS, STEP_S = 1000, 10, 10
OURS, PEER = "Hourglass", "VictoriaMetrics"


class Shape:
    """A load: name, options of put_client, points of each series in one pass (full, quick, tiny) and passes."""

    def __init__(self, name, what, steps, passes, quick=True, **options):
        self.name, self.what, self.steps, self.passes = name, what, steps, passes
        self.quick, self.options = quick, options


SHAPES = [
    Shape("put 5000x4", "5,000 points a request, 4 connections", (200, 100, 2), 4, batch=5000, connections=4),
    Shape("put 500x8", "500 points, 8 connections", (200, 100, 2), 4, batch=500, connections=8),
    Shape("put 50x16", "50 points, 16 connections", (40, 40, 1), 4, batch=50, connections=16),
    Shape("put 50x2", "50 points, 2 connections", (40, 20, 1), 4, quick=False, batch=50, connections=2),
    Shape("put 50x64", "50 points, 64 connections", (40, 20, 1), 4, quick=False, batch=50, connections=64),
    Shape("put 10x16", "10 points, 16 connections", (20, 20, 1), 3, batch=10, connections=16),
    Shape("put 10x64", "10 points, 64 connections", (20, 10, 1), 3, quick=False, batch=10, connections=64),
    Shape("put 1x16", "1 point, 16 connections", (4, 2, 1), 2, quick=False, batch=1, connections=16),
    Shape("put 1x64", "1 point, 64 connections", (4, 2, 1), 2, quick=False, batch=1, connections=64),
    Shape("telnet x4", "lines, 4 connections", (200, 100, 2), 4, wire="telnet", batch=5000, connections=4),
    Shape("gzip, 10 tags, doubles", "5,000 points, 4 connections, compressed; 10 tags, full doubles, milliseconds",
          (60, 30, 2), 3, batch=5000, connections=4, tags=10, decimals=16, gzip=True, ms=True, metrics=10),
    Shape("10 tags, doubles", "the same, not compressed", (60, 30, 2), 3, quick=False, batch=5000, connections=4, tags=10,
          decimals=16, ms=True),
]


def measure_shapes(bench, running, shapes, durability):
    """Returns {shape: {server: [result of each round]}}. Each shape has its own time range, so that its points can be counted at the end."""
    rows, begin = {}, START
    if not shapes:
        return rows
    sent_steps = 0
    for server in running:
        for tags in {shape.options.get("tags", 4) for shape in shapes}:
            bench.put(server, create=True, start=START, tags=tags, hosts=HOSTS)
    for shape in shapes:
        key = f"{shape.name}, {durability}" if durability != "logged" else shape.name
        rows[key] = {server.name: [] for server in running}
        steps = bench.pick(*shape.steps)
        for number in range(bench.rounds):
            for server in bench.turn(running, number):
                run = bench.put(server, **{"decimals": 0, **shape.options}, hosts=HOSTS, steps=steps, passes=shape.passes,
                                step=STEP_S, start=begin, settle=bench.pick(7, 3, 0) if shape.steps[0] >= 60 else 1)
                rows[key][server.name].append(run)
                bench.say(f"{key} round {number + 1} {server.name:16} {run['rate'] / 1e6:6.2f} M points/s, "
                          f"{run['cpu_ns']:6.0f} CPU-ns/point ({run['settled_cpu_ns']:.0f} settled)")
            begin += steps * shape.passes * STEP_S
            sent_steps += steps * shape.passes
    series_created = HOSTS * len({shape.options.get("tags", 4) for shape in shapes})
    for server in running:
        check_count(server, "cpu.usage_user", START - 3600, begin, sent_steps * HOSTS + series_created)
    bench.say(f"all {sent_steps * HOSTS + series_created} points of cpu.usage_user are in each server")
    return rows


def measure(bench):
    shapes = [shape for shape in SHAPES if (shape.quick or bench.size != "quick") and bench.wants(shape.name)]
    with bench.running(*bench.sides(OURS, PEER), settings=TAGS_MAX) as running:
        rows = measure_shapes(bench, running, shapes, "logged")
        durability = {server.name: server.durability for server in running}
    synced = [shape for shape in (SHAPES[:1] if bench.size == "quick" else SHAPES[:3]) if bench.wants(f"{shape.name}, synced")]
    with bench.running(*bench.sides(OURS, PEER), durability="synced") as running:
        rows |= measure_shapes(bench, running, synced, "synced")
    return {"durability": durability, "rows": rows}


def figures(data):
    for load, sides in data["rows"].items():
        yield Figure(f"{load}: points/s", sides, "rate", larger_is_better=True)
        yield Figure(f"{load}: CPU-ns/point", sides, "cpu_ns")


def page(data, _folder):
    lines = ["| load | points/s (median) | CPU-ns/point | with the work left behind | memory, MiB | request, median / p99 |"
             " points/s ÷ VM | VM's CPU ÷ ours |", "| --- |" + " --- |" * 7]
    for load, sides in data["rows"].items():
        for name, runs in sides.items():
            mine = medians(runs)
            cells = [f"{mine['rate'] / 1e6:.3f} M", f"{mine['cpu_ns']:.0f}", f"{mine['settled_cpu_ns']:.0f}", f"{mine['resident_mib']:.0f}",
                     f"{mine['median_us'] / 1000:.2f} / {mine['p99_us'] / 1000:.2f} ms" if mine["p99_us"] else ""]
            cells += ([f"**{rate_ratio(data, load):.2f}**", f"**{cpu_ratio(data, load):.2f}**"]
                      if name == OURS and PEER in sides else ["", ""])
            lines.append(f"| {load} {name} | " + " | ".join(cells) + " |")
    described = "\n".join(f"- {shape.name}: {shape.what}" for shape in SHAPES if shape.name in data["rows"])
    held = "; ".join(f"{name}: {text}" for name, text in data["durability"].items())
    return (f"10,000 series that exist already, {HOSTS} hosts with {METRICS} metrics; 4 tags and integers unless said. {held}; "
            f'"synced": Hourglass acknowledges what is on the disk.\n\n' + "\n".join(lines) + "\n\n" + described)


def value(data, load, name, field):
    return medians(data["rows"][load][name])[field]


def rate_ratio(data, load):
    return ratio(value(data, load, OURS, "rate"), value(data, load, PEER, "rate"))


def cpu_ratio(data, load):
    return ratio(value(data, load, PEER, "cpu_ns"), value(data, load, OURS, "cpu_ns"))


def goals_of(load, times_rate, times_cpu=None):
    out = [Goal(f"{load}: points/s ≥ {times_rate} × VictoriaMetrics", lambda data: rate_ratio(data, load),
                at_least=times_rate, unit="×")]
    if times_cpu:
        out.append(Goal(f"{load}: CPU per point ≤ 1/{times_cpu} of VictoriaMetrics", lambda data: cpu_ratio(data, load),
                        at_least=times_cpu, unit="×"))
    return out


GOALS = [
    *goals_of("put 5000x4", 5, 5),
    Goal("put 5000x4: ≤ 200 CPU-ns a point", lambda data: value(data, "put 5000x4", OURS, "cpu_ns"), at_most=200, unit="ns"),
    *goals_of("put 5000x4, synced", 4),
    *goals_of("put 500x8", 3.5, 4), *goals_of("put 50x16", 2.5, 3), *goals_of("put 50x2", 1.5, 2.5),
    *goals_of("put 50x64", 2.5, 3), *goals_of("put 10x16", 1.8, 2.2), *goals_of("put 10x64", 2, 2.5),
    *goals_of("put 1x16", 1.7, 1.8), *goals_of("put 1x64", 1.8, 2),
    *goals_of("gzip, 10 tags, doubles", 3.5),
    *goals_of("telnet x4", 4, 4),
    Goal("telnet x4: ≤ 170 CPU-ns a point", lambda data: value(data, "telnet x4", OURS, "cpu_ns"), at_most=170, unit="ns"),
]
