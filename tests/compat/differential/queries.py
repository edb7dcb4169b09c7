"""Random /api/query and /api/query/last requests over a data set (data.Metric)."""

import re
import time

import data
from mutate import AGGREGATORS, quoted

FIXED = "1s 2s 5s 7s 10s 15s 30s 45s 1m 2m 7m 10m 15m 30m 1h 2h 6h 7h 1d 2d 1w 1n 1y 100ms 250ms 1500ms".split()
CALENDAR = "10sc 45sc 1mc 7mc 30mc 1hc 2hc 5hc 6hc 1dc 2dc 7dc 1wc 2wc 1nc 2nc 3nc 1yc 250msc 2yc".split()
ZONES = (
    "UTC America/Los_Angeles America/New_York Asia/Kolkata Europe/Berlin Australia/Lord_Howe Pacific/Apia EST".split()
)


UNIT_MS = {
    "ms": 1,
    "s": 1000,
    "m": 60000,
    "h": 3600000,
    "d": 86400000,
    "w": 7 * 86400000,
    "n": 30 * 86400000,
    "y": 365 * 86400000,
}
BUCKETS_MAX = 2000  # buckets that a fill policy may create; more would only be slow


def affordable(spec, span_ms):
    """The downsampling, without its fill policy if that would create too many buckets."""
    interval = re.match(r"(\d+)(ms|[smhdwny])c?-", spec)
    if interval and span_ms / (int(interval[1]) * UNIT_MS[interval[2]]) > BUCKETS_MAX:
        return "-".join(spec.split("-")[:2])
    return spec


class Queries:
    def __init__(self, r, metrics):
        self.r, self.metrics = r, metrics

    # Times of queries.

    def span(self, m):
        """A range (start, end) in ms around the metric's points, mostly in whole seconds."""
        r, times = self.r, m.times_ms()

        def near(t):
            t += r.choice(
                [0, 0, 0, 1, -1, 1000, -1000, 5000, -5000, 60000, -60000, 3600000, -3600000, 86400000, -86400000]
            )
            t += r.choice([0, 0, -(t % 3600000), 3600000 - t % 3600000, 3599000 - t % 3600000])
            return t if r.random() < 0.3 else t - t % 1000

        start, end = sorted(
            (
                near(r.choice([times[0], times[0], r.choice(times)])),
                near(r.choice([times[-1], times[-1], r.choice(times)])),
            )
        )
        if start == end and r.random() < 0.95:
            end += r.choice([1000, 60000, 3600000])
        return max(start, 1000), max(end, 1000)

    def time(self, ms, zone=None):
        r = self.r
        choice = r.random()
        if ms % 1000 == 0 and choice < 0.7:
            return r.choice([ms // 1000, ms // 1000, str(ms // 1000)]) if ms >= 10**9 else ms // 1000
        if ms % 1000 == 0 and choice < 0.8 and ms >= 86400000:
            return time.strftime(
                r.choice(["%Y/%m/%d-%H:%M:%S", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d-%H:%M", "%Y/%m/%d"]),
                time.gmtime(ms // 1000),
            )
        if choice < 0.85 and len(str(ms)) == 13:
            return f"{ms // 1000}.{ms % 1000:03d}"
        return r.choice([ms, str(ms), f"{ms}ms"]) if ms >= 10**10 else f"{ms}ms"

    # Sub-queries as members of a POST body.

    def downsample(self):
        r = self.r
        interval = r.choice(FIXED) if r.random() < 0.65 else r.choice(CALENDAR) if r.random() < 0.8 else "0all"
        function = r.choice([a for a in AGGREGATORS if a != "none"])
        return f"{interval}-{function}" + r.choice(["", "", "", "-nan", "-null", "-zero", "-none", "-NaN"])

    def rate_options(self):
        r = self.r
        options = {}
        if r.random() < 0.8:
            options["counter"] = r.random() < 0.8
        if r.random() < 0.5:
            options["counterMax"] = r.choice([65535, 2**32 - 1, 2**63 - 1, 100, 0])
        if r.random() < 0.4:
            options["resetValue"] = r.choice([0, 1, 5, 100, 10**6])
        if r.random() < 0.35:
            options["dropResets"] = r.random() < 0.8
        return options

    def filter(self, m):
        r = self.r
        key = r.choice(m.keys) if r.random() < 0.95 else r.choice(data.KEYS)
        values = m.values(key) or ["a"]
        kind = r.choice(
            "literal_or literal_or iliteral_or not_literal_or not_iliteral_or wildcard wildcard iwildcard regexp".split()
        )
        return {"type": kind, "tagk": key, "filter": self.expression(kind, values), "groupBy": r.random() < 0.5}

    def expression(self, kind, values):
        r = self.r
        value = r.choice(values)
        if "literal" in kind:
            some = [r.choice(values) for _ in range(r.choice([1, 1, 2, 3]))] + (
                ["nosuch"] if r.random() < 0.04 else []
            )
            return "|".join(
                v.swapcase() if "i" == kind.replace("not_", "")[0] and r.random() < 0.5 else v for v in some
            ) + ("|" if r.random() < 0.03 else "")
        if "wildcard" in kind:
            i, j = sorted((r.randrange(len(value) + 1), r.randrange(len(value) + 1)))
            text = r.choice(
                [
                    "*",
                    value[:i] + "*",
                    "*" + value[i:],
                    value[:i] + "*" + value[j:],
                    "*" + value[i:j] + "*",
                    value[:1] + "*" + value[-1:] + "*",
                    "**" + value[i:],
                ]
            )
            return text.swapcase() if kind == "iwildcard" and r.random() < 0.4 else text
        return r.choice(
            [
                ".*",
                value,
                value[:2],
                "^" + value,
                value + "$",
                f"[{value[0]}-z]+",
                "(?i)" + value,
                "a|b",
                r"\d+",
                r"^\w+$",
                "web0[12]",
                "b{1,2}",
                "(?!web).*",
                "^$",
                ".",
                r"\.",
                "[^a]",
            ]
        )

    def legacy(self, m):
        r = self.r
        tags = {}
        for key in r.sample(m.keys, r.randrange(1, len(m.keys) + 1)):
            f = self.filter(m)
            values = m.values(key) or ["a"]
            f["filter"] = self.expression(f["type"], values)
            tags[key] = r.choice(
                [
                    "*",
                    r.choice(values),
                    "|".join(values[:2]),
                    f"{f['type']}({f['filter']})",
                    r.choice(values)[:1] + "*",
                ]
            )
        return tags

    def sub(self, m=None):
        r = self.r
        m = m or r.choice(self.metrics)
        q = {"aggregator": r.choice(AGGREGATORS)}
        if r.random() < 0.1:
            series = r.sample(sorted(m.points), min(len(m.points), r.choice([1, 1, 2, 3])))
            q["tsuids"] = [data.tsuid(self.metrics, m, s) for s in series]
        else:
            q["metric"] = m.name
        if r.random() < 0.5:
            q["downsample"] = self.downsample()
        if r.random() < 0.3:
            q["rate"] = True
            if r.random() < 0.6:
                q["rateOptions"] = self.rate_options()
        if r.random() < 0.25:
            q["tags"] = self.legacy(m)
        elif r.random() < 0.55:
            q["filters"] = [self.filter(m) for _ in range(r.choice([1, 1, 1, 2, 2, 3]))]
        if r.random() < 0.12:
            q["explicitTags"] = True
        if r.random() < 0.03:
            q["rollupUsage"] = r.choice(["ROLLUP_RAW", "ROLLUP_FALLBACK", "x"])
        if r.random() < 0.03:
            q["preAggregate"] = False
        return q

    def query(self):
        r = self.r
        m = r.choice(self.metrics)
        start, end = self.span(m)
        subs = [self.sub(m if r.random() < 0.7 else None) for _ in range(r.choice([1, 1, 1, 1, 2, 2, 3]))]
        for q in subs:
            if "downsample" in q:
                q["downsample"] = affordable(q["downsample"], end - start + 7200000)
        if r.random() < 0.3:
            return self.uri(start, end, subs)
        body = {"start": self.time(start), "end": self.time(end), "queries": subs}
        if r.random() < 0.3:
            body["msResolution"] = True
        if r.random() < 0.2:
            body["timezone"] = r.choice(ZONES)
        if r.random() < 0.12:
            body["useCalendar"] = True
        for flag in ("showTSUIDs", "showQuery", "noAnnotations", "globalAnnotations", "padding"):
            if r.random() < 0.08:
                body[flag] = True
        return {"method": "POST", "path": "/api/query" + ("?arrays" if r.random() < 0.1 else ""), "body": body}

    def uri(self, start, end, subs, endpoint="/api/query", more=()):
        r = self.r
        params = [f"start={quoted(str(self.time(start)))}", f"end={quoted(str(self.time(end)))}", *more]
        for q in subs:
            params.append(("tsuid=" if "tsuids" in q else "m=") + quoted(self.spec(q)))
        for flag in ("ms", "arrays", "show_tsuids", "show_query", "no_annotations", "global_annotations"):
            if r.random() < 0.15:
                params.append(flag)
        return {"method": "GET", "path": endpoint + "?" + "&".join(params)}

    def spec(self, q):
        """A sub-query in the form of the parameter m=."""
        r, options = self.r, []
        if q.get("rate"):
            o = q.get("rateOptions")
            options.append(
                "rate"
                + (
                    ""
                    if o is None
                    else (
                        "{dropcounter}"
                        if o.get("dropResets")
                        else "{counter," + str(o.get("counterMax", "")) + "," + str(o.get("resetValue", "0")) + "}"
                    )
                )
            )
        if q.get("downsample"):
            options.append(q["downsample"])
        if q.get("explicitTags") and "tsuids" not in q:
            options.append("explicit_tags")
        r.shuffle(options)
        if "tsuids" in q:
            return ":".join([q["aggregator"], *options, ",".join(q["tsuids"])])
        grouping = [f"{k}={v}" for k, v in q.get("tags", {}).items()] + [
            f"{f['tagk']}={f['type']}({f['filter']})" for f in q.get("filters", []) if f["groupBy"]
        ]
        plain = [f"{f['tagk']}={f['type']}({f['filter']})" for f in q.get("filters", []) if not f["groupBy"]]
        braces = ("{" + ",".join(grouping) + "}" if grouping or plain else "") + (
            "{" + ",".join(plain) + "}" if plain else ""
        )
        return ":".join([q["aggregator"], *options, q["metric"] + braces])


def last_requests(r, metrics, count):
    """Requests to /api/query/last for recent data; metrics as from data.metric with times near now."""
    for _ in range(count):
        m = r.choice(metrics)
        tags = dict(r.choice(sorted(m.points)))
        scan = r.choice([0, 1, 2, 24, 48])
        subs = [
            r.choice(
                [
                    {"metric": m.name, "tags": tags},
                    {"tsuids": [data.tsuid(metrics, m, tuple(sorted(tags.items())))]},
                    {"metric": m.name},
                ]
            )
            for _ in range(r.choice([1, 1, 2]))
        ]
        if r.random() < 0.5:
            yield {
                "method": "POST",
                "path": "/api/query/last",
                "body": {"queries": subs, "resolveNames": r.random() < 0.5, "backScan": scan},
            }
        else:
            params = [
                (
                    f"timeseries={quoted(s['metric'])}"
                    + quoted("{" + ",".join(f"{k}={v}" for k, v in s.get("tags", {}).items()) + "}")
                    if "metric" in s
                    else "tsuids=" + ",".join(s["tsuids"])
                )
                for s in subs
            ]
            yield {
                "method": "GET",
                "path": "/api/query/last?"
                + "&".join(
                    params + ([f"back_scan={scan}"] if scan else []) + (["resolve"] if r.random() < 0.5 else [])
                ),
            }
