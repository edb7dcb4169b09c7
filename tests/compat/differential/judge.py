"""What counts as a difference between OpenTSDB's answer and ours: statuses always; JSON by value, integers and other
numbers told apart and without tolerance; of a JSON error only its code (the message may differ); other text byte for
byte. Values that come from the clock or cannot be known are not compared (CLOCKS, FREE)."""

import json
import math
import re
import time
import urllib.parse

from sides import conformance

CLOCKS = {"created", "lastReceived", "time", "stats", "statsSummary", "timing"}
# Lists in the order in which OpenTSDB first meets names: a second answer may have another order.
AS_NAMES_ARRIVE = {"aggregateTags"}
# Endpoints that describe the program, its process and its settings: only the status is compared.
OF_THE_PROGRAM = re.compile(r"/(api/)?(v\d/)?(stats|version|config|logs|q|s|favicon\.ico)([/?].*)?", re.IGNORECASE)


def ordered(request):
    path = request.get("path", "")
    return path.startswith("/api/query") and "/last" not in path


def begins_early(request):
    """Whether the query begins in the first seven weeks of 1970, where OpenTSDB reads milliseconds as seconds."""
    found = re.search(r'start"?[=:] *"?(\d+)(ms|/)?', json.dumps(request))
    if not found or found[2] == "/":
        return bool(found) and found[1] == "1970"
    return int(found[1]) * (1 if found[2] or len(found[1]) > 10 else 1000) < 2**32


def wrapped_now(path):
    """Whether `/api/annotations` is asked without an end: OpenTSDB then keeps 32 bits of the milliseconds, as if they were seconds."""
    given = urllib.parse.parse_qs(path.partition("?")[2])
    return set(given.get("end_time", ["0"])[0]) == {"0"}


def names_not_followed(request, want, got):
    """Whether it is one of the differences in names and annotations that ../KNOWN.md describes."""
    path = request.get("path", "")
    cut_short = want.get("status") == 500 and "TSUID is too short, may be missing tags" in want["body"]
    if got.get("status") == 404 and "/uid/tsmeta" in path.lower():
        return cut_short
    if got.get("status") != 200:
        return False
    if re.match(r"/api/(v\d/)?annotations\?", path) and request.get("method") == "GET":
        return want.get("status") == 200 and unpadded(want["body"])[1] == [] and wrapped_now(path)
    return "/lookup" in path and cut_short


def not_followed(request, want, got):
    """Whether it is one of the differences in queries that ../KNOWN.md describes."""
    if got.get("status") == 413 and re.search("tsd.query.memory|A fill policy would give", got["body"]):
        return want.get("status") in (200, 400)
    return (
        want.get("status") == 400
        and got.get("status") == 200
        and '\\"dp\\" is null' in want["body"]
        and begins_early(request)
    )


def differ(request, want, got, tracking=False):
    """The first difference in words, or None. `tracking`: OpenTSDB keeps its meta table, so that lookups find something."""
    if "lost" in want:
        return None  # OpenTSDB crashed, hung or closed the connection; this is not imitated
    if "lost" in got:
        return f"no answer from Hourglass ({got['lost']}), OpenTSDB: {want.get('status')} {want['body'][:200]}"
    if request.get("path", "").startswith("/api/query") and not_followed(request, want, got):
        return None
    if names_not_followed(request, want, got):
        return None
    if want.get("status") != got.get("status"):
        return f"status: want {want.get('status')}, got {got.get('status')}; {want['body'][:300]!r} / {got['body'][:300]!r}"
    path = request.get("path", "")
    if OF_THE_PROGRAM.fullmatch(path) or request.get("telnet") in (["version"], ["stats"]):
        return shapes_differ(path, want["body"], got["body"])
    types = [a.get("headers", {}).get("content-type", "").replace(" ", "") for a in (want, got)]
    if types[0] != types[1]:
        return f"content-type: want {types[0]!r}, got {types[1]!r}"
    if types[0].startswith("text/html") or request.get("method") == "HEAD":
        return None
    if want["body"] == got["body"]:
        return None
    callback, a = unpadded(want["body"])
    other, b = unpadded(got["body"])
    if a is None and want["body"].startswith('{"error":{"code":') and got["body"].startswith('{"error":{"code":'):
        return None  # OpenTSDB's message has bytes that are invalid in JSON; the statuses are equal
    if callback != other or a is None or b is None:
        return f"text: want {want['body'][:300]!r}, got {got['body'][:300]!r}"
    if isinstance(a, dict) and "error" in a and isinstance(a["error"], dict):
        code = b.get("error", {}).get("code") if isinstance(b, dict) and isinstance(b.get("error"), dict) else None
        return None if code == a["error"].get("code") else f"error.code: want {a['error'].get('code')}, got {code}"
    ignore = CLOCKS
    if path.lower().startswith("/api/uid/rename"):
        ignore = ignore | {"error"}
    if "/lookup" in path.lower() and not tracking:
        ignore = ignore | {"results", "totalResults"}  # OpenTSDB looks into its meta table, Hourglass into its own index, so these fields differ
    if "/tree/branch" in path.lower() and isinstance(a, dict) and isinstance(b, dict):
        a, b = ({**side, "branches": one_of_a_name(side.get("branches"))} for side in (a, b))
    return exact(normal(a, ignore, not ordered(request)), normal(b, ignore, not ordered(request)))


def one_of_a_name(branches):
    """Drops branches whose names differ only by case from an earlier one (../KNOWN.md)."""
    return branches and list({branch["displayName"].lower(): branch for branch in reversed(branches)}.values())


def shape(value):
    """The names in an object and the types of their values."""
    return {k: "number" if number(v) else type(v).__name__ for k, v in value.items()}


def shapes_differ(path, want, got):
    """Compares only the structure of statistics, on which their readers rely: points, and stack frames of threads."""
    if not re.match(r"/api/stats(/jvm|/query|/threads|/region_clients)?(\?|$)", path):
        return None
    (_, a), (_, b) = unpadded(want), unpadded(got)
    if not isinstance(b, type(a)):
        return f"shape: want {short(a)}, got {short(b)}"
    if isinstance(a, list):
        a, b = [shape(v) for v in a[:1]], [shape(v) for v in b[:1]]
        return None if not b or a == b else f"shape: want {a}, got {b}"
    return None if set(a) == set(b) else f"shape: want {sorted(a)}, got {sorted(b)}"


def unpadded(text):
    """Returns (the callback of jsonp or "", the JSON value or None)."""
    padded = re.fullmatch(r"([^\[{\"]*)\((.*)\)", text, re.DOTALL)
    callback, text = padded.groups() if padded else ("", text)
    try:
        return callback, conformance.parse(text)
    except ValueError:
        return callback, None


def normal(value, ignore, unordered):
    if isinstance(value, dict):
        return {k: normal(v, ignore, unordered or k in AS_NAMES_ARRIVE) for k, v in value.items() if k not in ignore}
    if isinstance(value, list):
        values = [normal(v, ignore, unordered) for v in value]
        points = values and all(isinstance(v, list) for v in values)
        return sorted(values, key=conformance.sort_key) if unordered and not points else values
    return value


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def exact(want, got, path="$"):
    if number(want) and number(got):
        same = type(want) is type(got) and (
            want == got
            and math.copysign(1, want) == math.copysign(1, got)
            or math.isnan(want) and math.isnan(got) or clock(want) and clock(got)
        )
        return None if same else f"{path}: want {want!r}, got {got!r}"
    if type(want) is not type(got):
        return f"{path}: want {short(want)}, got {short(got)}"
    if isinstance(want, dict):
        for key in want:
            if key not in got:
                return f"{path}.{key}: missing (want {short(want[key])})"
        for key in got:
            if key not in want:
                return f"{path}.{key}: not expected (got {short(got[key])})"
        return next((d for d in (exact(want[k], got[k], f"{path}.{k}") for k in want) if d), None)
    if isinstance(want, list):
        if len(want) != len(got):
            return f"{path}: want {len(want)} elements {short(want)}, got {len(got)} {short(got)}"
        return next((d for d in (exact(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(want, got))) if d), None)
    return None if want == got else f"{path}: want {short(want)}, got {short(got)}"


def clock(value):
    """Whether the number is a time during this run, in seconds or milliseconds."""
    return any(abs(value - time.time() * unit) < 600 * unit for unit in (1, 1000))


def of_its_moment(text):
    """Whether the text holds a time taken from the clock (other than in CLOCKS), which differs from run to run."""
    compared = re.sub(rf'"({"|".join(CLOCKS)})":\d+', "", text)
    return any(clock(int(number)) for number in re.findall(r"\d{10,13}", compared))


def short(value):
    text = json.dumps(value)
    return text if len(text) < 240 else text[:237] + "..."


def cells_differ(want, got):
    """The first cell that only one side has, or None; rows of plain points are compared as if they were compacted."""
    lines = [
        {t + "\t" + conformance.blank_created(l) for t, rows in side.items() for l in rows} for side in (want, got)
    ]
    if lines[0] != lines[1]:
        lines = [conformance.folded(side) for side in lines]
    missing, more = sorted(lines[0] - lines[1]), sorted(lines[1] - lines[0])
    if not missing and not more:
        return None
    return f"{len(missing)} cells missing, {len(more)} not expected; missing {missing[:3]}, not expected {more[:3]}"
