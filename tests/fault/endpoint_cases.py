"""Hostile requests for each endpoint (endpoints.py sends them).

Each is legal HTTP. What it asks for is extreme: numbers and times at the ends of their ranges, tiny intervals over long times, many and
long names, nested and repeated structures, shapes that cost a square of their size, lists without a limit, patterns that backtrack.
"""
import gzip
import json
import sys
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import remote_read  # noqa: E402
from remote_read import number, sized, varint  # noqa: E402

# The names of the data that the daemon holds (endpoints.py, World.fill).
SERIES, TEXT_SERIES, LONG_POINTS, HISTOGRAM_SERIES, WIDE_BUCKETS = 20_000, 2_000, 100_000, 2_000, 10_000
NAMES, ANNOTATIONS, TREE_SERIES = 5_000, 4_000, 500
REQUEST_LINE_MAX = 4_000
LONG_VALUE = 1_000  # the length of each value of the tag `text`

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}
SNAPPY = {**PROTOBUF, "Content-Encoding": "snappy"}
SNAPPY_2 = {**SNAPPY, "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request"}

EXTREME_NUMBERS = ("0", "-1", "1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e308", "-1e308", "NaN", "1" * 3000)
EXTREME_TIMES = ("0", "1", "-1", "4294967295", "4294967296", "9223372036854775807", "-9223372036854775808", "1e18", "9999999999y-ago", "1ms-ago",
                 "292277026596y-ago", "0/0/0", "9999/12/31-23:59:59")
PATTERNS = ("(a+)+$", "(a*)*b", "^(a?){500}a{500}$", "(.*)(.*)(.*)\\1\\2\\3x", "((a|aa)+)\\1+b", "(?=(a+))a*b\\1", "(a|a|a|a|a)*z", "(?:a?b?c?){900}",
            "([a-z]*)*[0-9]*\\1$", "(" * 200 + "a" + ")" * 200)


class Case:
    """One request. `body` is bytes, text, or a function that returns the body; `path` includes the query string. `status`: the only status
    that is right; None = any that states a reason. `method`: instead of the endpoint's. `at_once`: how many times it is sent concurrently."""

    def __init__(self, what, path, body=None, headers=None, status=None, method=None, at_once=1):
        self.what, self.path, self.headers, self.status, self.method, self.at_once = what, path, headers or {}, status, method, at_once
        self.made = body

    def body(self):
        made = self.made() if callable(self.made) else self.made
        return made.encode() if isinstance(made, str) else made


def url(path, **words):
    """A path with a query string; a trailing "_" is removed from parameter names (for names that are keywords in Python)."""
    return path + "?" + urllib.parse.urlencode({name.rstrip("_"): value for name, value in words.items()}, doseq=True)


def document(**members):
    return lambda: json.dumps(members)


def form(**words):
    return lambda: urllib.parse.urlencode(words, doseq=True)


def extremes(path, varied, values=EXTREME_NUMBERS, **others):
    return [Case(f"{varied}={value[:40]}", url(path, **{**others, varied: value})) for value in values]


def anything(verb, path):
    """Requests that no endpoint expects; sent to every endpoint."""
    glue = "&" if "?" in path else "?"
    yield Case("600 parameters of one name", path + glue + "&".join(["a="] * 600))
    yield Case("a parameter of 3,500 bytes", path + glue + "q=" + "x" * 3500)
    if "?" not in path:
        yield Case("a path of 1,000 segments", path.rstrip("/") + "/a" * 1000)
    if verb != "GET":
        yield Case("arrays nested a million deep", path, "[" * 1_000_000, JSON)
        yield Case("objects nested 200,000 deep", path, '{"a":' * 200_000, JSON)
        yield Case("200,000 members of one name", path, lambda: "{" + ",".join(['"metric":[]'] * 200_000) + "}", JSON)
        yield Case("200,000 members", path, lambda: "{" + ",".join(f'"m{i}":{i}' for i in range(200_000)) + "}", JSON)
        yield Case("a text of 8 MB", path, lambda: json.dumps("x" * (8 << 20)), JSON)
        yield Case("an array of a million numbers", path, lambda: "[" + "0," * 1_000_000 + "0]", JSON)
        yield Case("a form of a million parameters", path, lambda: "a=1&" * 1_000_000, FORM)
        if path == "/api/put":
            yield Case("an unknown coding of the body", path, "[]", {**JSON, "Content-Encoding": "br"}, status=415)
            yield Case("two codings of the body", path, "[]", {**JSON, "Content-Encoding": "gzip, gzip"}, status=415)
            yield Case("half of a surrogate pair", path, json.dumps(put_point("a\ud800")), JSON, status=400)
            for method in ("PATCH", "TRACE", "FOO"):
                yield Case(f"the method {method}", path, "[]", JSON, status=405, method=method)
        yield Case("a body of 60 MB of zeros, compressed", path, lambda: gzip.compress(bytes(60 << 20)), {**JSON, "Content-Encoding": "gzip"})
        yield Case("a body of 300,000 gzip members", path, lambda: gzip.compress(bytes(65)) * 300_000, {**JSON, "Content-Encoding": "gzip"})


# Cases for OpenTSDB's queries.

INTERVALS = ("1ms-sum", "1msc-sum", "1ms-sum-zero", "1msc-sum-zero", "1sc-sum-nan", "1nc-avg", "1mc-p99-null", "9223372036854775807s-sum", "0s-sum", "-1s-sum",
             "999999999y-sum", "999999999yc-sum", "1wc-count", "0all-sum", "1ms-dev", "1ms-median", "1ms-p999-zero")


def sub(metric, filters=(), aggregator="sum", **more):
    return {"metric": metric, "aggregator": aggregator, "filters": list(filters), **more}


def only(kind, text, tagk="host", group=False):
    return {"type": kind, "tagk": tagk, "filter": text, "groupBy": group}


def queries_by_get(world):
    path = "/api/query"
    for interval in INTERVALS:
        for start, end in (("0", str(world.now)), ("0", "9223372036854775807"), (str(world.now - 40 * 365 * 86400), str(world.now))):
            yield Case(f"{interval} from {start} to {end}", url(path, start=start, end=end, m=f"sum:{interval}:long"))
    for interval in ("1msc-sum", "1sc-sum", "1nc-sum-zero"):
        yield Case(f"{interval} over a long time, two points", url(path, start=1_400_000_000, end=1_700_000_001, m=f"sum:{interval}:two"))
    yield Case("a calendar in a time zone of many rules", url(path, start=0, end=world.now, m="sum:1sc-sum-zero:long", timezone="America/New_York"))
    for value in EXTREME_TIMES:
        yield Case(f"start={value}", url(path, start=value, m="sum:long"))
        yield Case(f"end={value}", url(path, start="1h-ago", end=value, m="sum:1m-sum:long"))
    for interval in ("5m-avg-zero", "1dc-sum-nan", "0all-sum-null"):
        for end in ("4294967296", "6800040000", "9999999999999"):  # after 2106
            yield Case(f"{interval} until {end}", url(path, start="10h-ago", end=end, m=f"sum:{interval}:long"), status=200)
    for pattern in PATTERNS:
        yield Case(f"regexp {pattern[:30]}", url(path, start="10h-ago", m=f"sum:text{{}}{{host=regexp({pattern})}}"))
    yield Case("wildcards", url(path, start="10h-ago", m="sum:text{}{host=wildcard(*" + "a*" * 500 + "b)}"))
    yield Case("a group for each series", url(path, start="10h-ago", m="none:wide"))
    yield Case("60 sub-queries over all series", url(path, start="10h-ago", m=["sum:wide{dc=*}"] * 60))
    yield Case("rates of extreme counters", url(path, start="2d-ago", m="sum:rate{counter,18446744073709551615,-9223372036854775808}:long"))
    yield Case("180 percentiles", url(path, start="10h-ago", m="sum:percentiles[" + ",".join(str(i / 3) for i in range(180)) + "]:hist"))
    yield Case("buckets of all histograms", url(path, start="10h-ago", m="sum:show-histogram-buckets:1h-sum:histwide"))
    yield Case("one point that was written millions of times", url(path, start="10h-ago", m="sum:again"))
    yield Case("global annotations of all times", url(path, start="1", m="sum:probe", global_annotations="true"))
    yield Case("all flags", url(path, start="10h-ago", m="none:wide", show_tsuids="", show_query="", show_stats="", show_summary="", ms="", arrays=""))
    yield Case("many TSUIDs", url(path, start="10h-ago", tsuid="sum:" + ",".join(world.tsuids[:100])))


def queries_by_post(world):
    path = "/api/query"

    def asked(what, queries, **more):
        return Case(what, path, lambda: json.dumps({"start": "10h-ago", "queries": queries() if callable(queries) else queries, **more}), JSON)

    yield asked("300,000 TSUIDs", lambda: [{"aggregator": "sum", "tsuids": [f"000001000001{i:06X}" for i in range(300_000)]}])
    yield asked("3,000 sub-queries", lambda: [sub("wide", [only("wildcard", "*", "dc", True)])] * 3_000)
    yield asked("3,000 different sub-queries", lambda: [sub("wide", [only("literal_or", f"h{i}")]) for i in range(3_000)])
    for pattern in PATTERNS:
        yield asked(f"300 filters regexp {pattern[:30]}", [sub("text", [only("regexp", pattern + f"{i}") for i in range(300)])])
    yield asked("2,000 wildcards", lambda: [sub("wide", [only("wildcard", f"*a{i}*") for i in range(2_000)])])
    yield asked("2,000 filters that let pass", lambda: [sub("wide", [only("not_literal_or", f"x{i}") for i in range(2_000)])])
    yield asked("a million literals", lambda: [sub("wide", [only("literal_or", "|".join(f"x{i}" for i in range(1_000_000)))])])
    yield asked("a regexp of 4 MB", lambda: [sub("text", [only("regexp", "(a|b)" * 800_000)])])
    yield asked("20,000 percentiles", lambda: [sub("hist", percentiles=[(i % 10_000) / 100 for i in range(20_000)])])
    yield asked("histograms of many buckets", [sub("histwide", percentiles=[50], downsample="1h-sum")])
    yield asked("a time zone of 20 MB", [sub("probe")], timezone="x" * (20 << 20))
    yield asked("an aggregator of 8 MB", lambda: [sub("probe", aggregator="x" * (8 << 20))])
    yield asked("downsampling of 8 MB", lambda: [sub("probe", downsample="1" * (8 << 20) + "s-sum")])
    yield asked("tags of 200,000 names", lambda: [sub("probe", tags={f"k{i}": "*" for i in range(200_000)})])
    yield asked("extreme rate options", [sub("long", rate=True, rateOptions={"counter": True, "counterMax": 2**63 - 1, "resetValue": -2**63})])
    yield asked("points by value", [sub("long", aggregator="none", valueFilter="> -1e308")])
    for interval in INTERVALS:
        yield asked(f"40 times {interval}", [sub("long", downsample=interval)] * 40, start=1, end=world.now)


def last_points(verb):
    path = "/api/query/last"
    if verb == "GET":
        yield from extremes(path, "back_scan", timeseries="wide", resolve="true")
        yield Case("all series", url(path, timeseries="wide", resolve="true"))
        yield Case("90 metrics", url(path, timeseries=["wide"] * 90, back_scan=1))
    else:
        yield Case("20,000 metrics", path, document(queries=[{"metric": "probe"}] * 20_000, resolveNames=True, backScan=1000), JSON)
        yield Case("300,000 TSUIDs", path, lambda: json.dumps({"queries": [{"tsuids": [f"000001000001{i:06X}" for i in range(300_000)]}], "backScan": 24}), JSON)
        yield Case("all series, 200 times", path, document(queries=[{"metric": "wide"}] * 200, resolveNames=True), JSON)
        yield Case("an endless look back", path, document(queries=[{"metric": "wide"}], backScan=2_147_483_647), JSON)


def exp_queries():
    def asked(what, **members):
        return Case(what, "/api/query/exp", lambda: json.dumps({name: make() if callable(make) else make for name, make in {
            "time": {"start": "10h-ago", "aggregator": "sum"}, **members}.items()}), JSON)

    def metrics(count, metric="wide"):
        return [{"id": f"a{i}", "metric": metric, "filter": "f1", "fillPolicy": {"policy": "zero"}} for i in range(count)]

    by_host = [{"id": "f1", "tags": [only("wildcard", "*", "host", True)]}]
    yield asked("one filter of 9,000 tags for 1,000 metrics", metrics=lambda: [{"id": f"a{i}", "metric": f"none{i}", "filter": "f1"} for i in range(1_000)],
                filters=lambda: [{"id": "f1", "tags": [only("wildcard", f"*a{i}") for i in range(9_000)]}])
    yield asked("one metric under 200 ids", metrics=metrics(200), filters=by_host, expressions=[{"id": "e", "expr": "+".join(f"a{i}" for i in range(200))}])
    yield asked("2,000 expressions", metrics=metrics(2), filters=by_host, expressions=lambda: [{"id": f"e{i}", "expr": "a0 + a1"} for i in range(2_000)])
    yield asked("expressions of expressions", metrics=metrics(1), filters=by_host,
                expressions=lambda: [{"id": f"e{i}", "expr": f"{'e' + str(i - 1) if i else 'a0'} + a0"} for i in range(300)])
    yield asked("100,000 brackets", metrics=metrics(1), filters=by_host, expressions=lambda: [{"id": "e", "expr": "(" * 100_000 + "a0" + ")" * 100_000}])
    yield asked("a sum of a million terms", metrics=metrics(1), filters=by_host, expressions=lambda: [{"id": "e", "expr": "+".join(["a0"] * 1_000_000)}])
    yield asked("100,000 signs", metrics=metrics(1), filters=by_host, expressions=lambda: [{"id": "e", "expr": "-" * 100_000 + "a0"}])
    yield asked("long texts in 900 variables", metrics=metrics(1), filters=by_host, expressions=lambda: [
        {"id": "e", "expr": f"var b='{'x' * 1000}';" + "b=b+b;" * 6 + "".join(f"var v{i}=b+'y';" for i in range(900)) + "a0*1"}])
    yield asked("10,000 outputs", metrics=metrics(1), filters=by_host, outputs=lambda: [{"id": "a0", "alias": "x" * 100}] * 10_000)
    yield asked("buckets of a millisecond", time={"start": "1", "aggregator": "sum", "downsampler": {"interval": "1ms", "aggregator": "sum", "fillPolicy": {"policy": "zero"}}},
                metrics=metrics(1, "long"), filters=[{"id": "f1", "tags": []}])


def gexp_queries():
    path = "/api/query/gexp"
    for function, last in (("movingAverage", ",50000"), ("movingAverage", ",'1000min'"), ("scale", ",2"), ("absolute", ""), ("timeShift", ",'1sec'"), ("highestMax", ",10"),
                           ("shift", ",'1h'"), ("firstDiff", "")):
        yield Case(f"{function}{last} nested 40 deep", url(path, start="2d-ago", exp=f"{function}(" * 40 + "sum:long" + (last + ")") * 40))
    yield Case("movingAverage of half of the points", url(path, start="2d-ago", exp="movingAverage(sum:long,50000)"))
    yield Case("alias of many groups", url(path, start="10h-ago", exp="alias(sum:wide{host=*}," + "@host" * 500 + ")"))
    yield Case("difference of many", url(path, start="10h-ago", exp="difference(" + ",".join(["none:wide"] * 100) + ")"))
    yield Case("a product of groups", url(path, start="10h-ago", exp="multiplySeries(sum:wide{host=*},sum:wider{host=*},sum:wide{host=*})"))
    yield Case("1,200 brackets", url(path, start="10h-ago", exp="(" * 1200))
    yield Case("60 expressions", url(path, start="10h-ago", exp=["scale(none:wide,1)"] * 60))
    yield from extremes(path, "start", EXTREME_TIMES, exp="sum:1ms-sum-zero:long")


# Cases for PromQL.

def promql_texts():
    """Returns {what: expression} for expressions that fit into a query string."""
    yield from {
        "a number that begins with a dot": ".5m", "a range of it": "up[.5m]", "half a number": "1e", "half a hexadecimal number": "0x", "a lone dot": ".",
        "half a string": "\"" + "a" * 500, "half a selector": "wide{host=", "half a comment": "# " * 500, "a wrong escape": '"\\x"', "odd bytes": "\u0000\u0001\u2028",
        "nested sub-queries": "sum(sum_over_time(" * 8 + "wide" + "[1h:1ms]))" * 8,
        "a sub-query of milliseconds": "max_over_time(rate(long[1h])[100y:1ms])",
        "a range of a century": "sum(rate(wide[100y]))", "a range of a millisecond": "rate(long[1ms])", "an endless range": "rate(long[9223372036854775807y])",
        "an offset of a century": "wide offset 100y", "a negative offset": "wide offset -100y", "an extreme instant": "wide @ 1e300", "no instant": "wide @ NaN",
        "brackets": "(" * 1500 + "1" + ")" * 1500, "signs": "-" * 3000 + "1", "powers": "^".join(["2"] * 1500), "sums": "+".join(["1"] * 1500), "nots": "1 " + "unless 1 " * 300,
        "functions": "abs(" * 700 + "wide" + ")" * 700, "or of all series": " or ".join(["wide"] * 400), "and of all series": " and ".join(["wide"] * 300),
        "many to one": '(wide > 1e18) * on(host) group_left() {__name__=~"wide|wider"}',
        "one to many": 'wide * on(host) group_right(dc) wider', "all to all": "wide * on() group_left() wider", "every metric": '{__name__=~".+"}',
        "values counted": 'count_values("v", wide)', "all sorted": "sort_desc(topk(1e18, wide))", "a million quantiles": "quantile(1e308, wide)",
        "labels joined": 'label_join(wide, "x", "' + "-" * 1000 + '", ' + ", ".join(['"host"'] * 200) + ")",
        "labels replaced, nested": 'label_replace(' * 60 + "text" + ', "h", "$1$1$1", "host", "(.*)")' * 60,
        "buckets of histograms": "histogram_quantile(0.5, wide)", "fractions of histograms": "histogram_fraction(0, 1, wide)",
        "a remark on each of many names": 'rate({__name__=~".+"}[1h])', "absent of nothing": "absent(" * 300 + "nothing" + ")" * 300,
        "holt_winters": "holt_winters(long[2d], 0.5, 0.5)", "predict_linear": "predict_linear(long[2d], 1e300)", "deriv of sub-queries": "deriv(long[2d:1s])",
        "150 matchers": "wide{" + ",".join(f'host!="a{i}"' for i in range(150)) + "}", "vectors": "vector(" * 500 + "1" + ")" * 500,
        "time zones": "hour(" * 500 + "wide" + ")" * 500, "changes of sub-queries": "changes(wide[1d:1s])", "rounded": "round(wide, 1e-308)",
    }.items()
    for pattern in PATTERNS + ("(?:a?b?c?){900}%d?(.?a){30}x", "(?i)" + "a?" * 300, "((a{0,100}){0,100}){0,100}", ".*.*.*.*.*.*.*.*x", "\\pL{1000}"):
        text = pattern.replace("\\", "\\\\")
        yield f"regular expression {pattern[:30]}", f'count(text{{host=~"{text}"}})'
        yield f"not regular expression {pattern[:30]}", f'count(text{{host!~"{text}"}})'


def promql_long_texts():
    """Returns {what: expression} for expressions that need a body."""
    yield from {
        "100,000 brackets": lambda: "(" * 100_000 + "1" + ")" * 100_000, "a million signs": lambda: "-" * 1_000_000 + "1",
        "a million sums": lambda: "+".join(["1"] * 1_000_000), "100,000 functions": lambda: "abs(" * 100_000 + "1" + ")" * 100_000,
        "8 MB of one name": lambda: "a" * (8 << 20), "8 MB of a string": lambda: '"' + "\\n" * (4 << 20) + '"', "8 MB of spaces": lambda: " " * (8 << 20),
        "5,000 matchers": lambda: "count(wide{" + ",".join(f'host!="a{i}"' for i in range(5_000)) + "})",
        "500 slow patterns": lambda: "count(text{" + ",".join(f'host!~"(?:a?b?c?){{900}}{i}?(.?a){{30}}x"' for i in range(500)) + "})",
        "a pattern of a million literals": lambda: 'wide{host=~"' + "|".join(f"x{i}" for i in range(1_000_000)) + '"}',
        "100,000 labels to group by": lambda: "sum by (" + ",".join(f"l{i}" for i in range(100_000)) + ") (wide)",
        "2,000 selectors of all series": lambda: "+".join(["wide"] * 2_000), "10,000 different metrics": lambda: " or ".join(f"m{i}" for i in range(10_000)),
        "a million numbers in brackets": lambda: "[" * 1_000_000,
        "a list below 1,000 operators": lambda: 'label_join(wide, "a", "b"' + ',""' * 15_000 + ")" + "+wide" * 1_000,
        "long numbers in many lines": lambda: "1" + "+1e308" * 1_000, "one line of 60 kB": lambda: "(" * 99 + "wide{a='" + "x" * 60_000 + "'}" + ")" * 99,
    }.items()


def promql(world, verb, path="/api/v1/query"):
    for what, text in promql_texts():
        short = url(path, query=text, time=world.now)
        if (len(short) < REQUEST_LINE_MAX) == (verb == "GET"):
            yield Case(what, short) if verb == "GET" else Case(what, path, form(query=text, time=world.now), FORM)
    if verb == "GET":
        yield from extremes(path, "time", EXTREME_TIMES, query="sum(wide)")
        yield from extremes(path, "timeout", EXTREME_NUMBERS, query="sum(rate(wide[1h]))")
        yield from extremes(path, "limit", EXTREME_NUMBERS, query="wide")
    else:
        for what, make in promql_long_texts():
            yield Case(what, path, lambda make=make: urllib.parse.urlencode({"query": make(), "time": world.now}), FORM)


def promql_range(world, verb):
    path = "/api/v1/query_range"
    spans = (("a millisecond over two days", world.now - 172800, 0.001), ("a second over ten years", world.now - 10 * 31536000, 1), ("16 s over two days", world.now - 172800, 16))
    texts = ("sum(wide)", "rate(long[1h])", "quantile_over_time(0.5, long[2d])", '(wide > 1e18) * on(host) group_left() {__name__=~"wide|wider"}', "wide", "sum(sum_over_time(wide[1h:1s]))",
             'count_values("v", wide)', "topk(10, wide)", "1", "time()")
    for text in texts:
        for what, start, step in spans:
            words = {"query": text, "start": start, "end": world.now, "step": step}
            yield Case(f"{text} by {what}", url(path, **words)) if verb == "GET" else Case(f"{text} by {what}", path, form(**words), FORM)
    if verb == "GET":
        yield from extremes(path, "step", query="long", start=world.now - 3600, end=world.now)
        yield from extremes(path, "start", EXTREME_TIMES, query="long", end=world.now, step=1)
        yield from extremes(path, "end", EXTREME_TIMES, query="long", start=0, step=1)


def selectors(world, path, verb, name="match[]"):
    """Cases for the selectors of /series and /labels, and of the values of a label."""
    asked = {"every series": ['{__name__=~".+"}'], "every series, 60 times": [f'{{__name__=~".+",none!="{i}"}}' for i in range(60)], "a dot that begins a number": [".5m"], "half a selector": ["{"],
             "90 metrics": [f'wide{{none!="{i}"}}' for i in range(90)], "150 matchers": ["wide{" + ",".join(f'host!="a{i}"' for i in range(120)) + "}"]}
    for pattern in PATTERNS:
        asked[f"regular expression {pattern[:30]}"] = ['text{host=~"' + pattern.replace("\\", "\\\\") + '"}']
    if verb == "POST":
        asked["20,000 selectors"] = ["wide"] * 20_000
        asked["5,000 matchers"] = ["wide{" + ",".join(f'host!="a{i}"' for i in range(5_000)) + "}"]
    for what, texts in asked.items():
        words = {name: texts, "start": 0, "end": world.now}
        yield Case(what, url(path, **words)) if verb == "GET" else Case(what, path, form(**words), FORM)
    if verb == "GET":
        yield from extremes(path, "start", EXTREME_TIMES, **{name: '{__name__=~".+"}'})
        yield from extremes(path, "limit", **{name: '{__name__=~".+"}'})


def packed(message):
    """The message in snappy's format, not compressed."""
    return varint(len(message)) + bytes([63 << 2]) + (len(message) - 1).to_bytes(4, "little") + message


def remote_reads(world):
    path = "/api/v1/read"

    def query(*matchers, start=0, end=None):
        told = b"".join(sized(3, number(1, kind) + sized(2, label.encode()) + sized(3, value.encode())) for kind, label, value in matchers)
        return sized(1, number(1, start) + number(2, (end or world.now) * 1000) + told)

    every = query((2, "__name__", ".+"))
    yield Case("everything", path, packed(every), SNAPPY)
    yield Case("everything, 100 times", path, packed(every * 100), SNAPPY)
    yield Case("200,000 queries of nothing", path, lambda: packed(sized(1, b"") * 200_000), SNAPPY)
    yield Case("10,000 matchers", path, lambda: packed(query((0, "__name__", "wide"), *((1, "host", f"a{i}") for i in range(10_000)))), SNAPPY)
    yield Case("5,000 slow patterns", path, lambda: packed(query((0, "__name__", "text"), *((3, "host", f"(?:a?b?c?){{900}}{i}(.?a){{30}}x") for i in range(5_000)))), SNAPPY)
    for pattern in PATTERNS:
        yield Case(f"regular expression {pattern[:30]}", path, packed(query((0, "__name__", "text"), (2, "host", pattern))), SNAPPY)
    yield Case("extreme times", path, packed(query((0, "__name__", "long"), start=2**64 - 1, end=2**50)), SNAPPY)
    yield Case("a length of 4 GB", path, varint(2**32 - 1) + b"\x00a", SNAPPY)
    yield Case("a copy of copies", path, lambda: varint(60 << 20) + b"\x00a" + b"\xfe\x01\x00" * ((60 << 20) // 64), SNAPPY)


# Cases for writing points.

def put_point(metric="probe", at=None, value=1, **tags):
    return {"metric": metric, "timestamp": at or 1_500_000_000, "value": value, "tags": tags or {"host": "p"}}


def puts(path="/api/put", **more):
    def points(what, make):
        return Case(what, path + "?details", lambda: json.dumps([{**point, **more} for point in make()]), JSON)

    yield points("200,000 tags of a point", lambda: [put_point(**{f"k{i}": "v" for i in range(200_000)})])
    yield points("a metric of 8 MB", lambda: [put_point("m" * (8 << 20))])
    yield points("200 metrics of 30 kB", lambda: [put_point(f"hostile{i}" + "m" * 30_000) for i in range(200)])
    yield points("400 tag values of 30 kB", lambda: [put_point(host=f"{i}" + "v" * 30_000) for i in range(400)])
    yield points("20,000 new series", lambda: [put_point("hostile", host=f"x{i}") for i in range(20_000)])
    yield points("50,000 wrong points", lambda: [put_point(value="x")] * 50_000)
    yield points("50,000 wrong names", lambda: [put_point(f"m{i} {i}") for i in range(50_000)])
    for value in EXTREME_NUMBERS:
        yield points(f"time {value[:30]}", lambda value=value: [{**put_point(), "timestamp": value}])
        yield points(f"value {value[:30]}", lambda value=value: [put_point(value=value)] * 1000)
    yield Case("a value of 8 MB of digits", path, lambda: '[{"metric":"probe","timestamp":1500000000,"value":' + "1" * (8 << 20) + ',"tags":{"host":"p"}}]', JSON)
    yield Case("200,000 members of a point", path, lambda: "[{" + ",".join(['"metric":"probe"'] * 200_000) + "}]", JSON)
    yield Case("escapes", path, lambda: '[{"metric":"' + "\\u0061" * 1_000_000 + '","timestamp":1500000000,"value":1,"tags":{"host":"p"}}]', JSON)


def rollups():
    yield from puts("/api/rollup", interval="1h", aggregator="sum")
    yield Case("50,000 wrong intervals", "/api/rollup?details", lambda: json.dumps([{**put_point(), "interval": f"{i}h", "aggregator": "sum"} for i in range(50_000)]), JSON)


def histograms():
    yield from puts("/api/histogram", buckets={"0,1": 1})

    def buckets(what, make):
        return Case(what, "/api/histogram?details", lambda: json.dumps([{"metric": "hostile.hist", "timestamp": 1_500_000_000, "buckets": make(), "tags": {"host": "p"}}]), JSON)

    yield buckets("200,000 buckets", lambda: {f"{i},{i + 1}": 1 for i in range(200_000)})
    yield buckets("200,000 buckets, downwards", lambda: {f"{200_000 - i},{200_001 - i}": 1 for i in range(200_000)})
    yield buckets("extreme bounds", lambda: {"-1e308,1e308": 2**63 - 1, "NaN,NaN": -1, "1e309,0": 1})
    yield buckets("one bucket 200,000 times", lambda: dict.fromkeys([f"0{'0' * (i % 50)},1" for i in range(200_000)], 1))


def influx(path):
    def lines(what, make):
        return Case(what, path, make, {"Content-Type": "text/plain"})

    yield lines("a line of 8 MB", lambda: "m,host=a v=" + "1" * (8 << 20))
    yield lines("200,000 fields", lambda: "m,host=a " + ",".join(f"f{i}=1" for i in range(200_000)))
    yield lines("200,000 tags", lambda: "m" + "".join(f",k{i}=v" for i in range(200_000)) + " v=1")
    yield lines("8 MB of escapes", lambda: "m\\ " * (2 << 20) + ",host=a v=1")
    yield lines("a text that never ends", lambda: 'm,host=a v="' + "\\\"" * (4 << 20))
    yield lines("200,000 wrong lines", lambda: "m\n" * 200_000)
    yield lines("20,000 new series", lambda: "".join(f"hostile,host=y{i} v=1 1500000000000000000\n" for i in range(20_000)))
    yield lines("a million points of one known series", lambda: "known,host=a value=1 1500000000000000000\n" * 1_000_000)
    yield lines("a million lines without a value", lambda: "m,host=a v=\n" * 1_000_000)
    yield lines("extreme numbers", lambda: "".join(f"m,host=a v={value} {value}\n" for value in EXTREME_NUMBERS))
    yield lines("a million empty lines", lambda: "\n" * 1_000_000)
    yield from extremes(path, "precision", ("n", "x" * 3000))


def otlp(path):
    def attributes(count, length):
        return b"".join(sized(3, sized(1, b"key%d" % i) + sized(2, sized(1, b"x" * length))) for i in range(count))

    def metric(points, scope=b""):
        return sized(1, sized(2, sized(1, sized(1, b"s") + scope) + sized(2, sized(1, b"hm") + sized(9, points + varint(2 << 3) + varint(2)))))

    yield Case("5 million empty points with large attributes", path, lambda: gzip.compress(metric(sized(1, b"") * 5_000_000, attributes(120, 200)), 1),
               {**PROTOBUF, "Content-Encoding": "gzip"})
    yield Case("a million empty points", path, lambda: metric(sized(1, b"") * 1_000_000), PROTOBUF)
    yield Case("a million empty metrics", path, lambda: sized(1, sized(2, sized(2, b"") * 1_000_000)), PROTOBUF)
    yield Case("a million empty resources", path, lambda: sized(1, b"") * 1_000_000, PROTOBUF)
    yield Case("20,000 attributes", path, lambda: metric(sized(1, b"") * 1_000, attributes(20_000, 10)), PROTOBUF)
    yield Case("values nested 100,000 deep", path, lambda: sized(1, sized(1, nested_value(100_000))), PROTOBUF)
    yield Case("JSON nested 100,000 deep", path, lambda: '{"resourceMetrics":' + "[" * 100_000, JSON)
    yield Case("a million empty points as JSON", path,
               lambda: '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":{"dataPoints":[' + "{}," * 1_000_000 + "{}]}}]}]}]}", JSON)
    yield Case("bounds without end", path, lambda: json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "m", "histogram": {
        "aggregationTemporality": 2, "dataPoints": [{"timeUnixNano": "1500000000000000000", "explicitBounds": list(range(200_000)),
                                                     "bucketCounts": ["1"] * 200_001}]}}]}]}]}), JSON)


def nested_value(depth):
    """An attribute whose value is an array that holds an array, and so on; built from the inside out."""
    head, length, parts = b"", 0, []
    for _ in range(depth):
        head = b"\x2a" + varint(length)  # array_value
        parts.append(head)
        length += len(head)
        head = b"\x0a" + varint(length)  # values
        parts.append(head)
        length += len(head)
    return sized(1, sized(1, b"k") + sized(2, b"".join(reversed(parts))))


def remote_writes():
    path = "/api/v1/write"

    def series(labels, samples):
        return sized(1, b"".join(sized(1, sized(1, name) + sized(2, value)) for name, value in labels) + sized(2, b"") * samples)

    yield Case("a series of 100,000 labels", path, lambda: packed(series([(b"l%d" % i, b"v") for i in range(100_000)], 1)), SNAPPY)
    yield Case("a million empty series", path, lambda: packed(sized(1, b"") * 1_000_000), SNAPPY)
    yield Case("a million empty samples", path, lambda: packed(series([(b"__name__", b"m"), (b"a", b"b" * 1000)], 1_000_000)), SNAPPY)
    yield Case("1,000 names of 30 kB", path, lambda: packed(b"".join(series([(b"__name__", b"m%d" % i + b"x" * 30_000), (b"a", b"b")], 1) for i in range(1_000))), SNAPPY)
    def version_2(symbols, refs, samples=1, series=1):
        one = sized(5, sized(1, b"".join(varint(ref) for ref in refs)) + sized(2, b"") * samples)
        return b"".join(sized(4, symbol) for symbol in (b"", *symbols)) + one * series

    yield Case("2.0: two million symbols", path, lambda: packed(sized(4, b"") * 2_000_000), SNAPPY_2)
    yield Case("2.0: a series of two million references", path, lambda: packed(version_2((b"a",), (0,) * 2_000_000)), SNAPPY_2)
    yield Case("2.0: 100,000 series of 40 symbols of 100 kB", path, lambda: packed(version_2((b"x" * 100_000,), (1,) * 40, 1, 100_000)), SNAPPY_2)
    yield Case("2.0: 100,000 series of symbols that do not exist", path, lambda: packed(version_2((), (2**32 - 1,) * 40, 1, 100_000)), SNAPPY_2)
    yield Case("2.0: 100,000 symbols of 300 bytes in one series", path, lambda: packed(version_2([b"%d" % i + b"x" * 300 for i in range(100_000)], range(1, 100_001))), SNAPPY_2)
    yield Case("2.0: a million empty samples", path, lambda: packed(version_2((b"__name__", b"m"), (1, 2), 1_000_000)), SNAPPY_2)
    yield Case("a length of 4 GB", path, varint(2**32 - 1) + b"\x00a", SNAPPY)
    yield Case("a copy of copies", path, lambda: varint(60 << 20) + b"\x00\x0a" + b"\xfe\x01\x00" * ((60 << 20) // 64), SNAPPY)
    yield Case("no snappy", path, b"\xff" * 1_000_000, SNAPPY)


def descriptions():
    path = "/api/metadata/put"

    def body(count, value):
        return json.dumps([{"Metric": f"described.{i}", "Tags": None, "Name": "desc", "Value": value} for i in range(count)])

    yield Case("200,000 metrics", path, lambda: body(200_000, "x"), JSON)
    yield Case("a help text of 10 MB", path, lambda: body(1, "x" * 10_000_000), JSON)
    yield Case("30,000 help texts of 1 kB", path, lambda: body(30_000, "x" * 1000), JSON)
    yield Case("100,000 open brackets", path, "[" * 100_000, JSON)
    yield Case("a million numbers", path, lambda: "[" + "1," * 1_000_000 + "1]", JSON)
    yield Case("a list in place of a name", path, '[{"Metric":["a"],"Name":"desc","Value":"x"}]', JSON)


# Cases for names and metadata.

def suggests(path, verb):
    for kind in ("metrics", "tagk", "tagv"):
        for most in ("1000000000", "2147483647", "-1", "0"):
            words = {"type": kind, "max": most}
            yield Case(f"{most} {kind}", url(path, **words)) if verb == "GET" else Case(f"{most} {kind}", path, document(**words, q=""), JSON)
    long = {"type": "tagv", "q": "a" * 3000, "max": "2147483647"}
    yield Case("a long prefix", url(path, **long)) if verb == "GET" else Case("a prefix of 8 MB", path, lambda: json.dumps({**long, "q": "a" * (8 << 20)}), JSON)
    if verb == "GET":
        # A request that planted_tsdb never finishes (tests/support).
        yield Case("a name that nobody has", url(path, type="metrics", q="planted"))
        yield from extremes(path, "max", type="metrics")


def lookups(verb):
    path = "/api/search/lookup"
    for limit in ("0", "-1", "2147483647", "9223372036854775807"):
        for what, metric, tags in (("every series of a metric", "wide", [{"key": "host", "value": "*"}]), ("every series", "*", [{"key": "host", "value": "*"}]),
                                   ("every value", "*", [{"key": "*", "value": "p"}]), ("long values", "text", [{"key": "host", "value": "*"}])):
            text = metric + "{" + ",".join(f"{tag['key']}={tag['value']}" for tag in tags) + "}"
            yield Case(f"{what}, limit {limit}", url(path, m=text, limit=limit)) if verb == "GET" else Case(
                f"{what}, limit {limit}", path, document(metric=metric, tags=tags, limit=int(limit)), JSON)
    if verb == "GET":
        yield from extremes(path, "startIndex", m="wide", limit="0")
        yield Case("200 tags", url(path, m="wide{" + ",".join(["host=*"] * 200) + "}", limit=0))
        yield Case("by the meta table", url(path, m="wide", limit=0, use_meta="true"))
    else:
        yield Case("200,000 tags", path, lambda: json.dumps({"metric": "wide", "tags": [{"key": "host", "value": f"h{i}"} for i in range(200_000)], "limit": 0}), JSON)


def tag_counts():
    path = "/api/search/tags"
    yield Case("every tag of many series", url(path, m="wide", limit=10_000))
    yield Case("long values", url(path, m="text", limit=10_000))
    yield from extremes(path, "limit", m="wide")
    yield Case("200 tags", url(path, m="wide{" + ",".join(["host=*"] * 200) + "}"))


def uid_assigns(verb):
    path = "/api/uid/assign"
    if verb == "GET":
        yield Case("500 names", url(path, metric=",".join(f"g{i}" for i in range(500))))
        yield Case("a name of 3,500 bytes", url(path, tagv="x" * 3500))
        yield Case("1,200 empty names", url(path, metric="," * 1200))
    else:
        yield Case("200,000 members", path, lambda: "{" + ",".join(f'"x{i}":["a"]' for i in range(200_000)) + "}", JSON)
        yield Case("20,000 names", path, lambda: json.dumps({"metric": [f"hostile.uid{i}" for i in range(20_000)]}), JSON)
        yield Case("one name 200,000 times", path, document(metric=["hostile.uid"] * 200_000), JSON)
        yield Case("200,000 wrong names", path, document(tagk=["wrong name"] * 200_000), JSON)
        yield Case("500 values of 30 kB", path, lambda: json.dumps({"tagv": [f"{i}" + "v" * 30_000 for i in range(500)]}), JSON)


def renames(verb):
    path = "/api/uid/rename"
    words = {"metric": "nothing", "name": "x" * (3000 if verb == "GET" else 8 << 20)}
    yield Case("a long name", url(path, **words)) if verb == "GET" else Case("a name of 8 MB", path, lambda: json.dumps(words), JSON)


def uid_metas(verb):
    path = "/api/uid/uidmeta"
    if verb == "GET":
        yield from extremes(path, "uid", EXTREME_NUMBERS + ("F" * 3000,), type="metric")
        return
    custom = {"uid": "000001", "type": "metric"}
    yield Case("50,000 custom members", path, lambda: json.dumps({**custom, "custom": {f"k{i}": "v" for i in range(50_000)}}), JSON)
    yield Case("one custom member 200,000 times", path, lambda: '{"uid":"000001","type":"metric","custom":{' + ",".join(['"k":"v"'] * 200_000) + "}}", JSON)
    yield Case("a description of 20 MB", path, lambda: json.dumps({**custom, "description": "x" * (20 << 20)}), JSON)
    yield Case("200,000 members", path, lambda: '{"uid":"000001","type":"metric",' + ",".join(f'"m{i}":1' for i in range(200_000)) + "}", JSON)


def ts_metas(world, verb):
    path = "/api/uid/tsmeta"
    if verb == "GET":
        yield Case("every series of a metric", url(path, m="wide"))
        yield Case("every series by a tag", url(path, m="wide{dc=*}"))
        yield Case("a long TSUID", url(path, tsuid="0" * 3500))
        return
    yield Case("50,000 custom members", path, lambda: json.dumps({"tsuid": world.tsuids[0], "custom": {f"k{i}": "v" for i in range(50_000)}}), JSON)
    yield Case("a description of 20 MB", path, lambda: json.dumps({"tsuid": world.tsuids[0], "description": "x" * (20 << 20)}), JSON)
    yield Case("200,000 members", path, lambda: '{"tsuid":"' + world.tsuids[0] + '",' + ",".join(f'"m{i}":1' for i in range(200_000)) + "}", JSON)
    if verb == "POST":
        yield Case("every series of a metric", url(path, m="wide", create="true"), b"", JSON)


# Cases for annotations.

def annotations(world, verb, path="/api/annotation"):
    if verb == "GET":
        yield from extremes(path, "start_time", EXTREME_NUMBERS, tsuid=world.tsuids[0])
        yield Case("a TSUID of 3,500 digits", url(path, start_time=world.now, tsuid="0" * 3500))
        return
    if verb == "DELETE":
        yield from extremes(path, "start_time", EXTREME_NUMBERS, tsuid=world.tsuids[0])
    yield Case("50,000 custom members", path, lambda: json.dumps({"startTime": world.now - 50_000, "custom": {f"k{i}": "v" for i in range(50_000)}}), JSON)
    yield Case("one custom member 200,000 times", path, lambda: '{"startTime":1500000000,"custom":{' + ",".join(['"k":"v"'] * 200_000) + "}}", JSON)
    yield Case("notes of 8 MB", path, lambda: json.dumps({"startTime": 1_500_000_000, "notes": "x" * (8 << 20)}), JSON)


def annotation_lists(world):
    path = "/api/annotations"
    yield Case("all of all times", url(path, start_time=1, end_time=world.now))
    yield Case("all of all times, without an end", url(path, start_time=1))
    yield from extremes(path, "start_time", EXTREME_NUMBERS)
    yield from extremes(path, "end_time", EXTREME_NUMBERS, start_time=1)


def annotation_bulks(world, verb):
    path = "/api/annotation/bulk"
    if verb == "DELETE":
        yield Case("20,000 TSUIDs", path, lambda: json.dumps({"tsuids": world.tsuids * (20_000 // len(world.tsuids)), "startTime": 1, "endTime": world.now}), JSON)
        yield Case("one TSUID 50,000 times", path, lambda: json.dumps({"tsuids": [world.tsuids[0]] * 50_000, "startTime": 1, "endTime": world.now}), JSON)
        yield Case("200,000 unknown TSUIDs", path, lambda: json.dumps({"tsuids": [f"000001000001{i:06X}" for i in range(200_000)], "startTime": 1}), JSON)
        yield from extremes(path, "start_time", tsuids=",".join(world.tsuids[:20]))
        return
    hour = world.now // 3600 * 3600 - 7200
    yield Case("10,000 in one hour", path, lambda: json.dumps([{"startTime": hour * 1000 + i, "tsuid": world.tsuids[1], "description": "x"} for i in range(10_000)]), JSON)
    yield Case("one 10,000 times", path, lambda: json.dumps([{"startTime": hour, "tsuid": world.tsuids[1], "description": "x"}] * 10_000), JSON)
    yield Case("10,000 global ones in one hour", path, lambda: json.dumps([{"startTime": hour * 1000 + i, "description": "x"} for i in range(10_000)]), JSON)
    yield Case("10,000 without a time", path, document(**{}), JSON)


# Cases for trees.

def trees(world, verb):
    path = "/api/tree"
    if verb == "GET":
        yield from extremes(path, "treeid")
    elif verb == "DELETE":
        yield from extremes(path, "treeid", ("0", "-1", "65536", "9223372036854775807"), definition="true")
    else:
        yield Case("a description of 20 MB", path, lambda: json.dumps({"treeId": world.tree, "name": "x", "description": "x" * (20 << 20)}), JSON)
        yield from extremes(path, "treeid", ("-1", "65536", "9223372036854775807"), name="x", method_override="put")


def tree_rules(world, verb):
    path = "/api/tree/rule"
    rule = {"treeId": world.tree, "level": 1, "order": 1, "type": "METRIC_CUSTOM", "field": "x", "customField": "path"}
    if verb in ("GET", "DELETE"):
        yield from extremes(path, "level", treeid=world.tree, order=0)
        yield from extremes(path, "order", treeid=world.tree, level=90)
        return
    for pattern in PATTERNS:
        yield Case(f"the pattern {pattern[:30]}", path, lambda pattern=pattern: json.dumps({**rule, "type": "METRIC", "regex": pattern, "level": 50}), JSON)
        yield Case(f"the separator {pattern[:30]}", path, lambda pattern=pattern: json.dumps({**rule, "separator": pattern, "level": 51}), JSON)
    yield Case("a pattern of 2 MB", path, lambda: json.dumps({**rule, "regex": "(a|b)" * 400_000, "level": 52}), JSON)
    yield Case("a group far away", path, lambda: json.dumps({**rule, "type": "METRIC", "regex": "(.)", "regexGroupIdx": 2_147_483_647, "level": 53}), JSON)
    yield Case("extreme places", path, lambda: json.dumps({**rule, "level": 2_147_483_647, "order": -2_147_483_648}), JSON)
    yield Case("a display format of 8 MB", path, lambda: json.dumps({**rule, "displayFormat": "{ovalue}{value}" * 500_000, "level": 54}), JSON)


def tree_rule_lists(world, verb):
    path = "/api/tree/rules"
    if verb == "DELETE":
        yield from extremes(path, "treeid", ("0", "-1", "65536", "9223372036854775807"))
        return
    yield Case("3,000 rules", path, lambda: json.dumps([{"treeId": world.tree, "level": 100 + i, "order": 0, "type": "METRIC"} for i in range(3_000)]), JSON)
    yield Case("one rule 10,000 times", path, lambda: json.dumps([{"treeId": world.tree, "level": 100, "order": 0, "type": "METRIC"}] * 10_000), JSON)


def tree_branches(world):
    path = "/api/tree/branch"
    yield Case("a branch of many leaves", url(path, treeid=world.tree))
    yield Case("a branch of 3,500 digits", url(path, branch="0" * 3500))
    yield from extremes(path, "treeid")


def tree_tests(world, verb):
    path = "/api/tree/test"
    split = {"treeId": world.split_tree, "tsuids": [world.tree_tsuids[0]]}
    if verb == "GET":
        yield Case("a value of 30,000 pieces", url(path, treeid=world.split_tree, tsuids=world.tree_tsuids[0]))
        yield Case("a value of 30,000 pieces, 60 times", url(path, treeid=world.split_tree, tsuids=",".join(world.tree_tsuids[:1] * 60)))
        yield Case("150 series", url(path, treeid=world.tree, tsuids=",".join(world.tree_tsuids[:150])))
    else:
        yield Case("a value of 30,000 pieces", path, document(**split), JSON)
        yield Case("50,000 series", path, lambda: json.dumps({"treeId": world.tree, "tsuids": world.tree_tsuids * (50_000 // len(world.tree_tsuids))}), JSON)
        yield Case("200,000 unknown series", path, lambda: json.dumps({"treeId": world.tree, "tsuids": [f"000001000001{i:06X}" for i in range(200_000)]}), JSON)


def tree_failures(world, path, verb):
    if verb == "GET":
        yield Case("all", url(path, treeid=world.tree))
        yield Case("150 series", url(path, treeid=world.tree, tsuids=",".join(world.tree_tsuids[:150])))
        yield from extremes(path, "treeid")
    else:
        yield Case("200,000 series", path, lambda: json.dumps({"treeId": world.tree, "tsuids": [f"000001000001{i:06X}" for i in range(200_000)]}), JSON)


# Cases for all other endpoints.

def graphs():
    path = "/q"
    for what, words in {
        "20,000 lines, large": {"m": "none:wide", "wxh": "2000x2000", "png": "", "key": "out box"},
        "20,000 curves": {"m": "none:wide", "wxh": "2000x2000", "png": "", "smooth": "csplines", "style": "circles"},
        "20,000 lines as text": {"m": "none:wide", "ascii": ""}, "20,000 lines as JSON": {"m": "none:wide", "json": ""},
        "100,000 points": {"m": "sum:long", "wxh": "100x100", "png": ""},
        "100,000 points, large": {"m": "sum:long", "wxh": "3160x3160", "png": "", "smooth": "csplines"},
        "a picture without end": {"m": "sum:long", "wxh": "2147483647x2147483647", "png": ""}, "a picture of nothing": {"m": "sum:long", "wxh": "0x-1", "png": ""},
        "buckets of a millisecond": {"m": "sum:1ms-sum-zero:long", "png": "", "start": "1"}, "60 metrics": {"m": ["none:wide"] * 60, "png": ""},
        "a range of numbers": {"m": "sum:long", "yrange": "[-1e308:1e308]", "png": ""}, "a range backwards": {"m": "sum:long", "yrange": "[1e308:-1e308]", "ylog": "", "png": ""},
        "a format of 1,000 letters": {"m": "sum:long", "yformat": "%" * 1000, "png": ""}, "a title of 3,000 letters": {"m": "sum:long", "title": "x" * 3000, "png": ""},
    }.items():
        yield Case(what, url(path, **{"start": "2d-ago", "nocache": "", **words}))
    yield from extremes(path, "start", EXTREME_TIMES, m="sum:1m-sum:long", png="")
    for limits in ("[:5e-324]", "[-1:1e-322]", "[1.7e308:]", "[-1.7e308:1.7e308]"):
        for scale in ({}, {"ylog": ""}):
            yield Case(f"yrange={limits} {' '.join(scale)}", url(path, start="10h-ago", m="sum:long", png="", yrange=limits, **scale), status=200)
    yield Case("a pattern", url(path, start="10h-ago", m="sum:text{}{host=regexp((.*)(.*)(.*)\\1\\2\\3x)}", ascii=""))


def admin(call, verb):
    path = f"/api/admin/{call}"
    yield Case("a table of 3,500 letters", url(path, table="x" * 3500))
    yield Case("a place of 3,500 digits", url(path, table="tsdb", at="F" * 3500))
    if call in ("regions", "sizes", "count", "tables", "describe"):
        yield Case("the largest table", url(path, table="tsdb"))
        yield Case("the largest table, 40 times at once", url(path, table="tsdb"), at_once=40)
    if call in ("flush", "compact", "check"):
        yield Case("40 times at once", path, at_once=40)
    if call == "create":
        yield Case("500 splits of a table without families", url(path, table="", splits=",".join(f"k{i}" for i in range(500))))
    if call in ("create", "alter"):
        yield Case("families of 1,000 open braces", url(path, table="none", families="{" * 1000))
        yield Case("500 families", url(path, table="none", families=",".join(f"f{i}" for i in range(500))))
        yield Case("an attribute of 3,400 letters", url(path, table="none", families="{NAME=>f,TTL=>" + "9" * 3400 + "}"))
    if call in ("drop", "truncate"):
        yield Case("the table of the points", url(path, table="tsdb"))
    if call == "backup" and verb == "POST":
        yield Case("a folder of 3,500 letters", url(path, to="/" + "x" * 3500))


def influx_queries():
    return [Case("a statement of 3,500 letters", url("/query", q="CREATE DATABASE " + "x" * 3400)), Case("1,000 statements", url("/query", q="SHOW DATABASES;" * 200))]


def cases(world):
    """Returns {"VERB /path": cases for its parameters}. Endpoints whose parameters have no effect are in `WITHOUT_PARAMETERS`."""
    out = {
        "GET /api/query": queries_by_get(world), "POST /api/query": queries_by_post(world), "DELETE /api/query": [
            Case("a deletion of all times", url("/api/query", start="1", end=world.now, m="sum:1ms-sum-zero:nothing"))],
        "POST /api/query/exp": exp_queries(), "GET /api/query/gexp": gexp_queries(), "GET /api/v1/query": promql(world, "GET"), "POST /api/v1/query": promql(world, "POST"),
        "GET /api/query_range": promql_range(world, "GET"), "POST /api/query_range": promql_range(world, "POST"), "GET /api/label": selectors(world, "/api/v1/label/host/values", "GET"),
        "GET /api/v1/metadata": extremes("/api/v1/metadata", "limit") + extremes("/api/v1/metadata", "metric", ("x" * 3500,)),
        "GET /api/v1/targets/metadata": extremes("/api/v1/targets/metadata", "limit"), "GET /api/v1/status/tsdb": extremes("/api/v1/status/tsdb", "limit"),
        "GET /federate": selectors(world, "/federate", "GET"), "POST /api/read": remote_reads(world),
        "POST /api/metadata/put": descriptions(), "POST /api/put": puts(), "POST /api/rollup": rollups(), "POST /api/histogram": histograms(), "POST /write": influx("/write"),
        "POST /api/v1/otlp/v1/metrics": otlp("/api/v1/otlp/v1/metrics"),
        "POST /opentelemetry/v1/metrics": otlp("/opentelemetry/v1/metrics"),
        "POST /api/v2/write": influx("/api/v2/write"), "POST /v1/metrics": otlp("/v1/metrics"), "POST /api/write": remote_writes(), "GET /api/search/tags": tag_counts(),
        "GET /api/annotations": annotation_lists(world), "GET /api/tree/branch": tree_branches(world), "GET /q": graphs(), "GET /query": influx_queries(), "POST /query": influx_queries(),
        "GET /api/stats/query": extremes("/api/stats/query", "id"), "DELETE /api/stats/query": extremes("/api/stats/query", "id"),
        "GET /logs": [Case("a level of 3,500 letters", url("/logs", level="x" * 3500)), Case("all lines as JSON", "/logs?json")],
        "GET /s": [Case("a way out of the folder", "/s/" + "../" * 1000 + "etc/passwd"), Case("a path of 3,500 letters", "/s/" + "x" * 3500)],
        "GET /favicon.ico": [Case("with parameters", "/favicon.ico?" + "a=1&" * 600)],
    }
    for verb in ("GET", "POST"):
        out.update({f"{verb} {path}": promql(world, verb, path) for path in ("/api/v1/format_query", "/api/v1/parse_query", "/api/v1/query_exemplars")})
        out.update({f"{verb} /api/query/last": last_points(verb), f"{verb} /api/labels": selectors(world, "/api/v1/labels", verb),
                    f"{verb} /api/series": selectors(world, "/api/v1/series", verb), f"{verb} /api/suggest": suggests("/api/suggest", verb),
                    f"{verb} /suggest": suggests("/suggest", "GET"), f"{verb} /api/search/lookup": lookups(verb), f"{verb} /api/uid/assign": uid_assigns(verb),
                    f"{verb} /api/uid/rename": renames(verb), f"{verb} /api/tree/test": tree_tests(world, verb)})
        for kind in ("collisions", "notmatched"):
            out[f"{verb} /api/tree/{kind}"] = tree_failures(world, f"/api/tree/{kind}", verb)
    for verb in ("GET", "POST", "PUT", "DELETE"):
        out.update({f"{verb} /api/uid/uidmeta": uid_metas(verb), f"{verb} /api/uid/tsmeta": ts_metas(world, verb), f"{verb} /api/annotation": annotations(world, verb),
                    f"{verb} /api/tree": trees(world, verb), f"{verb} /api/tree/rule": tree_rules(world, verb)})
        if verb != "GET":
            out[f"{verb} /api/annotation/bulk"] = annotation_bulks(world, verb)
            out[f"{verb} /api/tree/rules"] = tree_rule_lists(world, verb)
    for call in ("tables", "describe", "regions", "sizes", "count", "backup"):
        out[f"GET /api/admin/{call}"] = admin(call, "GET")
    for call in ("create", "alter", "drop", "truncate", "split", "merge", "flush", "compact", "check", "backup"):
        out[f"POST /api/admin/{call}"] = admin(call, "POST")
    return out


# Endpoints without parameters that could make an answer larger or slower; they get only the cases of `anything`.
WITHOUT_PARAMETERS = {f"{verb} {path}" for verb in ("GET", "POST") for path in (
    "/aggregators", "/api/aggregators", "/api/config", "/api/version", "/version", "/api/stats", "/stats", "/api/admin")} | {f"GET {path}" for path in (
        "/", "/api/config/filters", "/api/dropcaches", "/api/stats/jvm", "/api/stats/threads", "/api/user", "/api/v1/alertmanagers", "/api/v1/alerts", "/api/v1/rules",
        "/api/v1/scrape_pools", "/api/v1/status/buildinfo", "/api/v1/status/config", "/api/v1/status/flags", "/api/v1/status/runtimeinfo", "/api/v1/targets",
        "/health", "/healthz", "/-/healthy", "/-/ready", "/metrics", "/ping", "/readyz")} | {"POST /logs", "DELETE /api/dropcaches", "DELETE /api/stats"}

# Endpoints that are not called, each with the reason.
NOT_CALLED = {"GET /diediedie": "it stops the daemon"}


# Input for other protocols: (what, protocol, bytes).

def streams():
    line = b"put probe 1500000000 1 host=p"
    yield "a line of 8 MB", "telnet", lambda: b"put " + b"m" * (8 << 20)
    yield "20,000 wrong lines", "telnet", lambda: b"put m\n" * 20_000
    yield "lines of many tags", "telnet", lambda: (line + b"".join(b" k%d=v" % i for i in range(90)) + b"\n") * 2_000
    yield "new series", "telnet", lambda: b"".join(b"put hostile 1500000000 1 host=t%d\n" % i for i in range(20_000))
    yield "extreme numbers", "telnet", lambda: b"".join(f"put probe {value[:300]} {value[:300]} host=p\n".encode() for value in EXTREME_NUMBERS) * 100
    yield "commands without replies read", "telnet", lambda: b"stats\nversion\nhelp\n" * 3_000
    yield "20,000 pipelined requests", "telnet", lambda: b"GET /api/version HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20_000
    yield "2,000 pipelined queries", "telnet", lambda: b"GET /api/query?start=1h-ago&m=sum:1s-sum-zero:probe HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2_000
    yield "a line of 1 MB", "graphite", lambda: b"a" * (1 << 20)
    yield "names of 30 kB", "graphite", lambda: b"".join(b"hostile%d." % i + b"x" * 30_000 + b" 1 1500000000\n" for i in range(200))
    yield "paths of many parts", "graphite", lambda: (b"a." * 2_000 + b" 1 1500000000\n") * 200
    yield "many tags", "graphite", lambda: (b"m" + b"".join(b";k%d=v" % i for i in range(500)) + b" 1 1500000000\n") * 200
    yield "20,000 wrong lines", "graphite", lambda: b"m\n" * 20_000
    yield "a frame of 4 GB", "pickle", lambda: b"\xff\xff\xff\xff" + b"x" * 1_000_000
    yield "a frame of marks", "pickle", lambda: frame(b"\x80\x02" + b"(" * 900_000 + b".")
    yield "a frame of nested lists", "pickle", lambda: frame(b"\x80\x02" + b"]" * 400_000 + b"a" * 399_999 + b".")
    yield "a frame of memo keys that collide", "pickle", lambda: frame(colliding_memo())
    yield "a frame that copies one string", "pickle", lambda: frame(b"\x80\x02X" + (50_000).to_bytes(4, "little") + b"x" * 50_000 + b"q\x00]q\x01(" +
                                                                    b"h\x00J\x00\x2f\x68\x59K\x01\x86\x86" * 40_000 + b"e.")
    yield "a frame of references to one point with a long time", "pickle", lambda: frame(b"\x80\x02(U\x01mX" + (500_000).to_bytes(4, "little") + b"1" * 500_000 +
                                                                                         b"K\x01\x86\x86q\x00" + b"h\x00" * 260_000 + b"l.")


def frame(pickle):
    return len(pickle).to_bytes(4, "big") + pickle


def colliding_memo():
    """Entries of a pickle's memo whose numbers are multiples of primes that hash tables use."""
    entries = b"".join(b"r" + (i * 107_897 % 2**32).to_bytes(4, "little") for i in range(150_000))
    return b"\x80\x02]" + entries + b"."
