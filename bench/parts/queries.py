"""The TSBS queries over one connection: Hourglass and VictoriaMetrics, as ingested and merged; InfluxDB and OpenTSDB, which
are slower, over fewer points."""
import tempfile
import time
from pathlib import Path

from against import Figure
from goals import Goal
from measuring import check_count, ratio
from questions import IDLE, METRICS, STEP, Questions, compare
from support import medians

TITLE = "Queries"
OURS, VM, INFLUX, OPENTSDB = "Hourglass", "VictoriaMetrics", "InfluxDB", "OpenTSDB"
WIRES = {INFLUX: "influx"}


class Plan:
    """What is asked of one peer: hours of data (full, quick, tiny) and the largest number of random requests per query."""

    def __init__(self, peer, hours, count_max, states):
        self.peer, self.hours, self.count_max, self.states = peer, hours, count_max, states


PLANS = [
    Plan(VM, (24, 24, 2), 300, ("as ingested", "merged")),
    Plan(INFLUX, (12, 4, 1), 100, ("as ingested",)),
    Plan(OPENTSDB, (1, 1, 1), 20, ("as ingested",)),
]


def load(bench, server, hosts, hours, start, now):
    """Writes all hours of data; then, with the last point of each series tracked, one more point per series."""
    common = {"wire": WIRES.get(server.product, "put"), "hosts": hosts, "decimals": 0}
    run = bench.put(server, **common, steps=360, passes=hours, start=start)
    bench.say(f"{server.name}: {run['points']:.0f} points written in {run['seconds']:.1f} s")
    server.restart({"tsd.core.meta.enable_tsuid_tracking": "true"})
    bench.put(server, **common, steps=1, passes=1, start=now)
    check_count(server, METRICS[0], start, start + hours * 3600 - 1, hosts * hours * 3600 // STEP)


def ask_all(bench, running, asked, folder):
    """Returns {query: {server: [figures of the client, one per round]}}."""
    rounds = {}
    file = Path(folder, "paths")
    for number in range(bench.rounds):
        for question in [IDLE, *asked]:
            for server in bench.turn(running, number):
                if server.product not in question.asked:
                    continue
                file.write_text("".join(line + "\n" for line in question.asked[server.product]))
                run = bench.ask(server, file, passes=question.passes)
                rounds.setdefault(question.name, {}).setdefault(server.name, []).append(run)
                bench.say(f"round {number + 1} {server.name}: {question.name}: median {run['median_us']:.0f} us, p99 "
                          f"{run['p99_us']:.0f} us, processor {run['cpu_us']:.0f} us, {run['bytes']:.0f} B")
    return rounds


def against(bench, plan):
    """Compares with one peer; returns {"hours", "states": {state: rounds}}."""
    hosts, hours = bench.hosts or bench.pick(1000, 1000, 20), bench.hours or bench.pick(*plan.hours)
    now = int(time.time())
    start = now // 3600 * 3600 - hours * 3600
    asked = [question for question in Questions(hosts, hours, start, now, plan.count_max).all()
             if bench.wants(question.name)]
    states = {}
    with bench.running(*bench.sides(OURS, plan.peer)) as running, tempfile.TemporaryDirectory() as folder:
        for server in running:
            load(bench, server, hosts, hours, start, now)
        for state in plan.states:
            time.sleep(bench.pick(8, 8, 1))
            if state == "merged":
                merge(bench, running)
            for question in asked:
                for peer in running[1:]:
                    if question.agree and peer.product in question.asked:
                        bench.say(f"{question.name}: {compare(question, running[0], peer)} points agree with {peer.name}")
            states[state] = ask_all(bench, running, asked, folder)
    return {"hosts": hosts, "hours": hours, "states": states}


def merge(bench, running):
    for server in running:
        if server.product == OURS:
            bench.stop_merged(server)
            server.start()
        else:
            server.get("/internal/force_merge")
            time.sleep(5)


def measure(bench):
    plans = PLANS[:1] if bench.old else [plan for plan in PLANS if bench.available(plan.peer)]
    return {plan.peer: against(bench, plan) for plan in plans}


def figures(data):
    for state, questions in data[PLANS[0].peer]["states"].items():
        for question, sides in questions.items():
            yield Figure(f"{question}, {state}: µs", sides, "median_us")
            yield Figure(f"{question}, {state}: µs of the processor", sides, "cpu_us")


def page(data, _folder):
    text = ["Over one keep-alive connection: wall time, median / 99th percentile, and the server's processor time for an answer. Random "
            "requests are the same for both sides; answers were compared first. Last columns: the peer's median ÷ ours. high-cpu "
            "uses our value filter (docs/extensions.md), which OpenTSDB has not."]
    for peer, measured in data.items():
        points = measured["hosts"] * 10 * measured["hours"] * 360
        text.append(f"### {peer}\n\n{measured['hosts']} hosts, 10 metrics, integers, {STEP} s step, {measured['hours']} h = "
                    f"{points / 1e6:.1f} M points.")
        text += [table(peer, state, questions) for state, questions in measured["states"].items()]
    return "\n\n".join(text)


def table(peer, state, questions):
    lines = [f"| {state} | {OURS} | {peer} | wall | processor |", "| --- |" + " --- |" * 4]
    for question, sides in questions.items():
        cells = []
        for name in (OURS, peer):
            if name in sides:
                run = medians(sides[name])
                cells.append(f"{ms(run['median_us'])} / {ms(run['p99_us'])} ms, {ms(run['cpu_us'])} ms")
            else:
                cells.append("")
        cells += [f"**{times_faster(sides, peer, field):.1f}**" if len(sides) == 2 else "" for field in ("median_us", "cpu_us")]
        lines.append(f"| {question} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ms(micros):
    return f"{micros / 1000:.3f}"


def times_faster(sides, peer, field="median_us"):
    return ratio(medians(sides[peer])[field], medians(sides[OURS])[field])


def worst(data, peer, question, measured, pick):
    """The worst value over the states, because a goal must hold in each of them."""
    return pick(measured(questions[question]) for questions in data[peer]["states"].values())


def times(question, factor, peer=VM):
    return Goal(f"{question}: ≥ {factor} × as fast as {peer}",
                lambda data: worst(data, peer, question, lambda sides: times_faster(sides, peer), min),
                at_least=factor, unit="×")


def within(question, limit, field="median_us", what="end to end"):
    return Goal(f"{question}: ≤ {limit:,} µs {what}",
                lambda data: worst(data, VM, question, lambda sides: medians(sides[OURS])[field], max),
                at_most=limit, unit="µs")


SMALL = ["single-groupby-1-1-1", "single-groupby-1-8-1", "single-groupby-5-1-1", "single-groupby-5-8-1", "cpu-max-all-1",
         "cpu-max-all-8", "high-cpu-1", "groupby-orderby-limit, 5 min", "lastpoint (peer looks back 24 h)"]
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
    *(times(question, 5, INFLUX) for question in SMALL),
    *(times(question, 50, INFLUX) for question in ("double-groupby-1", "double-groupby-5", "double-groupby-all")),
]
