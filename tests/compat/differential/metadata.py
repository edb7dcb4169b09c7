"""Random requests about names and what is noted of them: suggest, uid/assign and rename, uidmeta, tsmeta, annotations,
search and lookup, and the small endpoints beside them."""

import re

import data
from mutate import ODD_TEXTS, joined, quoted

TEXTS = ["", "x", "up", "é", 'a "b"', "0", "null"]
FLAGS = [("jsonp", "f"), ("jsonp", ""), ("serializer", "json"), ("serializer", "x"), ("method_override", "x")]
OTHERS = [
    "/api/aggregators",
    "/aggregators",
    "/api/version",
    "/version",
    "/version?json",
    "/api/config",
    "/api/config/filters",
    "/api/dropcaches",
    "/api/stats",
    "/api/stats/jvm",
    "/api/stats/query",
    "/api/stats/threads",
    "/api/stats/region_clients",
    "/api/stats/nosuch",
    "/stats",
    "/stats?json",
    "/api/serializers",
    "/api/nosuch",
    "/api",
    "/",
    "/nosuch",
    "/nosuch?json",
]


def said(**members):
    """The members that are not None."""
    return {k: v for k, v in members.items() if v is not None}


class Names:
    """Requests over the names and series of a data set (data.Metric). `tracked`: lookups are compared, so the meta table
    and the index that Hourglass looks up in must hold the same series: none is made or deleted beside its points."""

    def __init__(self, r, metrics, tracked):
        self.r, self.metrics, self.tracked = r, metrics, tracked
        self.tagks = sorted({k for m in metrics for tags in m.points for k, _ in tags})
        self.tagvs = sorted({v for m in metrics for tags in m.points for _, v in tags})
        self.made = 0

    def sometimes(self, share, value):
        return value if self.r.random() < share else None

    def name(self, kind):
        known = {"metric": [m.name for m in self.metrics], "tagk": self.tagks, "tagv": self.tagvs}[kind]
        return self.r.choice(known) if self.r.random() < 0.85 else self.r.choice([*ODD_TEXTS, "nosuch", "a b"])

    def fresh(self):
        self.made += 1
        return self.r.choice(["new{}", "n.{}", "Ünew{}", "a b{}", "x/{}", "n-{}_"]).format(self.made)

    def tsuid(self):
        r, m = self.r, self.r.choice(self.metrics)
        known = data.tsuid(self.metrics, m, r.choice(sorted(m.points)))
        if r.random() < 0.85:
            return known
        return r.choice([known.lower(), known[:12], known[:-6] + "0000EE", known[:6], "xyz", "", "0000"])

    def uid(self):
        return self.r.choice(["000001", "000002", "000003", "000001", "2", "0000EE", "zz", "", "00000001", "000001 "])

    def expression(self):
        r, m = self.r, self.r.choice(self.metrics)
        tags = dict(r.choice(sorted(m.points)))
        keys = r.sample(sorted(tags), r.randrange(len(tags) + 1))
        pairs = [f"{k}={r.choice([tags[k], tags[k], tags[k], '*', '', 'nosuch', self.name('tagv')])}" for k in keys]
        pairs += [r.choice(["*=" + self.name("tagv"), "=" + self.name("tagv"), "nosuch=a", "host"])] * (r.random() < 0.1)
        braces = "{" + ",".join(pairs) + "}" if pairs or r.random() < 0.2 else ""
        return r.choice([m.name, m.name, m.name, "", self.name("metric")]) + braces

    # One method for each endpoint.

    def suggest(self):
        r, kind = self.r, self.r.choice(["metrics", "tagk", "tagv", "metrics", "x"])
        name = self.name(kind.rstrip("s") if kind != "x" else "tagk")
        q = r.choice([None, "", name, name[:1], name[:2], name.swapcase()])
        top = r.choice([None, None, 1, 2, 0, -1, "3", "x", ""])
        if r.random() < 0.3:
            return post("/api/suggest", said(type=kind, q=q, max=top))
        params = said(type=kind, q=q, max=top)
        path = r.choice(["/api/suggest", "/api/suggest", "/suggest"])
        return get(path, params)

    def assign(self):
        r = self.r
        names = {
            kind: [self.name(kind) if r.random() < 0.5 else self.fresh() for _ in range(r.choice([1, 1, 2]))]
            for kind in r.sample(["metric", "tagk", "tagv"], r.choice([1, 1, 2]))
        }
        if r.random() < 0.05:
            names["foo"] = ["x"]
        if r.random() < 0.6:
            return post("/api/uid/assign", names)
        return get("/api/uid/assign", {k: ",".join(v) for k, v in names.items()})

    def rename(self):
        kind = self.r.choice(["metric", "tagk", "tagv"])
        body = said(name=self.sometimes(0.93, self.r.choice([self.fresh(), self.name(kind)])))
        # Only names that the data does not use are renamed, because the caches of the two sides are not compared here.
        body[kind] = self.r.choice([f"new{self.r.randrange(1, 9)}", "nosuch", ""])
        return self.either("/api/uid/rename", body)

    def uidmeta(self):
        r = self.r
        body = said(
            uid=self.sometimes(0.95, self.uid()),
            type=self.sometimes(0.95, r.choice(["metric", "tagk", "tagv", "METRIC", "metrics", "x"])),
            displayName=self.sometimes(0.3, r.choice(TEXTS)),
            description=self.sometimes(0.3, r.choice(TEXTS)),
            notes=self.sometimes(0.2, r.choice(TEXTS)),
            created=self.sometimes(0.1, r.choice([0, 1700000000, "5", -1])),
            custom=self.sometimes(0.15, r.choice([{"a": "b"}, {}, {"owner": "ops", "z": ""}])),
        )
        return self.object("/api/uid/uidmeta", body, {"displayName": "display_name"})

    def tsmeta(self):
        r = self.r
        body = said(
            tsuid=self.sometimes(0.8, self.tsuid()),
            displayName=self.sometimes(0.3, r.choice(TEXTS)),
            description=self.sometimes(0.3, r.choice(TEXTS)),
            notes=self.sometimes(0.2, r.choice(TEXTS)),
            units=self.sometimes(0.2, r.choice(["ms", "%", ""])),
            dataType=self.sometimes(0.2, r.choice(["gauge", "counter"])),
            retention=self.sometimes(0.2, r.choice([0, 30, "7", -1])),
            max=self.sometimes(0.2, r.choice([100, 1.5, "NaN", 0])),
            min=self.sometimes(0.2, r.choice([-1, 0.25, "NaN"])),
            custom=self.sometimes(0.1, r.choice([{"a": "b"}, {}])),
        )
        names = {"displayName": "display_name", "dataType": "data_type"}
        request = self.object("/api/uid/tsmeta", body, names)
        if self.tracked and re.search("delete", str(request), re.IGNORECASE):
            return request | {"method": "GET", "path": request["path"].replace("method_override=delete", "")}
        if r.random() < 0.25:
            more = [("m", quoted(self.expression()))]
            if r.random() < 0.6 and not self.tracked:
                more.append(("create", "true"))
            return with_params(request, more)
        return request

    def annotation(self):
        r = self.r
        body = self.note()
        names = {"startTime": "start_time", "endTime": "end_time"}
        return self.object(r.choice(["/api/annotation", "/api/annotation", "/api/annotations"]), body, names)

    def note(self):
        r = self.r
        start = 1700000000 + r.choice([0, 60, 3600, 100, 7200]) + r.randrange(3)
        return said(
            startTime=self.sometimes(0.95, r.choice([start, start, start * 1000, start * 1000 + 500, str(start), 0, "x"])),
            endTime=self.sometimes(0.3, r.choice([start + 50, start - 5, 0, (start + 9) * 1000])),
            tsuid=self.sometimes(0.5, self.known_tsuid()),
            description=self.sometimes(0.8, r.choice(TEXTS)),
            notes=self.sometimes(0.2, r.choice(TEXTS)),
            custom=self.sometimes(0.15, r.choice([{"owner": "ops"}, {}])),
        )

    def known_tsuid(self):
        m = self.r.choice(self.metrics)
        return data.tsuid(self.metrics, m, self.r.choice(sorted(m.points)))

    def bulk(self):
        r, path = self.r, self.r.choice(["/api/annotation/bulk", "/api/annotations/bulk"])
        if r.random() < 0.6:
            return {"method": r.choice(["POST", "POST", "PUT"]), "path": path, "body": [self.note() for _ in range(r.randrange(4))]}
        start = 1700000000 + r.choice([0, 3600, -3600])
        body = said(
            startTime=self.sometimes(0.93, start),
            endTime=self.sometimes(0.8, start + r.choice([0, 100, 3700, -5])),
            tsuids=self.sometimes(0.6, [self.known_tsuid() for _ in range(r.choice([1, 2]))]),
        )
        body["global"] = r.random() < 0.5
        if r.random() < 0.6:
            return {"method": "DELETE", "path": path, "body": body}
        params = said(start_time=body.get("startTime"), end_time=body.get("endTime"))
        if "tsuids" in body:
            params["tsuids"] = ",".join(body["tsuids"])
        params |= {"global": "true"} if body["global"] else {}
        return {"method": "DELETE", "path": get(path, params)["path"]}

    def globals(self):
        start = 1700000000 + self.r.choice([0, 3600, -3600, 1])
        return get(
            "/api/annotations",
            said(start_time=self.sometimes(0.95, start), end_time=self.sometimes(0.8, start + self.r.choice([0, 99, 4000, -9]))),
        )

    def lookup(self):
        r = self.r
        limit = r.choice([None, None, 1, 2, 0, -1, "x", 100])
        if r.random() < 0.5:
            return get("/api/search/lookup", said(m=self.sometimes(0.97, self.expression()), limit=limit, use_meta=self.sometimes(0.1, "true")))
        tags = [
            said(key=self.sometimes(0.9, r.choice([self.name("tagk"), "*"])), value=self.sometimes(0.9, r.choice([self.name("tagv"), "*"])))
            for _ in range(r.choice([0, 1, 1, 2]))
        ]
        body = said(metric=self.sometimes(0.8, r.choice([self.name("metric"), "*"])), tags=self.sometimes(0.8, tags), limit=limit, startIndex=self.sometimes(0.1, 3))
        return post("/api/search/lookup", body)

    def search(self):
        r = self.r
        path = "/api/search/" + r.choice(["tsmeta", "tsmeta_summary", "tsuids", "uidmeta", "annotation", "x", "", "TSMETA"])
        body = said(query=self.sometimes(0.8, r.choice(["*", "a", ""])), limit=self.sometimes(0.3, r.choice([5, "x", -1])), start_index=self.sometimes(0.2, r.choice([0, "x"])))
        return self.either(path, body)

    def other(self):
        request = get(self.r.choice(OTHERS), {})
        return request | {"method": "POST"} if self.r.random() < 0.08 else request

    # Helpers that several endpoints share.

    def either(self, path, body):
        """A POST request with the body, or a GET request with its members as parameters."""
        return post(path, body) if self.r.random() < 0.5 else get(path, body)

    def object(self, path, body, names):
        """A request with any verb: with the body, or with its members under `names` in the query string, perhaps by method_override."""
        r, choice = self.r, self.r.random()
        verb = r.choice(["GET", "GET", "POST", "POST", "PUT", "DELETE", "PATCH" if r.random() < 0.1 else "POST"])
        if verb in ("POST", "PUT", "PATCH") and choice < 0.75 or verb == "DELETE" and choice < 0.3:
            return {"method": verb, "path": path, "body": body}
        params = {names.get(k, k): v for k, v in body.items() if not isinstance(v, dict)}
        request = get(path, params)
        if verb in ("GET", "DELETE") and r.random() < 0.8:
            return request | {"method": verb}
        return with_params(request, [("method_override", verb.lower())])

    def request(self):
        r = self.r
        make = r.choice(
            [self.suggest] * 4 + [self.assign, self.rename] * 2 + [self.uidmeta, self.tsmeta] * 5
            + [self.annotation] * 5 + [self.bulk, self.globals] * 2 + [self.lookup] * 6 + [self.search, self.other] * 2
        )
        request = make()
        return with_params(request, [r.choice(FLAGS)]) if r.random() < 0.04 else request


def post(path, body):
    return {"method": "POST", "path": path, "body": body}


def get(path, params):
    return {"method": "GET", "path": joined(path, [(k, quoted(str(v))) for k, v in params.items()])}


def with_params(request, params):
    path = request["path"]
    return request | {"path": path + ("&" if "?" in path else "?") + "&".join(f"{k}={v}" for k, v in params)}
