"""After SIGKILL: how long until the server answers, what is lost, how fast it writes at once; and a start in good order."""
from goals import Goal
from measuring import START
from support import medians

TITLE = "Start after SIGKILL, and in good order"
OURS, VM = "Hourglass", "VictoriaMetrics"
METRICS, STEP_S = 10, 10
MIB = 1 << 20
PATIENCE_S = 300


def log_bytes(server):
    return next(float(stat["value"]) for stat in server.daemon.get("/api/stats") if stat["metric"].endswith("storage.log.bytes"))


class Writer:
    """Writes one more point for each series with each pass, and counts what was acknowledged."""

    def __init__(self, bench, server, series):
        self.bench, self.server, self.hosts, self.steps = bench, server, series // METRICS, 0

    def write(self, passes):
        run = self.bench.put(self.server, hosts=self.hosts, steps=1, passes=passes, decimals=0, step=STEP_S,
                             start=START + self.steps * STEP_S, batch=5000, connections=4)
        self.steps += passes
        return run

    def lost(self):
        """The number of acknowledged points of one metric that cannot be found."""
        sent = self.hosts * self.steps
        return sent - self.server.count("cpu.usage_user", START, START + self.steps * STEP_S)


def write_log(bench, writer, log_mib):
    """Writes until the log has the given size in MiB."""
    if writer.server.name != OURS:
        return writer.write(3)
    passes = max(2, 8_000_000 // (writer.hosts * METRICS)) if bench.size != "tiny" else 2
    held = 0
    while True:
        run = writer.write(passes)
        before, held = held, log_bytes(writer.server)
        if held >= log_mib * MIB:
            return run
        if held < before:
            raise RuntimeError(f"memory was flushed at a log of {before / MIB:.0f} MiB: {log_mib} MiB are never reached")
        bench.say(f"log: {held / MIB:.0f} MiB")


def measure_rounds(bench, name, series, log_mib):
    rows = []
    # Nothing may be flushed before the kill: neither the size of the log nor the memory for two hours of points may cause a flush.
    settings = {"tsd.storage.log.max": 2 * log_mib * MIB, "tsd.storage.memstore.percent": 75,
                "tsd.storage.block_cache.percent": 5}
    with bench.running(name, settings=settings) as (server,):
        writer = Writer(bench, server, series)
        writer.write(1)
        for number in range(bench.rounds):
            before = write_log(bench, writer, log_mib)
            held = log_bytes(server) if name == OURS else 0
            server.kill()
            ready_s = server.start(PATIENCE_S) if name == OURS else server.start()
            after = writer.write(1)
            lost = writer.lost()
            server.stop()
            clean_s = server.start(PATIENCE_S) if name == OURS else server.start()
            rows.append({"log": held, "ready_s": ready_s, "lost": lost * METRICS, "rate_before": before["rate"],
                         "rate_after": after["rate"], "clean_s": clean_s})
            bench.say(f"{series} series, {name} round {number + 1}: log of {held / MIB:.0f} MiB, ready after {ready_s:.2f} s, some {lost * METRICS:.0f} "
                      f"points lost, writes {after['rate'] / 1e6:.2f} M/s ({before['rate'] / 1e6:.2f} before), good start {clean_s:.2f} s")
    return rows


def measure(bench):
    rows = {}
    for series, names in bench.pick([(1_000_000, [OURS, VM]), (10_000_000, [OURS])], [(1_000_000, [OURS])],
                                    [(10_000, [OURS, VM])]):
        for name in names:
            if bench.available(name):
                rows.setdefault(str(series), {})[name] = measure_rounds(bench, name, series, bench.pick(512, 512, 2))
    return rows


def page(data, _folder):
    lines = ["| series | server | log, MiB | ready after SIGKILL, s (most) | points lost (most) | points/s before | points/s at once after | "
             "ready after SIGTERM, s |", "|" + " --- |" * 8]
    for series, sides in data.items():
        for name, runs in sides.items():
            mine = medians(runs)
            lines.append(f"| {int(series):,} | {name} | {mine['log'] / MIB:.0f} | {mine['ready_s']:.2f} ({most(runs, 'ready_s'):.2f}) | "
                         f"{most(runs, 'lost'):,.0f} | {mine['rate_before'] / 1e6:.2f} M | {mine['rate_after'] / 1e6:.2f} M | {mine['clean_s']:.2f} |")
    return ("Killed behind the last acknowledgement; ready when it answers a request. Lost: acknowledged points of one metric that a query does not find, times "
            "ten. At once after: one point of each series, from the first second on.\n\n" + "\n".join(lines))


def most(runs, field):
    return max(run[field] for run in runs)


def goals_of(series, ready_s):
    key, text = str(series), f"{series // 1_000_000} M series"
    return [
        Goal(f"SIGKILL at {text} and a log of 512 MB: no acknowledged point lost", lambda data: most(data[key][OURS], "lost"),
             at_most=0, unit="points"),
        Goal(f"SIGKILL at {text} and a log of 512 MB: ready within {ready_s} s", lambda data: medians(data[key][OURS])["ready_s"],
             at_most=ready_s, unit="s"),
        Goal(f"SIGKILL at {text}: at once full speed (≥ 0.9 of before)",
             lambda data: medians(data[key][OURS])["rate_after"] / medians(data[key][OURS])["rate_before"], at_least=0.9,
             unit="×"),
    ]


GOALS = [*goals_of(1_000_000, 2), *goals_of(10_000_000, 10),
         Goal("start in good order at 1 M series: within 0.5 s", lambda data: medians(data["1000000"][OURS])["clean_s"],
              at_most=0.5, unit="s")]
