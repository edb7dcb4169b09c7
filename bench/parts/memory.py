"""Bytes of memory per active series: an hour of points, one a minute, all of them still in memory."""
from against import Figure
from goals import Goal
from measuring import START, check_count
from support import median, medians, memory_of

TITLE = "Memory per active series"
OURS, VM = "Hourglass", "VictoriaMetrics"
METRICS, STEP_S, POINTS = 10, 60, 60
# The log must not cause a flush, because memory is measured before the first flush.
SETTINGS = {"tsd.storage.log.max": 64 << 30}


def measure_once(bench, name, series):
    with bench.running(name, settings=SETTINGS) as (server,):
        before = memory_of(server.pids)
        hosts = series // METRICS
        bench.put(server, wire="telnet", hosts=hosts, steps=1, passes=POINTS, decimals=0, step=STEP_S, start=START,
                  connections=4)
        after = memory_of(server.pids)
        row = {"resident": (after["resident"] - before["resident"]) / series,
               "anonymous": (after["anonymous"] - before["anonymous"]) / series, "empty": before["anonymous"]}
        if server.product == OURS:
            stats = {stat["metric"]: stat["value"] for stat in server.daemon.get("/api/stats")}
            row["flushes"] = float(next(value for metric, value in stats.items() if metric.endswith("storage.flushes")))
        check_count(server, "cpu.usage_user", START, START + 3599, hosts * POINTS, patience_s=300)
    bench.say(f"{series} series, {name}: {row['anonymous']:.0f} B each ({row['resident']:.0f} with what files back)")
    return row


def measure(bench):
    rows = {}
    for series, names in bench.pick([(1_000_000, [OURS, VM]), (10_000_000, [OURS])], [(1_000_000, [OURS])],
                                    [(10_000, [OURS, VM])]):
        # Writing ten million series takes minutes, and the memory hardly differs between rounds, so one round is enough.
        for _ in range(1 if series > 1_000_000 else bench.rounds):
            for name in bench.sides(*names):
                rows.setdefault(str(series), {}).setdefault(name, []).append(measure_once(bench, name, series))
    return rows


def figures(data):
    for series, sides in data.items():
        yield Figure(f"{int(series):,} series: B/series", sides, "anonymous")
        yield Figure(f"{int(series):,} series: B/series with what files back", sides, "resident")


def page(data, _folder):
    lines = ["| series | server | B/series | with what files back | rounds | flushes meanwhile |", "|" + " --- |" * 6]
    for series, sides in data.items():
        for name, runs in sides.items():
            mine = medians(runs)
            lines.append(f"| {int(series):,} | {name} | **{mine['anonymous']:.0f}** | {mine['resident']:.0f} | {len(runs)} | "
                         f"{mine.get('flushes', '')} |")
    return (f"{POINTS} points of each series, one a minute, integers, 4 tags, sent as lines. What the process holds for itself (RssAnon) less what it held "
            "when empty; Hourglass with a log so large that all points are still in memory.\n\n" + "\n".join(lines))


def goal(series, bound):
    return Goal(f"memory at {series // 1_000_000} M series: ≤ {bound} B a series",
                lambda data: median(data[str(series)][OURS], "anonymous"), at_most=bound, unit="B")


GOALS = [goal(1_000_000, 400), goal(10_000_000, 300)]
