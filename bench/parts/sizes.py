"""Bytes on disk per point, index included, after everything is merged, flushed or compacted on each side."""
from against import Figure
from goals import Goal
from measuring import START, check_count, ratio

TITLE = "Size on disk"
OURS, PEER = "Hourglass", "VictoriaMetrics"
VALUES = {
    "int": ("integers, walk", {"decimals": 0}),
    "f2": ("two decimals, walk", {"decimals": 2}),
    "f16": ("full doubles, walk", {"decimals": 16}),
    "counter": ("counter, steps N(500, 100)", {"values": "counter"}),
    "constant": ("constant", {"values": "constant"}),
}
METRICS, HOUR_S = 10, 3600
SLOW_PEERS = {"InfluxDB": "influx", "OpenTSDB": "put"}  # and the protocol by which each is written to


def load(bench, server, wire, hosts, hours, step, values):
    """Writes the points and checks that all of them can be counted; returns their number."""
    run = bench.put(server, wire=wire, connections=1, fresh=True, hosts=hosts, metrics=METRICS, start=START, step=step,
                    steps=HOUR_S // step, passes=hours, **VALUES[values][1])
    check_count(server, "cpu.usage_user", START, START + hours * HOUR_S, run["points"] / METRICS, patience_s=300)
    return run["points"]


def hourglass(bench, name, hosts, hours, step, values):
    with bench.running(name) as (server,):
        points = load(bench, server, "telnet", hosts, hours, step, values)
        merged = bench.stop_merged(server)
        # The log is not part of the size: its files are reused and do not grow with the data.
        size = sum(file.stat().st_size for file in server.data.iterdir() if file.suffix != ".log")
        rows = sum(file.stat().st_size for file in server.data.glob("*.points"))
    return {"points": points, "size": size, "rows": rows, "merge_ns": merged["merge_seconds"] / points * 1e9 if merged else 0}


def peer(bench, name, wire, hosts, hours, step, values):
    with bench.running(name) as (server,):
        points = load(bench, server, wire, hosts, hours, step, values)
        return {"points": points, "size": server.settled_bytes()}


def measure(bench):
    hosts, hours = bench.pick(300, 100, 5), bench.pick(24, 24, 2)
    rows = []
    for step in (10, 60):
        for values in VALUES:
            if bench.size == "quick" and values in ("counter", "constant"):
                continue
            row = {"values": values, "step": step, **{name: hourglass(bench, name, hosts, hours, step, values)
                                                      for name in bench.sides(OURS)}}
            if bench.available(PEER):
                row[PEER] = peer(bench, PEER, "telnet", hosts, hours, step, values)
            rows.append(row)
            bench.say(line_of(row))
    slow = {}
    for name, wire in SLOW_PEERS.items():
        if bench.available(name):
            few = bench.pick(100, 30, 2) if name == "InfluxDB" else bench.pick(20, 10, 1)
            slow[name] = peer(bench, name, wire, few, hours, 10, "int")
            bench.say(f"{name}: {slow[name]['size'] / slow[name]['points']:.3f} B a point")
    return {"hosts": hosts, "hours": hours, "rows": rows, "slow": slow}


def per_point(side):
    return side["size"] / side["points"]


def line_of(row):
    ours = row[OURS]
    text = (f"| {VALUES[row['values']][0]} | {row['step']} s | {ours['points'] / 1e6:.1f} M | {per_point(ours):.3f} "
            f"| {ours['rows'] / ours['points']:.3f} | {ours['merge_ns']:.1f} |")
    if PEER not in row:
        return text + " | |"
    return text + f" {per_point(row[PEER]):.3f} | **{per_point(ours) / per_point(row[PEER]):.2f}** |"


def figures(data):
    for row in data["rows"]:
        sides = {name: [{"per_point": per_point(side)}] for name, side in row.items() if isinstance(side, dict)}
        yield Figure(f"{VALUES[row['values']][0]} at {row['step']} s: B/point", sides, "per_point")


def page(data, _folder):
    lines = ["| values | interval | points | Hourglass B/point | of it rows of points | merging, ns/point | VictoriaMetrics B/point "
             "| Hourglass ÷ VM |", "|" + " --- |" * 8, *map(line_of, data["rows"])]
    slow = [f"- {name}, integers at 10 s, {side['points'] / 1e6:.1f} M points: {per_point(side):.3f} B/point; Hourglass takes "
            f"**{slow_ratio(data, name):.3f}** of it" for name, side in data["slow"].items()]
    return (f"{data['hosts'] * METRICS} series of 4 tags over {data['hours']} h, everything merged (VictoriaMetrics: force_merge; "
            "InfluxDB: when its files change no more; OpenTSDB: HBase's files without compression after a stop in good order). Sizes do not vary "
            "from run to run: one round. Values are lossless in Hourglass; VictoriaMetrics rounds doubles.\n\n" +
            "\n".join(lines) + "\n\n" + "\n".join(slow))


def find(data, values, step):
    return next(row for row in data["rows"] if (row["values"], row["step"]) == (values, step))


def vm_ratio(data, values, step):
    row = find(data, values, step)
    return ratio(per_point(row[OURS]), per_point(row[PEER]))


def slow_ratio(data, name):
    return ratio(per_point(find(data, "int", 10)[OURS]), per_point(data["slow"][name]))


def against_vm(values, step, bound):
    return Goal(f"{VALUES[values][0]} at {step} s: ≤ {bound} × the bytes of VictoriaMetrics",
                lambda data: vm_ratio(data, values, step), at_most=bound, unit="×")


GOALS = [
    against_vm("int", 10, 1.1), against_vm("f2", 10, 1.1), against_vm("f16", 10, 1.0),
    against_vm("int", 60, 1.3), against_vm("f2", 60, 1.3), against_vm("f16", 60, 1.3),
    Goal("integers at 10 s: ≤ 0.65 × the bytes of InfluxDB", lambda data: slow_ratio(data, "InfluxDB"), at_most=0.65, unit="×"),
    Goal("integers at 10 s: ≤ 0.1 × the bytes of OpenTSDB", lambda data: slow_ratio(data, "OpenTSDB"), at_most=0.1, unit="×"),
]
