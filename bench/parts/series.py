"""Creating series, and writing to very many existing ones: Hourglass and VictoriaMetrics take turns; each round starts with an empty server."""
from goals import Goal
from measuring import START, check_count, ratio
from support import medians

TITLE = "Creating series, and writing to many"
OURS, VM = "Hourglass", "VictoriaMetrics"
METRICS, STEP_S, STEADY_PASSES = 10, 60, 2


def counts(bench):
    return bench.pick([1_000_000, 10_000_000], [1_000_000], [10_000])


def measure_once(bench, name, series):
    with bench.running(name) as (server,):
        hosts = series // METRICS
        made = bench.put(server, hosts=hosts, steps=1, passes=1, decimals=0, step=STEP_S, start=START, batch=5000,
                         connections=4)
        steady = bench.put(server, wire="telnet", hosts=hosts, steps=1, passes=STEADY_PASSES, decimals=0, step=STEP_S,
                           start=START + STEP_S, connections=4)
        check_count(server, "cpu.usage_user", START, START + 3599, hosts * (1 + STEADY_PASSES), patience_s=300)
    bench.say(f"{series} series, {name:16} made at {made['rate'] / 1e3:.0f} k/s, {made['cpu_ns'] / 1e3:.2f} us of processor each; "
              f"then {steady['rate'] / 1e6:.2f} M points/s, {steady['cpu_ns']:.0f} CPU-ns/point")
    return {"make_rate": made["rate"], "make_cpu_ns": made["cpu_ns"], "rate": steady["rate"], "cpu_ns": steady["cpu_ns"]}


def measure(bench):
    rows = {}
    for series in counts(bench):
        sides = rows[str(series)] = {}
        for _ in range(bench.rounds):
            for name in (OURS, VM):
                if bench.available(name):
                    sides.setdefault(name, []).append(measure_once(bench, name, series))
    return rows


def page(data, _folder):
    lines = ["| series | server | created a second | CPU-µs each | then lines, points/s | CPU-ns/point | created ÷ VM | lines ÷ VM |",
             "|" + " --- |" * 8]
    for series, sides in data.items():
        for name, runs in sides.items():
            mine = medians(runs)
            cells = [f"{mine['make_rate'] / 1e3:,.0f} k", f"{mine['make_cpu_ns'] / 1e3:.2f}", f"{mine['rate'] / 1e6:.2f} M",
                     f"{mine['cpu_ns']:.0f}"]
            both = name == OURS and VM in sides
            cells += [f"**{times(data, series, field):.2f}**" if both else "" for field in ("make_rate", "rate")]
            lines.append(f"| {int(series):,} | {name} | " + " | ".join(cells) + " |")
    return (f"Created by HTTP put, 5,000 points a request over 4 connections, ten metrics of each host with 4 tags: ids, index and log included. Then "
            f"lines over 4 connections, {STEADY_PASSES} points of each series.\n\n" + "\n".join(lines))


def times(data, series, field):
    return ratio(medians(data[series][OURS])[field], medians(data[series][VM])[field])


def goals_of(series, make_times, make_rate, steady_times):
    text, key = f"{series // 1_000_000} M series", str(series)
    return [
        Goal(f"creating {text}: ≥ {make_times} × VictoriaMetrics", lambda data: times(data, key, "make_rate"),
             at_least=make_times, unit="×"),
        Goal(f"creating {text}: ≥ {make_rate:,} a second", lambda data: medians(data[key][OURS])["make_rate"],
             at_least=make_rate, unit="/s"),
        Goal(f"lines to {text}: points/s ≥ {steady_times} × VictoriaMetrics", lambda data: times(data, key, "rate"),
             at_least=steady_times, unit="×"),
    ]


GOALS = goals_of(1_000_000, 5, 450_000, 3) + goals_of(10_000_000, 5, 320_000, 2.5)
