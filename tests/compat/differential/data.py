"""Random data sets: a few metrics, each with some series and points, chosen so that edges are near: hour and day
borders, clock changes, equal and crossing times, integers beside floating point, counters that restart."""

import random

NAMES = [
    "web01",
    "web02",
    "Web01",
    "WEB02",
    "db-1",
    "a",
    "b",
    "ab",
    "aab",
    "abab",
    "x/y",
    "10",
    "1",
    "lga.web01",
    "lga",
    "fra",
    "_z",
]
KEYS = ["host", "dc", "app", "core"]
# Start times: an ordinary hour, a leap day, New Year, both changes of daylight saving time in the USA in 2017 and in
# Europe in 2021, and the first times of the epoch that OpenTSDB reads as seconds.
ORIGINS = [
    1500000000,
    1499997600,
    1456704000 + 80000,
    1483228800,
    1489305600,
    1509865200,
    1616893200,
    1635642000,
    3600,
    1700006400,
]
STEPS_S = [1, 1, 5, 10, 10, 10, 15, 30, 60, 60, 300, 600, 1800, 3600, 7200, 21600, 86400, 2 * 86400, 8 * 86400]


class Metric:
    """points: {tags as a sorted tuple of pairs: {timestamp as it is sent: value}}"""

    def __init__(self, name, points, keys):
        self.name, self.points, self.keys = name, points, keys

    def times_ms(self):
        return sorted({milliseconds(t) for series in self.points.values() for t in series})

    def values(self, key):
        return sorted({v for tags in self.points for k, v in tags if k == key})


def milliseconds(timestamp):
    return timestamp if timestamp >= 1 << 32 else timestamp * 1000


def metric(r, name, duplicates=False):
    keys = r.sample(KEYS, r.choice([1, 1, 2, 2, 3]))
    pools = {k: r.sample(NAMES, r.choice([1, 2, 3, 5])) for k in keys}
    tag_sets = set()
    for _ in range(r.choice([1, 2, 3, 4, 6, 9])):
        some = keys if r.random() < 0.75 else r.sample(keys, r.randrange(1, len(keys) + 1))
        tag_sets.add(tuple(sorted((k, r.choice(pools[k])) for k in some)))
    origin, step, kind = r.choice(ORIGINS) + r.choice([0, 0, 1, -1, 1799, 3590]), r.choice(STEPS_S), r.choice(KINDS)
    milli = r.choice([None, None, None, 1000, 250, 333, 1])
    points = {}
    for tags in sorted(tag_sets):
        own = r.choice(KINDS) if r.random() < 0.2 else kind
        points[tags] = series(r, max(origin, 1), step, milli, own)
    return Metric(name, points, keys)


def series(r, origin, step, milli, kind):
    count = r.choice([1, 2, 3, 5, 8, 13, 20])
    style = r.choice(["regular", "regular", "jitter", "gaps", "shifted"])
    at, points = origin + (r.choice([0, 1, step // 2, step, 3 * step]) if style == "shifted" else 0), {}
    for value in values(r, kind, count):
        if milli:
            t = at * 1000 + (r.randrange(1000) if milli == 1 else r.choice([0, milli % 1000, 999]))
        else:
            t = at
        points[t if t >= 1 << 32 or not milli else at] = value
        at += step * (r.choice([1, 1, 2, 5]) if style == "gaps" else 1) + (
            r.randrange(-(step // 3), step // 3 + 1) if style == "jitter" and step > 2 else 0
        )
    return points


KINDS = [
    "small",
    "small",
    "int",
    "huge",
    "float",
    "float",
    "double",
    "counter",
    "counter",
    "mixed",
    "mixed",
    "zero",
    "decimal",
    "tiny",
    "wide",
]


def values(r, kind, count):
    if kind == "counter":
        out, value, top = [], r.choice([0, 100, 65000]), r.choice([65535, 2**32 - 1, 2**63 - 1])
        for _ in range(count):
            value = (
                r.choice([0, 5]) if r.random() < 0.12 else min(value + r.randrange(0, max(2, top // 50)), 2**63 - 1)
            )
            out.append(value)
        return out
    one = {
        "small": lambda: r.randrange(-20, 100),
        "int": lambda: r.choice([r.randrange(-300, 300), r.randrange(-70000, 70000), r.randrange(-(2**33), 2**33)]),
        "huge": lambda: r.choice(
            [2**63 - 1, -(2**63), 2**62, 2**53 + 1, -(2**53) - 1, 2**31, r.randrange(-(2**63), 2**63)]
        ),
        "float": lambda: r.randrange(-400, 400) / 8,
        "double": lambda: r.uniform(-1000, 1000),
        "mixed": lambda: r.choice([r.randrange(-9, 50), r.randrange(-99, 99) / 4, r.uniform(0, 10)]),
        "zero": lambda: r.choice([0, 0, 0.0, -0.0, 1]),
        "decimal": lambda: round(r.uniform(-50, 50), r.choice([1, 2, 3])),
        "tiny": lambda: r.choice([1e-3, 9.99e-4, 1.5e-300, 4.9e-324, 1e7, 9999999.0, 1e22, 0.1, 1e-10]),
        "wide": lambda: r.choice([1.7976931348623157e308, -1.7976931348623157e308, 3.4e38, 1e200, 1, 2.5]),
    }[kind]
    return [one() for _ in range(count)]


def puts(metrics, r):
    """Request bodies that write the metrics: integers, floats and their texts, with the series in random order."""
    bodies = []
    for m in metrics:
        points = [
            {"metric": m.name, "timestamp": t, "value": spelled(r, v), "tags": dict(tags)}
            for tags, series in m.points.items()
            for t, v in series.items()
        ]
        bodies += [points[i : i + 50] for i in range(0, len(points), 50)]
    return bodies


def spelled(r, value):
    choice = r.random()
    if choice < 0.7 or isinstance(value, int) and choice < 0.85:
        return value
    return repr(value) if choice < 0.95 or isinstance(value, int) or "e" in repr(value) else repr(value) + "0"


def ids(metrics):
    """Assigns the ids one by one, so that both sides have the same ids; they are not in alphabetical order."""
    names = {"metric": [m.name for m in metrics], "tagk": [], "tagv": []}
    for m in metrics:
        for tags in m.points:
            for k, v in tags:
                names["tagk"].append(k)
                names["tagv"].append(v)
    return [
        {"method": "POST", "path": "/api/uid/assign", "body": {kind: [name]}}
        for kind in names
        for name in dict.fromkeys(names[kind])
    ]


def tsuid(metrics, m, tags):
    """The series' TSUID after ids(), with three bytes per id; if the session uses other widths, it is an invalid TSUID."""
    keys, values = {}, {}
    for other in metrics:
        for pairs in other.points:
            for k, v in pairs:
                keys.setdefault(k, len(keys) + 1)
                values.setdefault(v, len(values) + 1)
    number = [o.name for o in metrics].index(m.name) + 1
    return f"{number:06X}" + "".join(f"{k:06X}{v:06X}" for k, v in sorted((keys[k], values[v]) for k, v in tags))


def generator(*seed):
    return random.Random("/".join(map(str, seed)))
