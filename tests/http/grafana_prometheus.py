#!/usr/bin/env python3
"""What Grafana's Prometheus data source asks, in the forms of its versions, and read as strictly as it reads.

    grafana_prometheus.py build/release/tsdb

Its server asks for points, by a form in the body unless the settings say GET, and takes an answer apart as it comes: the type
of the result in front of it, times as numbers, values as texts of numbers. Lists are asked for by the page, through that
server. What it asks and this daemon has not is here with the answer that it gets. The last line reads "N passed, N failed".
"""
import contextlib
import gzip
import json
import math
import re
import sys
import tempfile
import urllib.parse
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.dont_write_bytecode = True
from daemon import Daemon  # noqa: E402
from facts import equal, fact, told  # noqa: E402

START = 1700000040  # the start of a minute
STEP_S = 10
POINTS = 61
END = START + (POINTS - 1) * STEP_S
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Form:
    """How points and lists are requested. The releases in which a form begins are known only approximately."""
    releases: str
    method: str           # the setting "HTTP method", which applies to queries for points
    lists: str            # method for lists, except for those that Prometheus answers to GET only
    health_time: float    # time of the query 1+1
    timeout: str | None   # sent with queries for points
    limit: int | None     # sent with requests for lists
    list_times: bool      # whether start and end are sent, too
    first_by_post: bool = False  # everything is tried by POST first, then by GET if the answer is 405 or 400


FORMS = (
    Form("2.0 to 6.7, GET", "GET", "GET", 1700000640.123, None, None, False),
    Form("7.0 to 8.5, GET", "GET", "GET", 1700000640.123, "60s", None, True),
    Form("5.0 to 7.4, POST", "POST", "GET", 1700000640.123, "60s", None, True),
    Form("7.5 to 8.5, POST", "POST", "POST", 1700000640.123, "60s", None, True),
    Form("9.0 to 11.2, GET", "GET", "GET", 4, None, None, True),
    Form("9.0 to 11.2, POST", "POST", "POST", 4, None, None, True),
    Form("11.3 on, GET", "GET", "GET", 4, None, 40000, True),
    Form("11.3 to 12.0, POST", "POST", "POST", 4, None, 40000, True),
    Form("12.1 on, POST", "POST", "POST", 4, "60s", 40000, True, first_by_post=True),
)


def requests(host, i):
    """A counter: web1 grows by ten per second, web2 by forty; web2 restarts at its 30th point."""
    return i * 100 if host == "web1" else (i if i < 30 else i - 30) * 400


def fill(daemon):
    """Writes http_requests_total; node_load1, a gauge; request_seconds_bucket, a histogram; sys.cpu.user with a tag host.name."""
    points = []

    def add(metric, i, value, **tags):
        points.append({"metric": metric, "timestamp": START + i * STEP_S, "value": value, "tags": tags})

    for i in range(POINTS):
        for host in ("web1", "web2"):
            add("http_requests_total", i, requests(host, i), job="api", host=host)
            add("node_load1", i, i / 8 + (host == "web2"), job="node", host=host)
        for le, count in (("0.1", 10), ("0.5", 30), ("_x002B_Inf", 40)):  # the form in which a remote write stores "+Inf"
            add("request_seconds_bucket", i, i * count, job="api", le=le)
        add("sys.cpu.user", i, 50 + i, **{"host.name": "web1", "dc": "lga"})
    daemon.put(points)


METRICS = ["http_requests_total", "node_load1", "request_seconds_bucket", "sys.cpu.user"]


# ---- Asking ----

def sent(daemon, method, path, words=(), url_words=()):
    """Status and text of a response. Words are sent as a form in the body, or in the path with GET."""
    text = urllib.parse.urlencode(list(words))
    url = urllib.parse.urlencode(list(url_words) + (list(words) if method == "GET" else []))
    connection = daemon.connection()
    try:
        connection.request(method, path + ("?" + url if url else ""), text if method == "POST" else None,
                           {"Accept-Encoding": "gzip", **(FORM if method == "POST" else {})})
        answer = connection.getresponse()
        body = answer.read()
        packed = answer.getheader("Content-Encoding") == "gzip"
        kind = answer.getheader("Content-Type")
    finally:
        connection.close()
    return answer.status, kind, gzip.decompress(body) if packed else body


def asked(daemon, method, path, words=()):
    """The data of an answer that says it is a success. It may come with remarks, which Grafana shows as notices."""
    status, kind, body = sent(daemon, method, path, words)
    equal((status, kind), (200, "application/json"), f"{method} {path} {words}: {body[:200]}")
    answer = json.loads(body)
    equal((list(answer)[:2], answer["status"]), (["status", "data"], "success"))
    equal(set(answer) <= {"status", "data", "warnings", "infos"}, True, list(answer))
    return answer["data"]


def listed(daemon, form, path, words=(), by_get=False):
    """A list for the page. Endpoints that answer GET only are asked by GET, unless the form tries POST first."""
    words = list(words)
    if form.list_times:
        words += [("start", START), ("end", END)]
    if form.limit is not None:
        words.append(("limit", form.limit))
    method = "GET" if by_get and not form.first_by_post else form.lists
    if method == "POST" and by_get:
        status, _, _ = sent(daemon, method, path, words)
        equal(status in (400, 405), True, f"{form.releases}, POST {path}: {status}, after which nothing else is tried")
        method = "GET"
    return asked(daemon, method, path, words)


def seconds(value):
    """A number in the form in which the server sends times and steps."""
    return repr(value).removesuffix(".0")


def points_words(form, **words):
    return [*words.items(), *([("timeout", form.timeout)] if form.timeout else [])]


# ---- How Grafana's server reads answers ----

class Undecodable(AssertionError):
    pass


FLOAT = re.compile(r"[+-]?(Inf|NaN|\d+(\.\d+)?([eE][+-]?\d+)?)\Z")


def sample(pair):
    """[time, "value"]: a number, and a number as text."""
    at, text = pair
    if isinstance(at, bool) or not isinstance(at, (int, float)) or not isinstance(text, str) or not FLOAT.match(text):
        raise Undecodable(f"{pair!r} is no sample")
    return at, float(text)


def read(data, kind):
    """Returns {labels: [(second, value)]} for series, or one sample."""
    # Older servers read the result according to its type, so the type must come first.
    equal(list(data), ["resultType", "result"])
    equal(data["resultType"], kind)
    if kind == "scalar":
        return sample(data["result"])
    frames = {}
    for series in data["result"]:
        equal(list(series), ["metric", "value" if kind == "vector" else "values"])
        labels = tuple(sorted(series["metric"].items()))
        equal(labels in frames, False, f"{labels} twice")
        frames[labels] = [sample(pair) for pair in ([series["value"]] if kind == "vector" else series["values"])]
    return frames


def instant(daemon, form, query, at=END):
    words = points_words(form, query=query, time=seconds(at))
    return {labels: points for labels, points in read(asked(daemon, form.method, "/api/v1/query", words), "vector").items()}


def over(daemon, form, query, start=START, end=END, step=60):
    words = points_words(form, query=query, start=seconds(start), end=seconds(end), step=seconds(step))
    return read(asked(daemon, form.method, "/api/v1/query_range", words), "matrix")


def labels(**pairs):
    return tuple(sorted(pairs.items()))


def named(name, **pairs):
    return labels(__name__=name, **pairs)


# ---- The tests ----


@fact
def save_and_test_adds_one_and_one(daemon):
    for form in FORMS:
        words = points_words(form, query="1+1", time=seconds(form.health_time))
        equal(read(asked(daemon, form.method, "/api/v1/query", words), "scalar"), (form.health_time, 2.0), form.releases)


@fact
def its_kind_is_prometheus_and_its_version_one_that_has_matches_of_labels(daemon):
    for form in FORMS:
        if form.first_by_post:  # by Grafana's server, which then uses GET
            equal(sent(daemon, "POST", "/api/v1/status/buildinfo")[0], 405)
        build = asked(daemon, "GET", "/api/v1/status/buildinfo")
        equal([type(build[key]) for key in ("version", "revision", "branch")], [str, str, str])
        equal("features" in build, False)  # a daemon with features would be taken for Mimir, which stores rules
        version = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", build["version"])
        equal([int(part) for part in version.groups()] >= [2, 24, 0], True)


@fact
def names_of_labels(daemon):
    for form in FORMS:
        equal(listed(daemon, form, "/api/v1/labels"), ["__name__", "dc", "host", "host.name", "job", "le"], form.releases)
        for match, wanted in (('{__name__="http_requests_total"}', ["__name__", "host", "job"]),
                              ("node_load1", ["__name__", "host", "job"]),
                              ('{__name__="request_seconds_bucket"}', ["__name__", "job", "le"]),
                              ('{"sys.cpu.user"}', ["__name__", "dc", "host.name"]),
                              ('{job="nothing"}', [])):
            equal(listed(daemon, form, "/api/v1/labels", [("match[]", match)]), wanted, f"{form.releases}, {match}")
        both = [("match[]", "node_load1"), ("match[]", "request_seconds_bucket")]
        equal(listed(daemon, form, "/api/v1/labels", both), ["__name__", "host", "job", "le"], form.releases)


@fact
def values_of_labels(daemon):
    for form in FORMS:
        for label, match, wanted in (("__name__", None, METRICS),
                                     ("job", None, ["api", "node"]),
                                     ("host", None, ["web1", "web2"]),
                                     ("le", None, ["+Inf", "0.1", "0.5"]),
                                     ("nothing", None, []),
                                     ("__name__", '{host="web2"}', ["http_requests_total", "node_load1"]),
                                     ("__name__", '{__name__=~".*load.*"}', ["node_load1"]),
                                     ("job", "node_load1", ["node"]),
                                     ("host", '{__name__="node_load1",host!="web1"}', ["web2"])):
            words = [("match[]", match)] if match else []
            equal(listed(daemon, form, f"/api/v1/label/{label}/values", words, by_get=True), wanted,
                  f"{form.releases}, {label} of {match}")


@fact
def a_limit_shortens_lists(daemon):
    equal(asked(daemon, "GET", "/api/v1/labels", [("limit", 2)]), ["__name__", "dc"])
    equal(asked(daemon, "GET", "/api/v1/label/__name__/values", [("limit", 1)]), METRICS[:1])
    equal(len(asked(daemon, "POST", "/api/v1/series", [("match[]", '{__name__!=""}'), ("limit", 3)])), 3)


@fact
def series_of_a_selector(daemon):
    load = [{"__name__": "node_load1", "host": host, "job": "node"} for host in ("web1", "web2")]
    dotted = {"__name__": "sys.cpu.user", "dc": "lga", "host.name": "web1"}

    def ordered(found):
        return sorted(found, key=lambda one: sorted(one.items()))

    for form in FORMS:
        for matches, wanted in ((["node_load1"], load),
                                (['{__name__="node_load1",host="web2"}'], load[1:]),
                                (['{__name__="sys.cpu.user"}'], [dotted]),
                                (["node_load1", '{"sys.cpu.user"}'], [*load, dotted]),
                                (['{job="nothing"}'], [])):
            words = [("match[]", match) for match in matches]
            equal(ordered(listed(daemon, form, "/api/v1/series", words)), ordered(wanted), f"{form.releases}, {matches}")
        # All series, which data sources with the setting "series" request first.
        found = listed(daemon, form, "/api/v1/series", [("match[]", '{__name__!=""}')])
        equal((len(found), sorted({series["__name__"] for series in found})), (8, METRICS), form.releases)


@fact
def types_of_metrics_are_not_known_which_is_no_error(daemon):
    for form in FORMS:
        equal(listed(daemon, form, "/api/v1/metadata", by_get=True), {}, form.releases)
        equal(listed(daemon, form, "/api/v1/metadata", [("metric", "node_load1")], by_get=True), {}, form.releases)


@fact
def values_of_a_label_whose_name_has_a_dot(daemon):
    """From 12.0 on such a name is asked for as the releases of Prometheus from 3.0 on write it in a path, U__host_2e_name."""
    path = "/api/v1/label/{}/values"
    equal(asked(daemon, "GET", path.format("host.name")), ["web1"])
    equal(asked(daemon, "GET", path.format("U__host_2e_name")), ["web1"])


@fact
def points_at_an_instant(daemon):
    for form in FORMS:
        equal(instant(daemon, form, "node_load1"),
              {named("node_load1", job="node", host="web1"): [(END, 7.5)],
               named("node_load1", job="node", host="web2"): [(END, 8.5)]}, form.releases)
        equal(instant(daemon, form, 'sum by (host) (rate(http_requests_total{job="api"}[1m]))'),
              {labels(host="web1"): [(END, 10.0)], labels(host="web2"): [(END, 40.0)]}, form.releases)
        equal(instant(daemon, form, "sum(node_load1)", END + 0.5), {(): [(END + 0.5, 16.0)]}, form.releases)
        equal(instant(daemon, form, "nothing_of_that_name"), {}, form.releases)
        equal(instant(daemon, form, "sum(node_load1) / 0"), {(): [(END, math.inf)]}, form.releases)


@fact
def points_over_a_range(daemon):
    whole = [(at, (at - START) / 80) for at in range(START, END + 1, 60)]
    for form in FORMS:
        equal(over(daemon, form, "node_load1"),
              {named("node_load1", job="node", host="web1"): whole,
               named("node_load1", job="node", host="web2"): [(at, value + 1) for at, value in whole]}, form.releases)
        equal(over(daemon, form, '{__name__="sys.cpu.user"}', step=15, end=START + 60),
              {named("sys.cpu.user", dc="lga", **{"host.name": "web1"}):
               [(START, 50.0), (START + 15, 51.0), (START + 30, 53.0), (START + 45, 54.0), (START + 60, 56.0)]}, form.releases)
        # Steps and times have fractions, because they follow from the width of a panel in pixels.
        equal(over(daemon, form, "sum(node_load1)", START + 0.25, START + 1.25, 0.5),
              {(): [(START + 0.25, 1.0), (START + 0.75, 1.0), (START + 1.25, 1.0)]}, form.releases)
        equal(over(daemon, form, "nothing_of_that_name"), {}, form.releases)
        # An expression without a series gives a number for each step.
        equal(over(daemon, form, "2 * 3", end=START + 60), {(): [(START, 6.0), (START + 60, 6.0)]}, form.releases)


@fact
def rates_over_a_range(daemon):
    """$__rate_interval is a number of seconds when it is sent; each window of 60 s has six points: its begin is not part of it."""
    for form in FORMS:
        found = over(daemon, form, "sum by (host) (rate(http_requests_total[60s]))", start=START + 60)
        equal(found[labels(host="web1")], [(at, 10.0) for at in range(START + 60, END + 1, 60)], form.releases)
        # web2 begins anew at its 30th point, 11600 before: four steps of 400 and one to 0 in the window that ends there, stretched
        # from 50 s to 60 s.
        restart = START + 300
        equal(found[labels(host="web2")],
              [(at, 1600 / 50 if at == restart else 40.0) for at in range(START + 60, END + 1, 60)], form.releases)
        equal(set(found), {labels(host="web1"), labels(host="web2")}, form.releases)


@fact
def quantiles_of_a_histogram(daemon):
    """Of 40 per step, 10 are at most 0.1 and 20 more at most 0.5, so the median is halfway between these bounds."""
    for form in FORMS:
        query = "histogram_quantile(0.5, sum by (le) (rate(request_seconds_bucket[60s])))"
        found = over(daemon, form, query, start=START + 60)
        equal({key: [(at, round(value, 12)) for at, value in points] for key, points in found.items()},
              {(): [(at, 0.3) for at in range(START + 60, END + 1, 60)]}, form.releases)


@fact
def annotations_are_a_range_with_a_step_of_a_minute(daemon):
    for form in FORMS:
        equal(over(daemon, form, 'resets(http_requests_total{host="web2"}[1m]) > 0'),
              {labels(job="api", host="web2"): [(START + 300, 1.0)]}, form.releases)


def failure(answer):
    status, kind, body = answer
    document = json.loads(body)
    equal((kind, list(document)), ("application/json", ["status", "errorType", "error"]))
    equal(document["status"], "error")
    return status, document["errorType"], document["error"]


@fact
def an_error_is_told_where_grafana_looks_for_it(daemon):
    for form in FORMS:
        words = points_words(form, query="sum(node_load1", start=START, end=END, step=60)
        status, kind, text = failure(sent(daemon, form.method, "/api/v1/query_range", words))
        equal((status, kind, text.startswith('invalid parameter "query": 1:15: parse error: ')), (400, "bad_data", True), text)
        words = points_words(form, query="node_load1", start=START, end=START + 11001, step=1)
        equal(failure(sent(daemon, form.method, "/api/v1/query_range", words)),
              (400, "bad_data", "exceeded maximum resolution of 11,000 points per timeseries. "
                                "Try decreasing the query resolution (?step=XX)"), form.releases)
        words = points_words(form, query="node_load1 * on (job) node_load1", time=END)
        equal(failure(sent(daemon, form.method, "/api/v1/query", words))[:2], (422, "execution"), form.releases)
    equal(failure(sent(daemon, "GET", "/api/v1/series"))[:2], (400, "bad_data"))
    equal(failure(sent(daemon, "GET", "/api/v1/labels", [("match[]", "{")]))[:2], (400, "bad_data"))


@fact
def there_are_no_rules_and_no_alerts(daemon):
    """Newer forms try POST first, and GET if that is refused. The page of alert rules accepts an empty list."""
    for path, words, data in (("/api/v1/rules", (), {"groups": []}), ("/api/v1/rules", (("type", "alert"),), {"groups": []}),
                              ("/api/v1/alerts", (), {"alerts": []})):
        status, _, body = sent(daemon, "GET", path, words)
        equal((status, json.loads(body)), (200, {"status": "success", "data": data}), path)
        equal(sent(daemon, "POST", path, words)[0], 405, path)


EXEMPLARS = "/api/v1/query_exemplars"
# What Grafana lists of all its Prometheus data sources: (path, parameters, data).
ALWAYS = (
    (EXEMPLARS, (("query", "test"), ("start", START * 1000), ("end", END * 1000)), []),
    (EXEMPLARS, (("query", "node_load1"), ("start", START), ("end", END)), []),
    ("/api/v1/format_query", (("query", "1"),), "1"),
    ("/api/v1/parse_query", (("query", "1"),), {"type": "numberLiteral", "val": "1"}),
    ("/api/v1/targets", (), {"activeTargets": [], "droppedTargets": [], "droppedTargetCounts": {}}),
    ("/api/v1/targets/metadata", (), []),
    ("/api/v1/alertmanagers", (), {"activeAlertmanagers": [], "droppedAlertmanagers": []}),
)
QUERIES = (EXEMPLARS, "/api/v1/format_query", "/api/v1/parse_query")


@fact
def there_are_no_exemplars_and_no_targets(daemon):
    """Newer forms try POST first, and GET if that is refused."""
    for path, words, data in ALWAYS:
        status, _, body = sent(daemon, "GET", path, words)
        equal((status, json.loads(body)), (200, {"status": "success", "data": data}), path)
        equal(sent(daemon, "POST", path, words)[0], 200 if path in QUERIES else 405, path)


@fact
def the_state_of_the_server_has_the_members_of_prometheus(daemon):
    for name, member in (("config", "yaml"), ("flags", "tsd.core.auto_create_metrics"), ("runtimeinfo", "startTime"), ("tsdb", "headStats")):
        status, _, body = sent(daemon, "GET", "/api/v1/status/" + name, ())
        equal((status, member in json.loads(body)["data"]), (200, True), name)


@fact
def a_panel_with_exemplars_has_its_points(daemon):
    """Grafana's server asks for both."""
    form = FORMS[-1]
    equal(sent(daemon, "POST", EXEMPLARS, points_words(form, query="node_load1", start=START, end=END))[0], 200)
    equal(len(over(daemon, form, "node_load1")), 2)


@contextlib.contextmanager
def running(tsdb):
    with tempfile.TemporaryDirectory(prefix="grafana-prometheus-") as folder:
        daemon = Daemon(tsdb, folder)
        daemon.start()
        try:
            fill(daemon)
            yield daemon
        finally:
            daemon.kill()


def main():
    with running(sys.argv[1]) as daemon:
        return told(daemon)


if __name__ == "__main__":
    sys.exit(main())
