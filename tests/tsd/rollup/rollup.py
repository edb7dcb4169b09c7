#!/usr/bin/env python3
"""A daemon makes rollups of points that it has and gets, answers from them what it answers from raw points, whether they come
late, while it is away or it is killed, and goes on answering when the points are gone. The last line reads "N passed, N failed"."""
import json
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402
import remote_read  # noqa: E402
from checks import Checks, waited  # noqa: E402

DAY = 86_400
HOUR = 3600
CONFIG = {"aggregationIds": {"sum": 0, "count": 1, "min": 2, "max": 3},
          "intervals": [{"interval": "1m", "rowSpan": "1h", "table": "tsdb", "preAggregationTable": "pre", "defaultInterval": True},
                        {"interval": "1h", "rowSpan": "1d", "table": "tsdb-1h", "preAggregationTable": "pre-1h"},
                        {"interval": "1d", "rowSpan": "1n", "table": "tsdb-1d", "preAggregationTable": "pre-1d"}]}
# The hour that ends at each step, its last millisecond included, so that the answer from rollups is exact.
WHOLE_HOURS = [f"{name}_over_time(m[1h] offset 1ms)" for name in ("sum", "count", "min", "max")] + [
    "round(avg_over_time(m[1h] offset 1ms), 1e-9)"]
DOWNSAMPLES = ("1h-sum", "1d-sum", "1d-avg", "1d-min", "2h-max", "1d-count", "1d-p95")


def post(server, path, body):
    connection = server.connection()
    connection.request("POST", path, json.dumps(body))
    reply = connection.getresponse()
    return reply.status, reply.read()


def ask(server, start, end, downsample, **more):
    """Returns (answers by host, the table that was read)."""
    query = {"aggregator": "sum", "metric": "m", "downsample": downsample, **more,
             "filters": [{"type": "wildcard", "tagk": "host", "filter": "*", "groupBy": True}]}
    status, text = post(server, "/api/query", {"start": start, "end": end, "showQuery": True, "queries": [query]})
    if status != 200:
        return status, text
    series = json.loads(text)
    return {s["tags"]["host"]: s["dps"] for s in series}, {s["query"]["rollupTable"] for s in series}


def prometheus(server, expression, start, end, step):
    """{host: {time: value}}"""
    words = {"query": expression, "start": start, "end": end, "step": step}
    found = server.get("/api/v1/query_range?" + urllib.parse.urlencode(words))["data"]["result"]
    return {series["metric"]["host"]: {at: float(value) for at, value in series["values"]} for series in found}


def hours_of(samples, fold):
    """Returns {hour: result of `fold` over the hour's values}."""
    hours = {}
    for at, value in samples:
        hours.setdefault(at // 1000 // HOUR * HOUR, []).append(value)
    return {hour: fold(values) for hour, values in hours.items()}


def main():
    check = Checks()
    with tempfile.TemporaryDirectory() as folder:
        tsdb = Path(sys.argv[1]).resolve()
        server = daemon.Daemon(tsdb, folder)
        server.start()
        today = int(time.time() - 2 * HOUR) // DAY * DAY  # the start of a day that is over, even shortly after midnight
        start, end = today - 5 * DAY, today - 1
        server.put([{"metric": "m", "timestamp": start + minute * 60, "value": minute % 97, "tags": {"host": host}}
                    for minute in range(0, 5 * 1440, 7) for host in ("a", "b")])
        server.stop()

        def same(when):
            for downsample in DOWNSAMPLES:
                rolled, _ = ask(server, start, end, downsample)
                raw, tables = ask(server, start, end, downsample, rollupUsage="ROLLUP_RAW")
                check(f"{when}: {downsample}", rolled, raw)
                check(f"{when}: raw points on demand", tables, {"raw"})

        server.settings.update({"tsd.rollups.enable": "true", "tsd.rollups.automatic": "true",
                                "tsd.rollups.config": json.dumps(CONFIG), "tsd.core.auto_create_tagvs": "true"})
        server.start()
        same("while they are made")
        check("all are made", waited(lambda: ask(server, start, end, "1d-sum")[1], {"1d"}), {"1d"})
        same("made")
        check("rollups of single series are not taken",
              post(server, "/api/rollup", [{"metric": "m", "timestamp": start, "value": 1, "tags": {"host": "a"}, "interval": "1h",
                                            "aggregator": "sum"}])[0], 400)

        server.put([{"metric": "m", "timestamp": start + 7200 + s, "value": 5, "tags": {"host": "late"}} for s in range(100)])
        check("late points leave one mark, until they are rolled up", server.statistic("rollups.dirty_markers") <= 1, True)
        same("late points")
        server.put([{"metric": "m", "timestamp": start + DAY + 1, "value": 5, "tags": {"host": "late"}}])
        server.kill()
        server.start()
        same("after a kill")
        check("marks are gone", waited(lambda: server.statistic("rollups.dirty_markers"), 0), 0)
        check("days are read again", ask(server, start, end, "1d-sum")[1], {"1d"})
        same("made anew")

        server.stop()
        (Path(folder) / "points").write_text("".join(f"m {start + 2 * DAY + s} 3 host=a\n" for s in range(50)))
        done = subprocess.run([tsdb, "import", f"--config={folder}/tsd.conf", f"{folder}/points"], cwd=folder, capture_output=True)
        check("an import", done.returncode, 0)
        server.start()
        same("after an import")

        before = ask(server, start, end, "1d-sum")[0]
        whole_hours = [prometheus(server, expression, start + HOUR, today, HOUR) for expression in WHOLE_HOURS]
        samples = remote_read.read(server.port, "m", start, start + DAY - 1)["a"]
        mean = lambda values: sum(values) / len(values)  # noqa: E731
        mean_of = hours_of(samples, mean)
        check("remote read gives points", len(samples) > 200, True)
        server.stop()
        server.settings.update({"tsd.retention.config": '[{"metric": "m", "keep": "2d"}]', "tsd.retention.interval": 1})
        server.start()
        raw_hosts = lambda: set(ask(server, start, start + DAY - 1, "1d-sum", rollupUsage="ROLLUP_RAW")[0])  # noqa: E731
        check("raw points go", waited(raw_hosts, set()), set())
        check("rollups stay", ask(server, start, end, "1d-sum")[0], before)
        for expression, wanted in zip(WHOLE_HOURS, whole_hours):
            check(f"PromQL reads them: {expression}", prometheus(server, expression, start + HOUR, today, HOUR), wanted)
        shown = prometheus(server, "m{host='a'}", start, start + DAY - 1, 600).get("a", {})
        check("each instant shows the mean of its hour", shown, {at: mean_of[at // HOUR * HOUR] for at in shown})
        check("no instant is without", len(shown), DAY // 600)
        check("remote read gives the mean at the end of an hour", remote_read.read(server.port, "m", start, start + DAY - 1).get("a"),
              [((hour + HOUR) * 1000 - 1, mean_of[hour]) for hour in sorted(mean_of)][:23])
        for function, fold in (("rate", max), ("sum_over_time", sum), ("avg_over_time", mean), ("min_over_time", min)):
            check(f"remote read for {function}", hours_of(remote_read.read(server.port, "m", start, start + DAY, function).get("a", []), lambda v: v[0]),
                  hours_of(samples, fold))
        server.kill()
        server.start()
        check("after a kill, too", ask(server, start, end, "1d-sum")[0], before)
        check("stops in good order", server.stop(), 0)

        server.settings.update({"tsd.rollups.automatic": "false", "tsd.retention.config": '[{"metric": "m", "keep": "1h"}]'})
        server.start()
        check("a round of retention", waited(lambda: server.statistic("retention.rounds") > 0, True), True)
        raw = lambda: ask(server, start, end, "1d-sum", rollupUsage="ROLLUP_RAW")[0]  # noqa: E731
        check("without automatic rollups points go, too", waited(raw, {}), {})
        server.stop()
        server.settings["tsd.rollups.automatic"] = "true"
        server.start()
        check("what was made of them is there when it is on again", ask(server, start, end, "1d-sum")[0], before)
        for ttl, left in (("400d", before), ("1s", {})):
            for table in ("tsdb-1h", "tsdb-1d"):
                changed = subprocess.run([tsdb, "table", f"--config={folder}/tsd.conf", "alter", table, "--family", "t", "--ttl", ttl],
                                         cwd=folder, capture_output=True)
                check(f"table {table} gets a TTL next to the daemon", (changed.returncode, changed.stderr), (0, b""))
            check(f"rollups with a TTL of {ttl}", waited(lambda: ask(server, start, end, "1d-sum")[0], left), left)
        server.stop()

        server.settings["tsd.storage.ttl"] = DAY
        try:
            server.start(10)
            check("a daemon whose points go unseen", "started", "refused")
            server.stop()
        except RuntimeError as refused:
            check("the message names the setting", "tsd.storage.ttl" in str(refused), True)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
