"""Random writes, good and bad: points, rollups and histograms over HTTP and telnet, and queries that read them."""

from metadata import post

METRICS = ["w.m0", "w.m1", "w.m2"]
ORIGIN = 1700006400
ODD_NAMES = ["a b", "a:b", "", "é", "x/y-z_1.", "a=b", None, 7, True, "a\tb", "ü.x"]
ODD_VALUES = [
    "1.5", "+42", "-7", "007", "1e3", ".5", "5.", "1.5f", "1,5", "abc", "1 2", " 42", "0x10", "NaN", "Infinity", "true",
    "", "null", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e400", "1e-400", "4.2 ", "-0",
    "0x1.8p3", "--1", "1.", "1.1", "3.4e38", 1.5, 4.2, -3, 0, True, None, 1e300, 12345678901, [], {"a": 1}, 2**63,
]  # fmt: skip
ODD_TIMES = [0, -1, "", "x", None, 1.7e9 + 6500.5, "1700006401.5", 99999999999999, 9999999999999, 10**13, True, "+1700006402", "01700006403", "null", [], 4294967296]
FLAGS = ["", "?details", "?summary", "?details&sync", "?summary&sync", "?sync", "?details&sync&sync_timeout=9000", "?summary=false", "?details&summary", "?sync&sync_timeout=x", "?jsonp=f&details", "?details&jsonp="]  # fmt: skip


class Writes:
    """Random writes. Each valid point has a time of its own, because repeated writes are not what is tested here."""

    def __init__(self, r):
        self.r, self.at = r, 0

    def time(self, milli=True):
        self.at += 7
        t = ORIGIN + self.at
        return t * 1000 + 250 if milli and self.r.random() < 0.1 else t

    def tags(self):
        r = self.r
        tags = {k: r.choice(["a", "b", "c"]) for k in r.sample(["host", "dc"], r.choice([1, 1, 2]))}
        if r.random() < 0.08:
            tags[r.choice(["host", "x y", "", "é", "app"])] = r.choice(ODD_NAMES)
        if r.random() < 0.02:
            tags |= {f"k{i}": "v" for i in range(8)}
        return tags if r.random() > 0.04 else r.choice([{}, None, [], "x", {"host": {}}])

    def point(self):
        r = self.r
        point = {"metric": r.choice(METRICS), "timestamp": self.time(), "value": r.choice([r.randrange(-300, 70000), r.randrange(-99, 99) / 8, 0.1]), "tags": self.tags()}
        if r.random() < 0.3:
            key = r.choice(["metric", "timestamp", "value", "value", "value", "timestamp"])
            point[key] = r.choice({"metric": ODD_NAMES, "timestamp": ODD_TIMES, "value": ODD_VALUES}[key])
        if r.random() < 0.05:
            del point[r.choice(sorted(point))]
        if r.random() < 0.05:
            point[r.choice(["tsuid", "foo"])] = r.choice(["x", 1, None, {}])
        return point

    def rollup(self):
        r, point = self.r, self.point()
        if isinstance(point.get("timestamp"), int) and r.random() < 0.9:
            point["timestamp"] = ORIGIN + 3600 * r.randrange(400)
        point |= {"interval": r.choice(["1h", "1h", "1d", "1m", "2h", "", "x"]), "aggregator": r.choice(["sum", "SUM", "count", "max", "avg", "x", ""])}
        if r.random() < 0.25:
            point["groupByAggregator"] = r.choice(["sum", "MAX", "avg", "x", "count", ""])
        for key in ("interval", "aggregator"):
            if r.random() < 0.1:
                del point[key]
        return point

    def histogram(self):
        r, point = self.r, self.point()
        if r.random() < 0.85:
            point.pop("value", None)
            point["buckets"] = r.choice([{"0,1.75": 12, "1.75,3.5": 16}, {"0,1": 0}, {"1,2": "3"}, {}, {"x": 1}, {"0": 1}, {"2,1": 5}, {"0,1": 2**31}])
        else:
            point |= {"id": r.choice([42, 0, 9, "42"]), "value": r.choice(["AAEAAAAAP4AAAAEAAA==", "AAE", "", "!!", "AAEAAAAAP4AAAAEAAAAA"])}
        if r.random() < 0.3:
            point[r.choice(["underflow", "overflow"])] = r.choice([0, 3, "5", -1])
        return point

    def http(self):
        r = self.r
        kind = r.choice(["put"] * 6 + ["rollup"] * 2 + ["histogram"] * 2)
        make = {"put": self.point, "rollup": self.rollup, "histogram": self.histogram}[kind]
        points = [make() for _ in range(r.choice([1, 1, 2, 3, 5]))]
        body = points[0] if len(points) == 1 and r.random() < 0.5 else points
        if r.random() < 0.03:
            body = r.choice([[], [None], {}, [{}], "x", 1, None, [[]], [*points, None]])
        request = post(f"/api/{kind}{r.choice(FLAGS)}", body)
        return request | {"method": r.choice(["PUT", "GET"])} if r.random() < 0.02 else request

    def words(self):
        """The words of a line after its command: metric, time, value, tags."""
        r = self.r
        tags = [f"{k}={r.choice('abc')}" for k in r.sample(["host", "dc"], r.choice([1, 1, 2]))]
        return [r.choice(METRICS), str(self.time()), r.choice(["1", "-7", "2.5", "0.1", "70000", "1e3"]), *tags]

    def line(self):
        r, words = self.r, self.words()
        command = r.choice(["put", "put", "put", "rollup", "histogram"])
        if command == "rollup":
            words[1] = str(ORIGIN + 3600 * r.randrange(400))
            words.insert(0, r.choice(["1h-sum", "1h-SUM:max", "sum", "1d-count", "2h-sum", "1h-avg", "1h-x", "x", "1h", "-sum", "1h-:sum", "avg", "1h-sum:x"]))
        if command == "histogram":
            words[2] = r.choice(["0,1.75=12:1.75,3.5=16:u=1:o=2", "0,1=3", "x", "0,1", "42 AAEAAAAAP4AAAAEAAA==", "9 AAE=", "0,1=x"])
        if r.random() < 0.35:
            i = r.randrange(len(words))
            odd = r.choice(["", "x", "-1", "0", "a:b", "é", "host", "host=", "=a", "a=b=c", "NaN", "1.x", "99999999999999", "1700006400.5", "9223372036854775808", "1e400", "host=zz", "a_b-c/d.e"])
            words = r.choice([words[:i] + words[i + 1 :], words[:i] + [odd] + words[i + 1 :], words[:i] + [odd] + words[i:]])
        return " ".join([command, *words])

    def telnet(self):
        r = self.r
        if r.random() < 0.05:
            return {"telnet": [r.choice(["version", "stats"])]}
        lines = [self.line() for _ in range(r.choice([1, 2, 3]))]
        if r.random() < 0.1:
            lines.append(r.choice(["help", "dropcaches", "nosuch x", "Put x"]))
        return {"telnet": lines}

    def query(self):
        r = self.r
        start = ORIGIN + r.choice([-3600, 0, 60, 3600])
        sub = {"metric": r.choice(METRICS), "aggregator": r.choice(["none", "none", "sum", "count"])}
        if r.random() < 0.3:
            sub["downsample"] = r.choice(["1h-sum", "1d-max", "1m-avg", "2h-count"])
        if r.random() < 0.2:
            sub["percentiles"] = [50, 99]
            sub["aggregator"] = "sum"
            sub.pop("downsample", None)
        return post("/api/query", {"start": start, "end": start + r.choice([600, 7200, 40 * 86400]), "queries": [sub], "msResolution": r.random() < 0.5})

    def request(self):
        return self.r.choice([self.http] * 6 + [self.telnet] * 2 + [self.query] * 2)()
