"""Random requests about trees: definitions, rules, branches, tests, collisions."""

import data
from metadata import get, post, said, with_params

# OpenTSDB skips the first series that it meets while it reads the definitions (../KNOWN.md), so no rule of a tree that
# sorts series may match this one.
FIRST = "zz"
SORTING = 2  # trees that sort the written series; the others are only changed and tested


def java_hash(text):
    h = 0
    for unit in text.encode("utf-16-be")[1::2] if text.isascii() else map(ord, text):
        h = (31 * h + unit) & 0xFFFFFFFF
    return h


class Trees:
    def __init__(self, r, metrics):
        self.r, self.metrics = r, metrics
        self.keys = sorted({k for m in metrics for tags in m.points for k, _ in tags})
        self.values = sorted({v for m in metrics for tags in m.points for _, v in tags})

    def rule(self, tree, level, order, sorting=False):
        r = self.r
        kind = r.choice(["METRIC", "METRIC", "TAGK", "TAGK", "TAGK"] + ([] if sorting else ["METRIC_CUSTOM", "TAGK_CUSTOM", "TAGV_CUSTOM", "METRIC"]))
        rule = {"treeId": tree, "level": level, "order": order, "type": kind}
        if kind == "METRIC":
            if sorting:
                rule["regex"] = r.choice([r"^(t\.\w).*", r"t\.(\w)(\d)", r"^t\.(.*)$"])
            elif r.random() < 0.8:
                rule |= {"separator": r.choice(["\\.", ".", "m", ""])} if r.random() < 0.6 else {"regex": r.choice(["(.)", "m(\\d)", "x"])}
            rule |= {"regexGroupIdx": r.choice([0, 1])} if "regex" in rule and r.random() < 0.3 else {}
        else:
            rule["field"] = r.choice(self.keys)
            if kind.endswith("CUSTOM"):
                rule["customField"] = r.choice(["owner", "dc", ""])
            choice = r.random()
            if choice < 0.25:
                rule["regex"] = r.choice([r"^(\w+?)\d*$", r"(\w)(.)", r"b(.*)", "(", "x+"][: 3 if sorting else 5])
            elif choice < 0.4:
                rule["separator"] = r.choice([r"\.", "-", "b"])
        if r.random() < 0.2:
            rule["displayFormat"] = r.choice(["{ovalue}", "{value}-x", "{tag_name}: {value}", "{tsuid}", "plain"])
        if r.random() < 0.1:
            rule["notes"] = r.choice(["n", "é"])
        return rule

    def rules(self, tree, sorting=False):
        r, out = self.r, []
        for level in range(r.choice([1, 2, 2, 3])):
            out += [self.rule(tree, level, order, sorting) for order in range(r.choice([1, 1, 2]))]
        return out

    def setup(self):
        """Creates both kinds of trees, then the series, one by one, so that both sides sort them in the same order."""
        r, out = self.r, []
        for tree in range(1, 6):
            sorts = tree <= SORTING
            flags = {"strictMatch": r.random() < 0.3, "storeFailures": r.random() < 0.6}
            out.append(post("/api/tree", {"name": f"Tree {tree}", **flags}))
            if sorts or r.random() < 0.7:
                rules = self.rules(tree, sorts)
                out += [post("/api/tree/rule", rule) for rule in rules]
            if sorts:
                out.append(post("/api/tree", {"treeId": tree, "enabled": True}))
        point = {"timestamp": 1700000000, "value": 1}
        out += [post("/api/put?sync", {"metric": FIRST, **point, "tags": {FIRST: FIRST}}), {"wait": 2.5}]
        for m in self.metrics:
            for tags in m.points:
                out += [post("/api/put?sync", {"metric": m.name, **point, "tags": dict(tags)}), {"wait": 0.35}]
        return out + [{"wait": 2.0}]

    # The requests.

    def tree(self):
        return self.r.choice([1, 2, 3, 3, 4, 4, 5, 5, 9, 0, 70000, "x", ""])

    def changeable(self):
        """A tree that, mostly, no series is sorted into."""
        return self.r.choice([3, 3, 4, 4, 5, 5, 5, 9, 0])

    def tsuid(self):
        r, m = self.r, self.r.choice(self.metrics)
        known = data.tsuid(self.metrics, m, r.choice(sorted(m.points)))
        return known if r.random() < 0.9 else r.choice([known[:-6] + "0000EE", known.lower(), "xyz", known[:12]])

    def definition(self):
        r = self.r
        body = said(
            treeId=self.some(0.7, self.changeable()),
            name=self.some(0.5, r.choice(["A", "B c", "", "é"])),
            description=self.some(0.4, r.choice(["d", ""])),
            notes=self.some(0.3, "n"),
            strictMatch=self.some(0.3, r.random() < 0.5),
            storeFailures=self.some(0.2, r.random() < 0.5),
        )
        names = {"treeId": "treeid", "strictMatch": "strict_match", "storeFailures": "store_failures"}
        choice = r.random()
        if choice < 0.55:
            return {"method": r.choice(["POST", "POST", "PUT"]), "path": "/api/tree", "body": body}
        params = {names.get(k, k): str(v).lower() if isinstance(v, bool) else v for k, v in body.items()}
        if choice < 0.9:
            return with_params(get("/api/tree", params), [("method_override", r.choice(["post", "post", "put", "x"]))])
        definition = {"definition": "true"} if r.random() < 0.3 else {}
        return get("/api/tree", {"treeid": self.changeable(), **definition}) | {"method": "DELETE"}

    def some(self, share, value):
        return value if self.r.random() < share else None

    def one_rule(self):
        r = self.r
        rule = self.rule(self.changeable(), r.randrange(4), r.randrange(2))
        for key in [k for k in rule if r.random() < 0.12]:
            del rule[key]
        choice = r.random()
        if choice < 0.55:
            return {"method": r.choice(["POST", "POST", "PUT"]), "path": "/api/tree/rule", "body": rule}
        names = {"treeId": "treeid", "customField": "custom_field", "regexGroupIdx": "regex_group_idx", "displayFormat": "display_format"}
        params = {names.get(k, k): v for k, v in rule.items()}
        if choice < 0.7:
            return with_params(get("/api/tree/rule", params), [("method_override", r.choice(["post", "put", "delete", "x"]))])
        place = {k: params[k] for k in ("treeid", "level", "order") if k in params}
        return get("/api/tree/rule", place) | {"method": r.choice(["GET", "GET", "DELETE"])}

    def many_rules(self):
        r = self.r
        if r.random() < 0.25:
            return get("/api/tree/rules", {"treeid": self.changeable()}) | {"method": r.choice(["DELETE", "DELETE", "GET"])}
        rules = self.rules(self.changeable())
        if r.random() < 0.1:
            rules[-1]["treeId"] = 3
        return {"method": r.choice(["POST", "PUT"]), "path": "/api/tree/rules", "body": rules if r.random() < 0.95 else []}

    def branch(self):
        r = self.r
        if r.random() < 0.5:
            return get("/api/tree/branch", {"treeid": r.choice([1, 1, 2, 2, self.tree()])})
        names = [m.name for m in self.metrics] + self.values + ["t.m", "m", *map(str, range(9))]
        key = f"{r.choice([1, 1, 2, 2, 3, 9]):04X}" + "".join(f"{java_hash(r.choice(names)):08X}" for _ in range(r.choice([0, 1, 1, 1, 2])))
        return get("/api/tree/branch", {"branch": key if r.random() < 0.93 else r.choice([key[:-1], key.lower(), "00", "zz"])})

    def series(self, part):
        r = self.r
        tsuids = [self.tsuid() for _ in range(r.choice([0, 1, 1, 2, 3] if part != "test" else [1, 1, 2, 3]))]
        tree = r.choice([1, 2, self.tree()])
        if r.random() < 0.7:
            return get(f"/api/tree/{part}", said(treeid=tree, tsuids=",".join(tsuids) if tsuids else None))
        return {"method": r.choice(["POST", "PUT"]), "path": f"/api/tree/{part}", "body": {"treeId": tree, **({"tsuids": tsuids if r.random() < 0.9 else ",".join(tsuids)} if tsuids else {})}}

    def request(self):
        r = self.r
        choice = r.random()
        if choice < 0.15:
            return get("/api/tree", said(treeid=self.some(0.8, self.tree())))
        if choice < 0.3:
            return self.definition()
        if choice < 0.5:
            return self.one_rule()
        if choice < 0.58:
            return self.many_rules()
        if choice < 0.75:
            return self.branch()
        return self.series(r.choice(["test", "test", "test", "collisions", "notmatched"]))
