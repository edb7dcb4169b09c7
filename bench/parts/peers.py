"""Ingest against the slower peers, InfluxDB and OpenTSDB on HBase, which get fewer points; and InfluxDB's lines, against both
peers that speak them."""
from goals import Goal
from measuring import START, check_count, ratio
from support import medians

TITLE = "Ingest, against InfluxDB and OpenTSDB"
OURS, VM, INFLUX, OPENTSDB = "Hourglass", "VictoriaMetrics", "InfluxDB", "OpenTSDB"
HOSTS, STEP_S, PASSES = 1000, 10, 2
TAGS_MAX = {"tsd.storage.max_tags": 10}  # OpenTSDB's default is 8

LINES = "InfluxDB's lines x4"

# Name of the load, options, {server: points per series in one pass (full, quick, tiny)}.
LOADS = [
    ("put 5000x4", {"batch": 5000, "connections": 4},
     [{OURS: (200, 100, 2), INFLUX: (100, 25, 1)}, {OURS: (200, 100, 2), OPENTSDB: (25, 10, 1)}]),
    ("put 50x16", {"batch": 50, "connections": 16},
     [{OURS: (40, 40, 1), INFLUX: (40, 15, 1)}, {OURS: (40, 40, 1), OPENTSDB: (15, 8, 1)}]),
    ("telnet x4", {"wire": "telnet", "batch": 5000, "connections": 4},
     [{OURS: (200, 100, 2), INFLUX: (100, 25, 1)}]),
    (LINES, {"wire": "influx", "batch": 5000, "connections": 4, "tags": 10},
     [{OURS: (400, 200, 2), VM: (200, 100, 2)}, {OURS: (400, 200, 2), INFLUX: (200, 50, 2)}]),
]


def measure_pair(bench, running, load, options, sizes):
    """Returns {server: [result of each round]} for one load; each server's time advances by what it was given."""
    rows = {server.name: [] for server in running}
    for server in running:
        wire = options.get("wire", "put")
        bench.put(server, wire=wire, tags=options.get("tags", 4), create=True, start=START, hosts=HOSTS, decimals=0)
    for number in range(bench.rounds):
        for server in running:
            steps = bench.pick(*sizes[server.name])
            begin = START + number * PASSES * steps * STEP_S
            run = bench.put(server, **options, hosts=HOSTS, decimals=0, steps=steps, passes=PASSES, step=STEP_S, start=begin,
                            settle=bench.pick(5, 2, 0))
            rows[server.name].append(run)
            bench.say(f"{load} round {number + 1} {server.name:16} {run['rate'] / 1e6:6.3f} M points/s, "
                      f"{run['cpu_ns']:6.0f} CPU-ns/point ({run['settled_cpu_ns']:.0f} settled)")
    for server in running:
        steps = bench.pick(*sizes[server.name]) * PASSES * bench.rounds
        check_count(server, "cpu.usage_user", START - 3600, START + steps * STEP_S, HOSTS * (steps + 1), patience_s=300)
    bench.say("every point is in each server")
    return rows


def measure(bench):
    rows, durability = {}, {}
    for load, options, pairs in LOADS:
        for sizes in pairs:
            if not all(bench.available(name) for name in sizes):
                continue
            with bench.running(*sizes, settings=TAGS_MAX) as running:
                rows.setdefault(load, []).append(measure_pair(bench, running, load, options, sizes))
                durability |= {server.name: server.durability for server in running}
    return {"durability": durability, "rows": rows}


def page(data, _folder):
    lines = ["| load | points/s (median) | CPU-ns/point | with the work left behind | memory, MiB | request, median / p99 | points/s, first ÷ second |"
             " CPU, second ÷ first |", "| --- |" + " --- |" * 7]
    for load, pairs in data["rows"].items():
        for sides in pairs:
            first, second = sides
            for name, runs in sides.items():
                mine = medians(runs)
                cells = [f"{mine['rate'] / 1e6:.3f} M", f"{mine['cpu_ns']:.0f}", f"{mine['settled_cpu_ns']:.0f}", f"{mine['resident_mib']:.0f}",
                         f"{mine['median_us'] / 1000:.2f} / {mine['p99_us'] / 1000:.2f} ms" if mine["p99_us"] else ""]
                cells += ([f"**{between(sides, first, second, 'rate'):.2f}**", f"**{between(sides, second, first, 'cpu_ns'):.2f}**"]
                          if name == first else ["", ""])
                lines.append(f"| {load} {name} | " + " | ".join(cells) + " |")
    held = "\n".join(f"- {name}: {text}" for name, text in data["durability"].items())
    return (f"10,000 series that exist already, {HOSTS} hosts with 10 metrics, 4 tags (lines: 10), integers. What an acknowledgement means:\n\n{held}\n\n" +
            "\n".join(lines))


def between(sides, above, below, field):
    return ratio(medians(sides[above])[field], medians(sides[below])[field])


def against(data, load, peer):
    sides = next(sides for sides in data["rows"][load] if peer in sides)
    return between(sides, OURS, peer, "rate")


def goal(load, peer, factor):
    def measured(data):
        try:
            return against(data, load, peer)
        except StopIteration:
            return None
    return Goal(f"{load}: points/s ≥ {factor} × {peer}", measured, at_least=factor, unit="×")


GOALS = [
    goal("put 5000x4", INFLUX, 20), goal("put 5000x4", OPENTSDB, 50),
    goal(LINES, VM, 3), goal(LINES, INFLUX, 7),
]
