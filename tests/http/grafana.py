#!/usr/bin/env python3
"""What Grafana's OpenTSDB data source asks, in the forms of all its versions, and read as strictly as it reads.

    grafana.py build/release/tsdb

Older Grafana asks from the browser, newer from its server, which decodes every value as a number: the text "NaN" loses the
whole panel there, and null counts as 0. docs/grafana.md names the two settings that keep it healthy; here a daemon has
them, and another one shows what is lost without. The last line reads "N passed, N failed".
"""
import contextlib
import json
import sys
import tempfile
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.dont_write_bytecode = True
from daemon import Daemon, Refused  # noqa: E402

HEALTHY = {"tsd.http.query.omit_nan": "true", "tsd.http.lookup.distinct_first": "true"}
START = 1700000000
STEP_S = 10
POINTS = 60
LOOKUP_LIMIT = 1000  # the data source's own default
HOSTS = 1500         # more series than that, those of the second place last


class Undecodable(AssertionError):
    pass


def fill(daemon):
    """cpu.user: two hosts in two places with a gap of five minutes; net.bytes: a counter that starts anew; many.series."""
    connection = daemon.connection()

    def put(points):
        connection.request("POST", "/api/put", json.dumps(points))
        answer = connection.getresponse()
        words = answer.read()
        if answer.status != 204:
            raise RuntimeError(f"put: {answer.status} {words!r}")

    for host, dc, base in (("web1", "lga", 10), ("web2", "fra", 20)):
        put([{"metric": "cpu.user", "timestamp": START + i * STEP_S, "value": base + i / 4, "tags": {"host": host, "dc": dc}}
             for i in range(POINTS) if not 20 <= i < 50])
        put([{"metric": "net.bytes", "timestamp": START + i * STEP_S, "value": (i % 40) * 1000,
              "tags": {"host": host, "dc": dc}} for i in range(POINTS)])
    for first in range(0, HOSTS, 500):
        put([{"metric": "many.series", "timestamp": START, "value": i,
              "tags": {"host": f"h{i:04}", "dc": "lga" if i < HOSTS - 10 else "fra"}} for i in range(first, first + 500)])
    for annotation in ({"startTime": START + 15, "description": "deployed"},
                       {"startTime": START + 25, "description": "web1 restarted", "tsuid": "000001000001000001000002000002"}):
        connection.request("POST", "/api/annotation", json.dumps(annotation))
        connection.getresponse().read()


# ---- As its server reads (versions of the data source: 1 up to 2.1, 2 for 2.2, 3 for 2.3, 4 for 2.4) ----

def decoded(value):
    """A number as Go's decoder takes it into a float."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Undecodable(f"{value!r} is no number")
    return float(value)


def server_query(daemon, query, version=3, end=START + POINTS * STEP_S):
    """Frames of one panel's query: [(metric, tags, aggregated tags, [(second, value)])]."""
    path = "/api/query" + ("?arrays=true" if version == 4 else "")
    body = {"start": START * 1000, "end": end * 1000, "queries": [query]}
    frames = []
    for series in daemon.post(path, body):
        points = series["dps"] if version == 4 else sorted((int(at), value) for at, value in series["dps"].items())
        frames.append((series["metric"], series["tags"], series["aggregateTags"],
                       [(int(decoded(at)), decoded(value)) for at, value in points]))
    return frames


# ---- As the browser asks and reads ----

def browser_query(daemon, queries, version, milliseconds=False, relative=False):
    body = {"start": START * 1000, "queries": queries, "msResolution": milliseconds, "globalAnnotations": True}
    if version == 3:
        body["showQuery"] = True
    if not relative:
        body["end"] = (START + POINTS * STEP_S) * 1000
    return daemon.post("/api/query", body)


def lookup(daemon, expression):
    words = urllib.parse.urlencode({"m": expression, "limit": LOOKUP_LIMIT})
    return [series["tags"] for series in daemon.get("/api/search/lookup?" + words)["results"]]


def suggest(daemon, kind, text):
    return daemon.get("/api/suggest?" + urllib.parse.urlencode({"type": kind, "q": text, "max": LOOKUP_LIMIT}))


# ---- Facts ----

FACTS = []


def fact(function):
    FACTS.append(function)
    return function


def equal(got, expected):
    if got != expected:
        raise AssertionError(f"{str(got)[:500]}, expected {str(expected)[:500]}")


@fact
def health_is_asked_by_a_suggestion(daemon, _):
    equal(daemon.get("/api/suggest?q=cpu&type=metrics"), ["cpu.user"])
    equal(daemon.get("/api/suggest?type=metrics&q=cpu&max=1000"), ["cpu.user"])


@fact
def lists_of_the_editor(daemon, _):
    functions = daemon.get("/api/aggregators")
    equal(all(isinstance(name, str) for name in functions), True)
    equal({"sum", "avg", "min", "max", "none", "zimsum", "dev", "count"} - set(functions), set())
    equal({"literal_or", "wildcard", "regexp", "iliteral_or", "not_literal_or"} - set(daemon.get("/api/config/filters")), set())
    equal(suggest(daemon, "metrics", ""), ["cpu.user", "many.series", "net.bytes"])
    equal(suggest(daemon, "tagk", "ho"), ["host"])
    equal(suggest(daemon, "tagv", "web"), ["web1", "web2"])


@fact
def keys_and_values_of_variables(daemon, _):
    keys = {key for tags in lookup(daemon, "cpu.user") for key in tags}
    equal(keys, {"host", "dc"})
    equal({tags["host"] for tags in lookup(daemon, "cpu.user{host=*}")}, {"web1", "web2"})
    equal({tags["host"] for tags in lookup(daemon, "cpu.user{host=*,dc=lga}")}, {"web1"})


@fact
def a_variable_has_every_value_though_its_metric_has_more_series_than_the_limit(daemon, plain):
    equal({tags["dc"] for tags in lookup(daemon, "many.series{dc=*}")}, {"lga", "fra"})
    equal(len(lookup(daemon, "many.series{dc=*}")), LOOKUP_LIMIT)
    equal({tags["dc"] for tags in lookup(plain, "many.series{dc=*}")}, {"lga"})


@fact
def an_unknown_metric_is_an_error_not_an_empty_list(daemon, _):
    try:
        lookup(daemon, "no.such")
    except Refused as refused:
        return equal(refused.status, 404)
    raise AssertionError("nothing was refused")


@fact
def server_side_queries_of_all_versions_read_the_same(daemon, _):
    query = {"metric": "cpu.user", "aggregator": "avg", "downsample": "1m-avg", "tags": {"host": "*"}}
    frames = server_query(daemon, query, version=1)
    equal([(tags["host"], len(points)) for _, tags, _, points in frames], [("web1", 6), ("web2", 6)])
    equal(frames[0][3][0], (START + 40, 11.625))
    for version in (2, 3, 4):
        equal(server_query(daemon, query, version), frames)


@fact
def tags_filters_and_explicit_tags(daemon, _):
    by_filter = {"metric": "cpu.user", "aggregator": "sum", "downsample": "1m-avg", "explicitTags": True, "filters": [
        {"type": "literal_or", "tagk": "host", "filter": "web1|web2", "groupBy": True},
        {"type": "wildcard", "tagk": "dc", "filter": "*", "groupBy": False}]}
    by_tags = {"metric": "cpu.user", "aggregator": "sum", "downsample": "1m-avg", "tags": {"host": "web1|web2"}}
    strip = [(metric, points) for metric, _, _, points in server_query(daemon, by_tags)]
    equal([(metric, points) for metric, _, _, points in server_query(daemon, by_filter)], strip)
    # Of a key that is missing among explicit tags no series is left.
    equal(server_query(daemon, {**by_filter, "filters": by_filter["filters"][:1]}), [])
    _, tags, aggregated, _ = server_query(daemon, {"metric": "cpu.user", "aggregator": "sum", "downsample": "1m-avg"})[0]
    equal((tags, sorted(aggregated)), ({}, ["dc", "host"]))


@fact
def intervals_as_grafana_writes_them(daemon, _):
    for interval in ("500ms", "1s", "30s", "1m", "6h", "1d"):
        equal(len(server_query(daemon, {"metric": "cpu.user", "aggregator": "sum", "downsample": interval + "-avg"})), 1)


@fact
def rates_with_numbers_that_have_a_fraction(daemon, _):
    rate = {"metric": "net.bytes", "aggregator": "sum", "rate": True, "tags": {"host": "web1"}, "downsample": "10s-sum"}
    plain = server_query(daemon, {**rate, "rateOptions": {"counter": False}})[0][3]
    equal(min(value for _, value in plain), -3900.0)
    for options in ({"counter": True, "dropResets": True}, {"counter": True, "resetValue": 1.0, "counterMax": 65536.5}):
        points = server_query(daemon, {**rate, "rateOptions": options})[0][3]
        equal(min(value for _, value in points) >= 0, True)


@fact
def gaps_that_are_filled_do_not_lose_the_panel(daemon, plain):
    for policy, lost in (("nan", True), ("null", False)):
        query = {"metric": "cpu.user", "aggregator": "avg", "downsample": f"1m-avg-{policy}", "tags": {"host": "web1"}}
        for version in (3, 4):
            points = server_query(daemon, query, version)[0][3]
            equal(len(points), 6)
            equal(any(value == 0 for _, value in points), False)
            # Without the setting: an error, or zeros that nobody measured.
            try:
                zeros = [value for _, value in server_query(plain, query, version)[0][3] if value == 0]
                equal((lost, bool(zeros)), (False, True))
            except Undecodable:
                equal(lost, True)
    zeros = server_query(daemon, {"metric": "cpu.user", "aggregator": "avg", "downsample": "1m-avg-zero"})[0][3]
    equal(any(value == 0 for _, value in zeros), True)


@fact
def the_browser_finds_its_query_again(daemon, _):
    queries = [{"metric": "net.bytes", "aggregator": "sum", "downsample": "1m-avg"},
               {"metric": "cpu.user", "aggregator": "sum", "downsample": "1m-avg", "tags": {"host": "web1|web2"}}]
    answer = browser_query(daemon, queries, version=3)
    equal(sorted((series["query"]["index"], series["metric"]) for series in answer),
          [(0, "net.bytes"), (1, "cpu.user"), (1, "cpu.user")])
    for version in (1, 2):  # by metric and tags
        answer = browser_query(daemon, queries, version)
        equal(any("query" in series for series in answer), False)
        equal(sorted(series["tags"].get("host", "") for series in answer), ["", "web1", "web2"])


@fact
def the_browser_reads_milliseconds_where_it_asked_for_them(daemon, _):
    query = [{"metric": "cpu.user", "aggregator": "sum", "downsample": "1m-avg"}]
    seconds = browser_query(daemon, query, version=2)[0]["dps"]
    millis = browser_query(daemon, query, version=2, milliseconds=True)[0]["dps"]
    equal({int(at) // 1000: value for at, value in millis.items()}, {int(at): value for at, value in seconds.items()})
    equal(browser_query(daemon, query, version=2, relative=True)[0]["dps"], seconds)  # without an end: until now


@fact
def annotations_of_a_metric_and_global_ones(daemon, _):
    answer = browser_query(daemon, [{"metric": "cpu.user", "aggregator": "sum"}], version=3)[0]
    equal([(note["description"], note["startTime"]) for note in answer["annotations"]], [("web1 restarted", START + 25)])
    equal([(note["description"], note["startTime"]) for note in answer["globalAnnotations"]], [("deployed", START + 15)])


@fact
def an_error_is_told_where_grafana_looks_for_it(daemon, _):
    try:
        server_query(daemon, {"metric": "no.such", "aggregator": "sum", "downsample": "1m-avg"})
    except Refused as refused:
        equal(refused.status, 400)
        return equal("No such name for" in str(refused), True)
    raise AssertionError("nothing was refused")


@contextlib.contextmanager
def running(tsdb, settings):
    with tempfile.TemporaryDirectory(prefix="grafana-") as folder:
        daemon = Daemon(tsdb, folder, settings)
        daemon.start()
        try:
            fill(daemon)
            yield daemon
        finally:
            daemon.kill()


def main():
    failed = 0
    with running(sys.argv[1], HEALTHY) as daemon, running(sys.argv[1], {}) as plain:
        for each in FACTS:
            try:
                each(daemon, plain)
            except (AssertionError, RuntimeError, KeyError, IndexError, TypeError) as error:
                failed += 1
                print(f"FAIL {each.__name__}: {type(error).__name__} {error}")
    print(f"{len(FACTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
