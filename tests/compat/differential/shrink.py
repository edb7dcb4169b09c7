"""The smallest request, and the fewest points, that still differ."""

import copy
import itertools
import json

import judge
import sides
from mutate import joined, places, split

TRIES = 150


def kind(why):
    """The kind of the difference: a smaller request must show the same kind."""
    return why.split(":")[0] if why.startswith(("status", "text", "content-type")) else "value"


def smaller_requests(request):
    """The request with one thing removed in each; the largest removals come first."""
    if "telnet" in request:
        for i in range(len(request["telnet"])):
            if len(request["telnet"]) > 1:
                yield {**request, "telnet": request["telnet"][:i] + request["telnet"][i + 1 :]}
            words = request["telnet"][i].split(" ")
            for j in range(1, len(words)):
                yield {
                    **request,
                    "telnet": request["telnet"][:i]
                    + [" ".join(words[:j] + words[j + 1 :])]
                    + request["telnet"][i + 1 :],
                }
        return
    path, params = split(request["path"])
    for i in range(len(params)):
        yield {**request, "path": joined(path, params[:i] + params[i + 1 :])}
    if isinstance(request.get("body"), (dict, list)):
        for place in sorted(places(request["body"]), key=len):
            if place:
                body = copy.deepcopy(request["body"])
                parent = body
                for step in place[:-1]:
                    parent = parent[step]
                value = parent[place[-1]]
                del parent[place[-1]]
                yield {**request, "body": body}
                if isinstance(value, str) and "|" in value:
                    again = copy.deepcopy(request["body"])
                    parent = again
                    for step in place[:-1]:
                        parent = parent[step]
                    parent[place[-1]] = value.split("|")[0]
                    yield {**request, "body": again}


def shrunk(request, why, theirs, ours, tracking):
    """Asks both sides to find (request, reason) from which nothing more can be removed."""
    tries, wanted, changed = 0, kind(why), True
    while changed and tries < TRIES:
        changed = False
        for smaller in smaller_requests(request):
            tries += 1
            ((a, b),) = sides.both(theirs, ours, [smaller])
            found = judge.differ(smaller, a, b, tracking)
            if found and kind(found) == wanted:
                request, why, changed = smaller, found, True
                break
            if tries >= TRIES:
                break
    return request, why


def renamed(value, names):
    text = json.dumps(value)
    for old, new in names.items():
        text = text.replace(json.dumps(old)[1:-1], new)
    return json.loads(text)


class Data:
    """The points of the metrics that a request names, written again in smaller and smaller sets under new names."""

    serial = itertools.count()

    def __init__(self, puts, theirs, ours, tracking):
        self.sides, self.tracking = (theirs, ours), tracking
        self.points = [p for body in puts for p in (body if isinstance(body, list) else [body])]

    def differs(self, points, request):
        """Returns (reason or None, the request and the points under their new names)."""
        names = {
            m: f"s{next(Data.serial)}.{m.replace('.', '_')}"
            for m in {p["metric"] for p in self.points}
            if m in json.dumps(request)
        }
        wanted = [p for p in points if p["metric"] in names]
        moved = renamed(request, names)
        writes = [{"method": "POST", "path": "/api/uid/assign", "body": {"metric": [n]}} for n in names.values()]
        writes += [
            {"method": "POST", "path": "/api/put?sync", "body": {**p, "metric": names[p["metric"]]}} for p in wanted
        ]
        a, b = sides.both(*self.sides, [*writes, {"wait": 0.3}, moved])[-1]
        return judge.differ(moved, a, b, self.tracking)

    def smallest(self, request, why):
        """The remaining points, or None if the difference needs more than these points."""
        points, wanted = [p for p in self.points if p["metric"] in json.dumps(request)], kind(why)
        if "tsuids" in json.dumps(request) or "tsuid=" in json.dumps(request) or not points:
            return None
        still = lambda some: (found := self.differs(some, request)) and kind(found) == wanted
        if not still(points):
            return None
        size, tries = max(1, len(points) // 2), 0
        while size >= 1 and tries < 60:
            at = 0
            while at < len(points) and tries < 60:
                tries += 1
                fewer = points[:at] + points[at + size :]
                if fewer and still(fewer):
                    points = fewer
                else:
                    at += size
            size //= 2
        return points
