"""Random sessions: settings, data and requests of one kind, drawn from a seed."""

import base64
import json
import struct
import time

import data
from data import milliseconds
from expressions import Expressions
from metadata import Names
from queries import CALENDAR, FIXED, Queries, last_requests
from trees import FIRST, Trees
from writes import METRICS, Writes

ROLLUPS = {
    "tsd.rollups.enable": "true",
    "tsd.rollups.config": json.dumps(
        {
            "aggregationIds": {"sum": 0, "count": 1, "min": 2, "max": 3},
            "intervals": [
                {
                    "table": "tsdb",
                    "preAggregationTable": "tsdb-preagg",
                    "interval": "1m",
                    "rowSpan": "1h",
                    "defaultInterval": True,
                },
                {
                    "table": "tsdb-rollup-1h",
                    "preAggregationTable": "tsdb-rollup-agg-1h",
                    "interval": "1h",
                    "rowSpan": "1d",
                },
                {
                    "table": "tsdb-rollup-1d",
                    "preAggregationTable": "tsdb-rollup-agg-1d",
                    "interval": "1d",
                    "rowSpan": "1n",
                },
            ],
        }
    ),
}
HISTOGRAMS = {"tsd.core.histograms.config": '{"net.opentsdb.core.SimpleHistogramDecoder":42}'}
TRACKING = {
    "tsd.core.meta.enable_tsuid_tracking": "true",
    "tsd.core.meta.enable_realtime_ts": "true",
    "tsd.core.meta.enable_realtime_uid": "true",
}


def post(path, body):
    return {"method": "POST", "path": path, "body": body}


def written(metrics, r):
    return data.ids(metrics) + [post("/api/put?sync", body) for body in data.puts(metrics, r)]


def points(r, count, config):
    metrics = [data.metric(r, f"p.m{i}") for i in range(r.choice([3, 5, 8]))]
    make = Expressions(r, metrics)
    kinds = [make.query] * 8 + [make.exp, make.gexp]
    return {
        "config": config,
        "setup": written(metrics, r) + notes(r, metrics, fitting=not any("uid.width" in key for key in config)),
        "requests": [r.choice(kinds)() for _ in range(count)],
    }


def expressions(r, count, config):
    metrics = [data.metric(r, f"e.m{i}") for i in range(4)]
    # Series of different metrics with the same tags and times.
    metrics += [
        data.Metric(
            m.name + "x",
            {
                tags: {t: r.choice([v, 1, 2.5]) for t, v in s.items() if r.random() < 0.9} or s
                for tags, s in m.points.items()
            },
            m.keys,
        )
        for m in metrics
    ]
    make = Expressions(r, metrics)
    return {
        "config": config,
        "setup": written(metrics, r),
        "requests": [r.choice([make.exp, make.gexp])() for _ in range(count)],
    }


def notes(r, metrics, fitting):
    """Annotations of series and global ones, near the points; of series only if their TSUIDs are valid (data.tsuid)."""
    out = []
    for _ in range(r.choice([0, 0, 3, 6])):
        m = r.choice(metrics)
        at = r.choice(m.times_ms()) // 1000 + r.choice([0, 1, 60, -60])
        note = {
            "startTime": max(at, 1),
            "description": r.choice(["up", "down", "é"]),
            "notes": "",
            **({"endTime": at + 100} if r.random() < 0.5 else {}),
        }
        if r.random() < 0.6:
            tsuid = data.tsuid(metrics, m, r.choice(sorted(m.points)))
            note |= {"tsuid": tsuid} if fitting else {}
        if r.random() < 0.3:
            note["custom"] = {"owner": "ops"}
        out.append(post("/api/annotation", note))
    return out


def duplicates(r, count, config):
    metrics = [data.metric(r, f"d.m{i}") for i in range(4)]
    setup = written(metrics, r)
    for m in metrics:
        for tags, series in m.points.items():
            for t in r.sample(sorted(series), min(len(series), r.choice([0, 0, 1, 2]))):
                again = milliseconds(t) if r.random() < 0.4 and t > 10**6 else t
                setup += [
                    {"wait": 0.03},
                    post(
                        "/api/put?sync",
                        {
                            "metric": m.name,
                            "timestamp": again,
                            "value": r.choice([series[t], 5, 300, 2.5, 0.1, 70000]),
                            "tags": dict(tags),
                        },
                    ),
                ]
    make = Queries(r, metrics)
    return {"config": config, "setup": setup, "requests": [make.query() for _ in range(count)]}


def histograms(r, count, config):
    metrics = [data.metric(r, f"h.m{i}") for i in range(3)]
    for m in metrics:
        m.points = {tags: {t: v for t, v in s.items()} for tags, s in m.points.items()}
    setup = data.ids(metrics)
    bounds = r.sample([0, 1.75, 3.5, 5, 7, 10, 12.25, 20, -5, 100, 1e9, 0.1], 6)
    for m in metrics:
        items = []
        for tags, series in m.points.items():
            for t in series:
                edges = sorted(r.sample(bounds, r.choice([2, 3, 5])))
                buckets = {f"{a},{b}": r.choice([0, 1, 2, 7, 40, 1000, 2**31 - 1]) for a, b in zip(edges, edges[1:])}
                item = {"metric": m.name, "timestamp": t, "tags": dict(tags)}
                if r.random() < 0.15:
                    item |= {"id": 42, "value": encoded(buckets)}
                else:
                    item |= {
                        "buckets": buckets,
                        **({"underflow": r.randrange(9)} if r.random() < 0.5 else {}),
                        **({"overflow": r.randrange(9)} if r.random() < 0.5 else {}),
                    }
                items.append(item)
        setup += [post("/api/histogram?sync", items[i : i + 50]) for i in range(0, len(items), 50)]
    setup.append({"wait": 0.5})
    make = Queries(r, metrics)

    def request():
        m = r.choice(metrics)
        start, end = make.span(m)
        subs = []
        for _ in range(r.choice([1, 1, 2])):
            q = make.sub(m)
            q["aggregator"] = r.choice(["sum", "sum", "none", "avg"])
            if "downsample" in q and r.random() < 0.9:
                q["downsample"] = r.choice(FIXED + CALENDAR) + "-sum" + r.choice(["", "", "-nan", "-zero"])
            if r.random() < 0.7:
                q["percentiles"] = r.sample([0.5, 1, 10, 50, 75, 90, 95, 99, 99.9, 100, 42.5], r.choice([1, 2, 3]))
            if r.random() < 0.4:
                q["showHistogramBuckets"] = True
            subs.append(q)
        body = {
            "start": make.time(start),
            "end": make.time(end),
            "queries": subs,
            **({"msResolution": True} if r.random() < 0.3 else {}),
            **({"showTSUIDs": True} if r.random() < 0.1 else {}),
            **({"showQuery": True} if r.random() < 0.1 else {}),
        }
        return post("/api/query", body)

    return {"config": {**config, **HISTOGRAMS}, "setup": setup, "requests": [request() for _ in range(count)]}


def encoded(buckets):
    out = struct.pack(">H", len(buckets))
    for bound, n in buckets.items():
        low, high = map(float, bound.split(","))
        out += struct.pack(">ff", low, high) + varint(n)
    return base64.b64encode(out + varint(3) + varint(0)).decode()


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def rollups(r, count, config):
    day = 1700006400 - 1700006400 % 86400
    hosts = ["a", "b", "c"]
    setup = data.ids([data.Metric(f"r.m{i}", {(("host", h),): {day: 1} for h in hosts}, ["host"]) for i in range(4)])
    setup += [post("/api/uid/assign", {"tagk": ["_aggregate"]})] + [
        post("/api/uid/assign", {"tagv": [v]}) for v in ("SUM", "COUNT", "MAX", "MIN", "RAW")
    ]
    number = lambda: r.choice([r.randrange(1, 500), r.randrange(-90, 900) / 8, 0])
    # A sum and its count are written together; otherwise OpenTSDB loses averages (../KNOWN.md).
    some = lambda: [f for pair in r.sample([["sum", "count"], ["min"], ["max"]], r.choice([1, 2, 3])) for f in pair]
    rolled, raw = [], []
    for i in range(4):
        for host in r.sample(hosts, r.choice([1, 2, 3])):
            point = {"metric": f"r.m{i}", "tags": {"host": host}}
            for hour in r.sample(range(-30, 60), r.choice([3, 8, 20])) if i != 2 else []:
                for f in some():
                    rolled.append(
                        {
                            **point,
                            "timestamp": day + hour * 3600,
                            "value": r.randrange(0, 60) if f == "count" else number(),
                            "interval": "1h",
                            "aggregator": f,
                        }
                    )
            for d in r.sample(range(-40, 40), r.choice([0, 4, 12])):
                for f in some():
                    rolled.append(
                        {
                            **point,
                            "timestamp": day + d * 86400,
                            "value": r.randrange(0, 60) if f == "count" else number(),
                            "interval": "1d",
                            "aggregator": f,
                        }
                    )
            for m in range(r.choice([0, 20, 60])) if i else []:
                raw.append({**point, "timestamp": day + 3600 * r.randrange(-2, 12) + 60 * m, "value": number()})
            for hour in range(r.choice([0, 4])):
                group = r.choice(["sum", "max", "count", "min"])
                rolled.append(
                    {
                        **point,
                        "timestamp": day + hour * 3600,
                        "value": number(),
                        "groupByAggregator": group,
                        **({"interval": "1h", "aggregator": r.choice(["sum", "max"])} if r.random() < 0.5 else {}),
                    }
                )
    setup += (
        [post("/api/rollup", rolled[i : i + 40]) for i in range(0, len(rolled), 40)]
        + [post("/api/put?sync", raw[i : i + 40]) for i in range(0, len(raw), 40)]
        + [{"wait": 1.0}]
    )
    metric = data.Metric("", {(("host", h),): {day - 86400: 1, day: 1, day + 86400: 1} for h in hosts}, ["host"])
    make = Queries(r, [metric])

    def request():
        start = day + r.choice([0, -3600, 3600, 1800, -86400, 86400, -40 * 86400, 7200 + 59])
        end = start + r.choice([3600, 7200, 86400, 2 * 86400, 35 * 86400, 90000, 10])
        q = make.sub(metric)
        q.pop("tsuids", None)
        q["metric"] = f"r.m{r.randrange(4)}"
        functions = ["sum", "count", "min", "max", "avg", "zimsum", "mimmin", "mimmax", "dev", "last", "first", "p95"]
        if r.random() < 0.9:
            q["downsample"] = (
                r.choice(
                    [
                        "1h",
                        "2h",
                        "3h",
                        "1d",
                        "2d",
                        "30m",
                        "90m",
                        "1m",
                        "10m",
                        "12h",
                        "1w",
                        "1n",
                        "1dc",
                        "2hc",
                        "1nc",
                        "0all",
                    ]
                )
                + "-"
                + r.choice(functions[:6] if r.random() < 0.8 else functions)
                + r.choice(["", "", "", "-nan", "-zero", "-null"])
            )
        if r.random() < 0.5:
            q["rollupUsage"] = r.choice(
                ["ROLLUP_RAW", "ROLLUP_NOFALLBACK", "ROLLUP_FALLBACK", "ROLLUP_FALLBACK_RAW", "rollup_raw"]
            )
        if r.random() < 0.2:
            q["preAggregate"] = True
        if r.random() < 0.2:
            q.setdefault("filters", []).append(
                {
                    "type": "literal_or",
                    "tagk": "_aggregate",
                    "filter": r.choice(["SUM", "MAX", "RAW", "COUNT", "SUM|MAX"]),
                    "groupBy": r.random() < 0.5,
                }
            )
        body = {
            "start": start,
            "end": end,
            "queries": [q],
            **({"msResolution": True} if r.random() < 0.2 else {}),
            **({"showQuery": True} if r.random() < 0.2 else {}),
        }
        return post("/api/query", body)

    return {"config": {**config, **ROLLUPS}, "setup": setup, "requests": [request() for _ in range(count)]}


def small_metrics(r, prefix, count):
    """Metrics with a few series each, of one point."""
    metrics = []
    for i in range(count):
        m = data.metric(r, f"{prefix}{i}")
        m.points = {tags: {1700000000 + i: i} for tags in sorted(m.points)[:4]}
        metrics.append(m)
    return metrics


def names(r, count, config):
    metrics = small_metrics(r, "n.m", 4)
    make = Names(r, metrics, config.get("tsd.core.meta.enable_tsuid_tracking") == "true")
    setup = written(metrics, r) + [{"wait": 1.5}]
    return {"config": config, "setup": setup, "requests": [make.request() for _ in range(count)]}


def trees(r, count, config):
    metrics = small_metrics(r, "t.m", 4)
    make = Trees(r, metrics)
    ids = data.ids([*metrics, data.Metric(FIRST, {((FIRST, FIRST),): {1: 1}}, [FIRST])])
    return {"config": config, "setup": ids + make.setup(), "requests": [make.request() for _ in range(count)]}


def writes(r, count, config):
    known = [data.Metric(m, {(("dc", v), ("host", v)): {1: 1} for v in "abc"}, ["dc", "host"]) for m in METRICS]
    make = Writes(r)
    setup = data.ids(known) + [
        post("/api/uid/assign", {"tagk": ["_aggregate", "app"]}),
        post("/api/uid/assign", {"tagv": ["SUM", "MAX", "COUNT", "zz"]}),
    ]
    # A read rewrites an old row as compacted; the next write at one of its times then fails or is undone (../KNOWN.md).
    config = {**config, "tsd.storage.enable_compaction": "false"}
    return {"config": config, "setup": setup, "requests": [make.request() for _ in range(count)]}


def last(r, count, config):
    metrics = [data.metric(r, f"l.m{i}") for i in range(4)]
    now = int(time.time())
    for m in metrics:
        for tags, series in m.points.items():
            m.points[tags] = {
                now - r.choice([5, 60, 600, 4000, 7300, 90000, 40]) - i: v for i, v in enumerate(series.values())
            }
    return {
        "config": config,
        "setup": written(metrics, r) + [{"wait": 1.0}],
        "requests": list(last_requests(r, metrics, count)),
    }


KINDS = {
    "points": (points, {}),
    "points-salted": (points, {"tsd.storage.salt.width": "1", "tsd.storage.salt.buckets": "20"}),
    "points-appended": (points, {"tsd.storage.enable_appends": "true"}),
    "points-uncompacted": (points, {"tsd.storage.enable_compaction": "false"}),
    "points-zone": (points, {"tsd.core.timezone": "America/New_York"}),
    "points-nofuzzy": (points, {"tsd.query.enable_fuzzy_filter": "false"}),
    "points-skipped": (points, {"tsd.query.skip_unresolved_tagvs": "true"}),
    "points-widths": (
        points,
        {"tsd.storage.uid.width.metric": "4", "tsd.storage.uid.width.tagk": "2", "tsd.storage.uid.width.tagv": "5"},
    ),
    "expressions": (expressions, {}),
    "expressions-salted": (expressions, {"tsd.storage.salt.width": "1", "tsd.storage.salt.buckets": "20"}),
    "duplicates": (duplicates, {}),
    "duplicates-fixed": (duplicates, {"tsd.storage.fix_duplicates": "true"}),
    "duplicates-appended": (duplicates, {"tsd.storage.enable_appends": "true"}),
    "histograms": (histograms, {}),
    "histograms-salted": (histograms, {"tsd.storage.salt.width": "1", "tsd.storage.salt.buckets": "20"}),
    "rollups": (rollups, {}),
    "rollups-salted": (rollups, {"tsd.storage.salt.width": "1", "tsd.storage.salt.buckets": "20"}),
    "names": (names, {}),
    "names-tracked": (names, TRACKING),
    "names-counted": (names, {**TRACKING, "tsd.core.meta.enable_tsuid_incrementing": "true"}),
    "trees": (trees, {**TRACKING, "tsd.core.tree.enable_processing": "true"}),
    "writes": (writes, {}),
    "writes-all": (writes, {**ROLLUPS, **HISTOGRAMS}),
    "writes-salted": (
        writes,
        {**ROLLUPS, **HISTOGRAMS, "tsd.storage.salt.width": "1", "tsd.storage.salt.buckets": "20"},
    ),
    "writes-known": (writes, {"tsd.core.auto_create_metrics": "false", "tsd.core.auto_create_tagks": "false"}),
    "last": (last, {}),
    "last-tracked": (last, TRACKING),
}


def session(kind, seed, count):
    make, config = KINDS[kind]
    return {"name": kind, **make(data.generator(seed, kind), count, config)}
