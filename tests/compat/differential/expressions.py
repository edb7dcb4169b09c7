"""Random requests to /api/query/exp and /api/query/gexp over a data set (data.Metric)."""

from mutate import AGGREGATORS, quoted
from queries import FIXED, Queries, affordable


class Expressions(Queries):
    def exp(self):
        r = self.r
        m = r.choice(self.metrics)
        start, end = self.span(m)
        ids = r.sample(["a", "b", "c", "m1", "xy"], r.choice([1, 2, 2, 3]))
        filters = [
            {
                "id": f"f{i}",
                "tags": [self.filter(m) for _ in range(r.choice([1, 1, 2]))],
                **({"explicitTags": True} if r.random() < 0.1 else {}),
            }
            for i in range(r.choice([0, 1, 1, 2]))
        ]
        metrics = []
        for name in ids:
            entry = {"id": name, "metric": (m if r.random() < 0.6 else r.choice(self.metrics)).name}
            if filters and r.random() < 0.8:
                entry["filter"] = r.choice(filters)["id"]
            if r.random() < 0.2:
                entry["aggregator"] = r.choice([a for a in AGGREGATORS if a != "squareSum"])
            if r.random() < 0.5:
                entry["fillPolicy"] = self.fill()
            metrics.append(entry)
        when = {
            "start": str(self.time(start)),
            "end": str(self.time(end)),
            "aggregator": r.choice([a for a in AGGREGATORS if a != "squareSum"]),
        }
        if r.random() < 0.6:
            when["downsampler"] = {
                "interval": r.choice(FIXED),
                "aggregator": r.choice([a for a in AGGREGATORS if a not in ("none", "squareSum")]),
            }
            if r.random() < 0.3:
                when["downsampler"]["fillPolicy"] = self.fill()
        if r.random() < 0.15:
            when["rate"] = True
        expressions = []
        for i in range(r.choice([0, 1, 1, 1, 2, 3])):
            variables = ids + [e["id"] for e in expressions] * (r.random() < 0.4)
            e = {"id": f"e{i}", "expr": self.formula(variables)}
            if r.random() < 0.6:
                e["join"] = {"operator": r.choice(["union", "intersection"])}
                if r.random() < 0.4:
                    e["join"]["useQueryTags"] = r.random() < 0.6
                if r.random() < 0.4:
                    e["join"]["includeAggTags"] = r.random() < 0.4
            if r.random() < 0.3:
                e["fillPolicy"] = self.fill()
            expressions.append(e)
        body = {"time": when, "metrics": metrics}
        if filters:
            body["filters"] = filters
        if expressions:
            body["expressions"] = expressions
        if r.random() < 0.5:
            known = ids + [e["id"] for e in expressions] + ["zz"]
            body["outputs"] = [
                {"id": i, **({"alias": "Al " + i} if r.random() < 0.5 else {})}
                for i in r.sample(known, r.randrange(1, min(4, len(known))))
            ]
        return {"method": "POST", "path": "/api/query/exp", "body": body}

    def fill(self):
        policy = self.r.choice(["nan", "none", "null", "zero", "scalar"])
        return {"policy": policy, **({"value": self.r.choice([1, -2.5, 42])} if policy == "scalar" else {})}

    def formula(self, variables, depth=0):
        r = self.r
        choice = r.random()
        if depth > 2 or choice < 0.35 and depth:
            return (
                r.choice(variables) if r.random() < 0.75 else r.choice(["2", "1.5", "0", "100", "0.1", "2.5d", "-1"])
            )
        left, right = self.formula(variables, depth + 1), self.formula(variables, depth + 1)
        if choice < 0.85:
            text = f"{left} {r.choice(['+', '-', '*', '/', '+', '-', '*', '/', '%'])} {right}"
            return f"({text})" if depth and r.random() < 0.7 else text
        if choice < 0.93:
            return f"({left} {r.choice(['>', '<', '>=', '<=', '==', '!=', '&&', '||'])} {right})"
        return r.choice(
            [f"-{r.choice(variables)}", f"!{r.choice(variables)}", f"({left} > {right} ? {left} : {right})"]
        )

    # Expressions of /api/query/gexp.

    def gexp(self):
        r = self.r
        m = r.choice(self.metrics)
        start, end = self.span(m)
        self.span_ms = end - start + 7200000
        more = [f"exp={quoted(self.function(m, 0))}" for _ in range(r.choice([1, 1, 1, 2]))]
        return self.uri(start, end, [self.sub(m)] if r.random() < 0.06 else [], "/api/query/gexp", more)

    def function(self, m, depth):
        r = self.r

        def inner():
            if depth < 2 and r.random() < 0.3:
                return self.function(m, depth + 1)
            options = (
                [
                    affordable(
                        f"{r.choice(FIXED)}-{r.choice(['sum', 'avg', 'max', 'count', 'last'])}{r.choice(['', '-nan', '-zero', '-null'])}",
                        self.span_ms,
                    )
                ]
                if r.random() < 0.6
                else []
            ) + (["rate"] if r.random() < 0.15 else [])
            other = m if r.random() < 0.7 else r.choice(self.metrics)
            tags = (
                "{"
                + ",".join(
                    f"{k}={r.choice(['*', r.choice(other.values(k) or ['a'])])}"
                    for k in r.sample(other.keys, r.randrange(1, len(other.keys) + 1))
                )
                + "}"
                if r.random() < 0.6
                else ""
            )
            return (
                ":".join(
                    [r.choice(["sum", "avg", "max", "min", "none", "zimsum", "p95", "dev"]), *options, other.name]
                )
                + tags
            )

        name = r.choice(
            "absolute scale scale alias movingAverage movingAverage highestMax highestCurrent sumSeries sum diffSeries difference multiplySeries multiply divideSeries divide".split()
        )
        if name == "scale":
            return f"scale({inner()},{r.choice(['2', '-1', '0.5', '1.0', '10', '-0.25', '0'])})"
        if name == "alias":
            return f"alias({inner()},{r.choice(['total', 'x-@host', '@dc.@host', 'a b'])})"
        if name == "movingAverage":
            return f"movingAverage({inner()},{r.choice(['1', '2', '3', '5'] + ['%s10sec%s' % (chr(39), chr(39)), chr(39) + '1min' + chr(39), chr(39) + '2hr' + chr(39), chr(39) + '1d' + chr(39)])})"
        if name.startswith("highest"):
            return f"{name}({','.join(inner() for _ in range(r.choice([1, 1, 2])))},{r.choice([1, 1, 2, 3, 10])})"
        if name == "absolute":
            return f"absolute({','.join(inner() for _ in range(r.choice([1, 1, 2])))})"
        return f"{name}({','.join(inner() for _ in range(r.choice([2, 2, 2, 3, 1])))})"
