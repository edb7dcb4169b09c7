#!/usr/bin/env python3
"""What Grafana's OpenTSDB data source asks, in the forms of all its versions, and read as strictly as it reads.

    grafana.py build/release/tsdb

Older Grafana asks from the browser, newer from its server, which decodes every value as a number: the text "NaN" loses the
whole panel there, and null counts as 0. docs/grafana.md names the two settings that keep it healthy, and the one for Access
"Browser"; here a daemon has them, and another one shows what is lost without. SERVERS and BROWSERS are the forms, a row for
each range of Grafana's releases. The last line reads "N passed, N failed".
"""
import contextlib
import gzip
import json
import sys
import tempfile
import urllib.parse
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.dont_write_bytecode = True
from daemon import Daemon, Refused  # noqa: E402
from facts import equal, fact, told  # noqa: E402

GRAFANA = "https://grafana.example:3000"  # its address, which is the origin of requests from a browser
HEALTHY = {"tsd.http.query.omit_nan": "true", "tsd.http.lookup.distinct_first": "true",
           "tsd.http.request.cors_domains": GRAFANA}
START = 1700000000
STEP_S = 10
POINTS = 60
END = START + POINTS * STEP_S
LOOKUP_LIMIT = 1000  # the default of the data source
HOSTS = 1500         # more series than the default limit; those of the second place are last


# ---- The forms. A version is what the data source's settings call the daemon: 1 is 2.1 and before, 2 is 2.2, 3 is 2.3,
# ---- 4 is 2.4. Where a form begins is known from Grafana's history, to a release or so.

@dataclass(frozen=True)
class Server:
    """The requests of Grafana's server: for alerts in all versions, for panels from 12.4 on."""
    releases: str
    arrays: tuple = ()  # the versions that ask for points as pairs
    # From this version on: a request for each query instead of one for a panel; with explicitTags; no dash for a fill that was
    # not chosen; and with the numbers that were typed, which were sent as 0 before.
    current: bool = False
    unit_s: float = 0.001  # the unit of start and end


SERVERS = (
    Server("4.0 to 11.1"),
    Server("11.2 to 11.5", arrays=(1, 2, 3, 4)),
    Server("11.6 to 12.3", arrays=(4,)),
    Server("12.4 to 13.1", arrays=(4,), current=True),
    Server("the plug-in of its own", arrays=(4,), current=True, unit_s=1),
)


@dataclass(frozen=True)
class Browser:
    """The requests of Grafana's page, sent through its server (Access "Server") or directly ("Browser")."""
    releases: str
    versions: tuple
    most: int | None          # limit of suggestions
    values_limit: int | None  # limit of the lookup for tag_values(); None: OpenTSDB's default of 25
    keys_limit: int | None    # limit of the lookup for tag_names()
    settings: bool = True     # the data source has settings for version and resolution, and annotations
    index: tuple = ()         # the versions that match a result to its query by the index
    whole: bool = False       # a query is sent with all fields that the dashboard stores for it


BROWSERS = (
    Browser("1.8 to 2.1", (1,), most=None, values_limit=None, keys_limit=None, settings=False),
    Browser("2.2 to 2.6", (1,), most=1000, values_limit=3000, keys_limit=1000, settings=False),
    Browser("3.0 to 3.1", (1, 2), most=1000, values_limit=3000, keys_limit=1000),
    Browser("4.0 to 6.5", (1, 2, 3), most=1000, values_limit=3000, keys_limit=1000, index=(3,)),
    Browser("6.6 to 11.5", (1, 2, 3), most=LOOKUP_LIMIT, values_limit=LOOKUP_LIMIT, keys_limit=1000, index=(3,)),
    Browser("11.6 to 12.3", (1, 2, 3, 4), most=LOOKUP_LIMIT, values_limit=LOOKUP_LIMIT, keys_limit=1000, index=(3,)),
    Browser("12.4 to 13.1", (1, 2, 3, 4), most=LOOKUP_LIMIT, values_limit=LOOKUP_LIMIT, keys_limit=1000, index=(3,),
            whole=True),
)


def number(text):
    """The number as Go and JavaScript print it: 65536, not 65536.0."""
    value = float(text)
    return int(value) if value.is_integer() else value


def server_rate(form, target):
    options = {"counter": target.get("isCounter", False)}
    typed = {key: target[key] for key in ("counterMax", "counterResetValue") if key in target}
    # A number typed into a field is stored as text, which older servers do not accept as a number.
    numbers = {key: number(text) if form.current else 0 for key, text in typed.items()}
    if "counterMax" in numbers:
        options["counterMax"] = numbers["counterMax"]
    if "counterResetValue" in numbers:
        options["resetValue"] = numbers["counterResetValue"]
    if "counterMax" not in numbers and numbers.get("counterResetValue", 0) == 0:
        options["dropResets"] = True
    return options


def server_form(form, target):
    """A dashboard's query in the form in which the server sends it."""
    query = {"metric": target["metric"], "aggregator": target["aggregator"]}
    if not target.get("disableDownsampling"):
        policy = target.get("downsampleFillPolicy", "" if not form.current else "none")
        query["downsample"] = (target.get("downsampleInterval", "1m") + "-" + target["downsampleAggregator"] +
                               ("" if policy == "none" else "-" + policy))
    if target.get("shouldComputeRate"):
        query.update(rate=True, rateOptions=server_rate(form, target))
    for key in ("tags", "filters"):
        if target.get(key):
            query[key] = target[key]
    if form.current and target.get("explicitTags"):
        query["explicitTags"] = True
    return query


def browser_form(form, version, target):
    query = dict(target) if form.whole else {"metric": target["metric"], "aggregator": target["aggregator"]}
    if target.get("shouldComputeRate"):
        options = {"counter": target.get("isCounter", False)}
        for key, name in (("counterMax", "counterMax"), ("counterResetValue", "resetValue")):
            if target.get(key):
                options[name] = int(target[key])
        if form.settings and version >= 2:
            options["dropResets"] = "counterMax" not in options  # independent of the reset value
        query.update(rate=True, rateOptions=options)
    if not target.get("disableDownsampling"):
        policy = target.get("downsampleFillPolicy", "none")
        query["downsample"] = (target.get("downsampleInterval", "1m") + "-" + target["downsampleAggregator"] +
                               ("" if policy == "none" else "-" + policy))
    if target.get("filters"):
        query["filters"] = target["filters"]
    elif "tags" in target:
        query["tags"] = target["tags"]
    if form.settings and target.get("explicitTags"):
        query["explicitTags"] = True
    return query


class Undecodable(AssertionError):
    pass


def cpu(i):
    """The i-th value of cpu.user above its base; None in the gap in the middle."""
    return None if 20 <= i < 50 else i / 4


def net(i):
    return (i % 40) * 1000


def minutes(value_at):
    """[(second, mean)] for the minutes that begin within the range; value_at gives the value of a step, or None."""
    found = {}
    for i in range(POINTS):
        at = START + i * STEP_S
        if value_at(i) is not None and at - at % 60 >= START:
            found.setdefault(at - at % 60, []).append(value_at(i))
    return [(at, sum(values) / len(values)) for at, values in sorted(found.items())]


def fill(daemon):
    """Writes cpu.user (two hosts in two places, with a gap of five minutes), net.bytes (a counter that restarts) and many.series."""
    connection = daemon.connection()
    for host, dc, base in (("web1", "lga", 10), ("web2", "fra", 20)):
        daemon.put([{"metric": "cpu.user", "timestamp": START + i * STEP_S, "value": base + cpu(i), "tags": {"host": host, "dc": dc}}
                    for i in range(POINTS) if cpu(i) is not None])
        daemon.put([{"metric": "net.bytes", "timestamp": START + i * STEP_S, "value": net(i),
                     "tags": {"host": host, "dc": dc}} for i in range(POINTS)])
    for first in range(0, HOSTS, 500):
        daemon.put([{"metric": "many.series", "timestamp": START, "value": i,
                     "tags": {"host": f"h{i:04}", "dc": "lga" if i < HOSTS - 10 else "fra"}} for i in range(first, first + 500)])
    for annotation in ({"startTime": START + 15, "description": "deployed"},
                       {"startTime": START + 25, "description": "web1 restarted", "tsuid": "000001000001000001000002000002"}):
        connection.request("POST", "/api/annotation", json.dumps(annotation))
        connection.getresponse().read()


def sent(daemon, method, path, document=None, headers=None):
    """Status, fields and text of a response, which may be compressed, because Go and browsers ask for that."""
    connection = daemon.connection()
    try:
        connection.request(method, path, None if document is None else json.dumps(document),
                           {"Accept-Encoding": "gzip", **(headers or {})})
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    fields = {name.lower(): value for name, value in answer.getheaders()}
    return answer.status, fields, gzip.decompress(body) if fields.get("content-encoding") == "gzip" else body


def asked(daemon, path, document):
    status, _, body = sent(daemon, "POST", path, document, {"Content-Type": "application/json"})
    if status != 200:
        raise Refused("POST", path, status, body)
    return json.loads(body)


# ---- How Grafana's server reads answers ----

def decoded(value):
    """The number that Go's decoder reads into a float."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Undecodable(f"{value!r} is no number")
    return float(value)


def frames_of(daemon, form, version, queries):
    """The frames of one request: [(metric, tags, aggregated tags, [(second, value)])]."""
    arrays = version in form.arrays
    body = {"start": int(START / form.unit_s), "end": int(END / form.unit_s), "queries": queries}
    frames = []
    for series in asked(daemon, "/api/query" + ("?arrays=true" if arrays else ""), body):
        points = series["dps"] if arrays else sorted((int(at), value) for at, value in series["dps"].items())
        frames.append((series["metric"], series["tags"], series["aggregateTags"],
                       [(int(decoded(at)), decoded(value)) for at, value in points]))
    return frames


def server_query(daemon, query, version=3):
    """The frames of one query."""
    return frames_of(daemon, SERVERS[-2], version, [query])


def server_panel(daemon, form, version, targets):
    """The frames of a panel's queries."""
    queries = [server_form(form, target) for target in targets]
    if not form.current:
        return frames_of(daemon, form, version, queries)
    return [frame for query in queries for frame in frames_of(daemon, form, version, [query])]


# ---- How the browser asks and reads ----

def browser_body(form, version, queries, milliseconds=False, relative=False):
    body = {"start": START * 1000, "queries": queries}
    if form.settings:
        body.update(msResolution=milliseconds, globalAnnotations=True)
    if version in form.index:
        body["showQuery"] = True
    if not relative:
        body["end"] = END * 1000
    return body


def browser_query(daemon, queries, version, milliseconds=False, relative=False, form=BROWSERS[-2]):
    return asked(daemon, "/api/query", browser_body(form, version, queries, milliseconds, relative))


def owner(series, form, version, targets):
    """The position of the panel's query to which a result belongs."""
    if version in form.index:
        return series["query"]["index"]
    for i, target in enumerate(targets):
        wanted = {} if target.get("filters") else target.get("tags", {})
        if target["metric"] == series["metric"] and all(
                value == "*" or series["tags"].get(key) in value.split("|") for key, value in wanted.items()):
            return i
    return 0


def browser_panel(daemon, form, version, targets):
    """Returns [(position of the query, metric, tags, [(second, value)])]."""
    answer = browser_query(daemon, [browser_form(form, version, target) for target in targets], version, form=form)
    return [(owner(series, form, version, targets), series["metric"], series["tags"],
             sorted((int(at), decoded(value)) for at, value in series["dps"].items())) for series in answer]


def words_of(path, **words):
    """A path with the parameters that are given."""
    return path + "?" + urllib.parse.urlencode({key: value for key, value in words.items() if value is not None})


def lookup(daemon, expression, limit=LOOKUP_LIMIT):
    return [series["tags"] for series in daemon.get(words_of("/api/search/lookup", m=expression, limit=limit))["results"]]


def suggest(daemon, kind, text, most=LOOKUP_LIMIT):
    return daemon.get(words_of("/api/suggest", type=kind, q=text, max=most))


# ---- The tests ----


def server_rows():
    return [(form, version, f"server {form.releases}, version {version}") for form in SERVERS for version in (1, 2, 3, 4)]


def browser_rows():
    return [(form, version, f"browser {form.releases}, version {version}") for form in BROWSERS for version in form.versions]


def in_order(rows):
    return sorted(rows, key=str)


@fact
def health_is_asked_by_a_suggestion(daemon, _):
    equal(daemon.get("/api/suggest?q=cpu&type=metrics"), ["cpu.user"])
    for form in BROWSERS:
        equal(suggest(daemon, "metrics", "cpu", form.most), ["cpu.user"], form.releases)


# Two queries of a panel as a dashboard stores them; no fill was chosen for the second.
NET = {"refId": "A", "datasource": {"type": "opentsdb", "uid": "d1"}, "metric": "net.bytes", "aggregator": "sum",
       "downsampleInterval": "1m", "downsampleAggregator": "avg", "downsampleFillPolicy": "none", "alias": "net",
       "currentTagKey": "", "hide": False}
CPU = {"refId": "B", "metric": "cpu.user", "aggregator": "avg", "downsampleAggregator": "avg",
       "tags": {"host": "web1|web2"}, "isCounter": False}
PANEL = (NET, CPU)


def of_cpu(base):
    return minutes(lambda i: None if cpu(i) is None else base + cpu(i))


@fact
def a_panel_is_the_same_in_all_forms_of_the_server(daemon, _):
    wanted = in_order([("net.bytes", {}, ["dc", "host"], minutes(lambda i: 2 * net(i))),
                       ("cpu.user", {"host": "web1", "dc": "lga"}, [], of_cpu(10)),
                       ("cpu.user", {"host": "web2", "dc": "fra"}, [], of_cpu(20))])
    for form, version, row in server_rows():
        frames = [(metric, tags, sorted(aggregated), points)
                  for metric, tags, aggregated, points in server_panel(daemon, form, version, PANEL)]
        equal(in_order(frames), wanted, row)


@fact
def a_panel_is_the_same_in_all_forms_of_the_browser(daemon, _):
    wanted = in_order([(0, "net.bytes", {}, minutes(lambda i: 2 * net(i))),
                       (1, "cpu.user", {"host": "web1", "dc": "lga"}, of_cpu(10)),
                       (1, "cpu.user", {"host": "web2", "dc": "fra"}, of_cpu(20))])
    for form, version, row in browser_rows():
        equal(in_order(browser_panel(daemon, form, version, PANEL)), wanted, row)


@fact
def a_fill_that_nobody_chose_is_none_though_older_servers_leave_its_dash(daemon, _):
    equal([server_form(form, CPU)["downsample"] for form in SERVERS],
          ["1m-avg-", "1m-avg-", "1m-avg-", "1m-avg", "1m-avg"])
    equal(server_query(daemon, {"metric": "cpu.user", "aggregator": "sum", "downsample": "1m-avg-", "tags": {"host": "web1"}}),
          server_query(daemon, {"metric": "cpu.user", "aggregator": "sum", "downsample": "1m-avg", "tags": {"host": "web1"}}))


@fact
def queries_with_filters_and_explicit_tags_in_all_forms(daemon, _):
    """Older servers do not send explicitTags, but get the same series, because the filters name all keys of the series."""
    target = {**CPU, "explicitTags": True, "tags": {}, "filters": [
        {"type": "literal_or", "tagk": "host", "filter": "web1|web2", "groupBy": True},
        {"type": "wildcard", "tagk": "dc", "filter": "*", "groupBy": False}]}
    wanted = in_order([("web1", of_cpu(10)), ("web2", of_cpu(20))])
    one_key = {**target, "filters": target["filters"][:1]}
    for form, version, row in server_rows():
        equal(in_order([(tags["host"], points) for _, tags, _, points in server_panel(daemon, form, version, [target])]),
              wanted, row)
        equal(len(server_panel(daemon, form, version, [one_key])), 0 if form.current else 2, row)
    for form, version, row in browser_rows():
        equal(in_order([(tags["host"], points) for _, _, tags, points in browser_panel(daemon, form, version, [target])]),
              wanted, row)
        equal(len(browser_panel(daemon, form, version, [one_key])), 0 if form.settings else 2, row)


# The options for the rate of a counter that restarts after 39000, and the expected rate for that step of 10 s: for
# servers that send the numbers that were typed, and for older servers, which send 0 instead.
RATES = (
    ({}, -3900.0, -3900.0),
    ({"isCounter": True}, None, None),
    ({"isCounter": True, "counterMax": "65536"}, 2653.6, -3900.0),
    ({"isCounter": True, "counterMax": "65536", "counterResetValue": "1"}, 0.0, -3900.0),
    ({"isCounter": True, "counterMax": "65536", "counterResetValue": "5000"}, 2653.6, -3900.0),
    ({"isCounter": True, "counterResetValue": "0"}, None, None),
)
RATE = {"metric": "net.bytes", "aggregator": "sum", "downsampleInterval": "10s", "downsampleAggregator": "sum",
        "tags": {"host": "web1"}, "shouldComputeRate": True}


def rates(at_reset):
    return [(START + i * STEP_S, 100.0 if i != 40 else at_reset) for i in range(1, POINTS) if i != 40 or at_reset is not None]


@fact
def what_is_sent_for_a_rate_that_was_ticked(*_):
    equal([server_form(form, {**RATE, **ticked})["rateOptions"] for form in SERVERS[2:4] for ticked, _, _ in RATES], [
        {"counter": False, "dropResets": True},
        {"counter": True, "dropResets": True},
        {"counter": True, "counterMax": 0},
        {"counter": True, "counterMax": 0, "resetValue": 0},
        {"counter": True, "counterMax": 0, "resetValue": 0},
        {"counter": True, "resetValue": 0, "dropResets": True},
        {"counter": False, "dropResets": True},
        {"counter": True, "dropResets": True},
        {"counter": True, "counterMax": 65536},
        {"counter": True, "counterMax": 65536, "resetValue": 1},
        {"counter": True, "counterMax": 65536, "resetValue": 5000},
        {"counter": True, "resetValue": 0, "dropResets": True}])
    equal([browser_form(BROWSERS[4], version, {**RATE, **ticked})["rateOptions"]
           for version in (1, 2) for ticked, _, _ in RATES[:4]], [
        {"counter": False},
        {"counter": True},
        {"counter": True, "counterMax": 65536},
        {"counter": True, "counterMax": 65536, "resetValue": 1},
        {"counter": False, "dropResets": True},
        {"counter": True, "dropResets": True},
        {"counter": True, "counterMax": 65536, "dropResets": False},
        {"counter": True, "counterMax": 65536, "resetValue": 1, "dropResets": False}])


@fact
def rates_in_all_forms_of_the_server(daemon, _):
    for form, version, row in server_rows():
        for ticked, current, older in RATES:
            equal([points for *_, points in server_panel(daemon, form, version, [{**RATE, **ticked}])],
                  [rates(current if form.current else older)], f"{row}, {ticked}")


@fact
def rates_in_all_forms_of_the_browser(daemon, _):
    # Without dropResets and without a maximum, the largest 64-bit integer counts as the counter's maximum.
    rollover = (2**63 - 1 - 39000) / 10
    for form, version, row in browser_rows():
        for ticked, wanted, _ in RATES:
            if wanted is None and (not form.settings or version == 1):
                wanted = rollover
            equal([points for *_, points in browser_panel(daemon, form, version, [{**RATE, **ticked}])],
                  [rates(wanted)], f"{row}, {ticked}")
    # Resets should be dropped although a reset value was typed, which then has no effect.
    typed = {**RATE, "isCounter": True, "counterResetValue": "1"}
    equal(browser_form(BROWSERS[4], 2, typed)["rateOptions"], {"counter": True, "resetValue": 1, "dropResets": True})
    equal([points for *_, points in browser_panel(daemon, BROWSERS[4], 2, [typed])], [rates(None)])


@fact
def two_queries_of_one_metric_are_told_apart_by_their_index_only(daemon, _):
    """Which of the versions is 2.3; 2.4 is asked without."""
    twice = ({**CPU, "downsampleAggregator": "max"}, CPU)
    for form, version, row in browser_rows():
        places = sorted(place for place, *_ in browser_panel(daemon, form, version, twice))
        equal(places, [0, 0, 1, 1] if version == 3 else [0, 0, 0, 0], row)


@fact
def pairs_and_the_name_of_the_query_go_together(daemon, _):
    """No release is known to ask for both at once, but a program between Grafana and the daemon may."""
    body = browser_body(BROWSERS[3], 3, [browser_form(BROWSERS[3], 3, target) for target in PANEL])
    answer = asked(daemon, "/api/query?arrays=true", body)
    equal(in_order([(series["query"]["index"], series["metric"], [tuple(pair) for pair in series["dps"]])
                    for series in answer]),
          in_order([(0, "net.bytes", minutes(lambda i: 2 * net(i))), (1, "cpu.user", of_cpu(10)), (1, "cpu.user", of_cpu(20))]))


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
def variables_in_all_forms_of_the_browser(daemon, plain):
    for form in BROWSERS:
        for each in (daemon, plain):
            equal({key for tags in lookup(each, "cpu.user", form.keys_limit) for key in tags}, {"host", "dc"}, form.releases)
            equal({tags["host"] for tags in lookup(each, "cpu.user{host=*,dc=lga}", form.values_limit)}, {"web1"},
                  form.releases)
            found = lookup(each, "many.series{dc=*}", form.values_limit)
            equal(len(found), min(HOSTS, form.values_limit or 25), form.releases)
            # A limit of 3000 exceeds the number of series; with the default, the first ones are all of one place.
            whole = each is daemon or form.values_limit == 3000
            equal({tags["dc"] for tags in found}, {"lga", "fra"} if whole else {"lga"}, form.releases)


@fact
def a_server_whose_settings_name_no_limit_asks_for_0_which_is_none(daemon, plain):
    for each in (daemon, plain):
        equal(len(lookup(each, "many.series{dc=*}", 0)), HOSTS)


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
    equal(frames[0][3], of_cpu(10))
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
    # With explicit tags that lack a key of the series, no series is left.
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
    equal(browser_query(daemon, query, version=2, relative=True)[0]["dps"], seconds)  # without an end, the range lasts until now


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


# ---- Access "Browser": the page asks the daemon directly, and the browser hides what CORS does not allow ----

def let_in(daemon, origin, method, fields, credentials=False):
    """Whether a browser sends the request, judging by the answer to its preflight request."""
    status, answer, body = sent(daemon, "OPTIONS", "/api/query", None, {
        "Origin": origin, "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": ",".join(sorted(field.lower() for field in fields))})

    def listed(name):
        return [word.strip().lower() for word in answer.get(name, "").split(",")]

    return (200 <= status < 300 and answer.get("access-control-allow-origin") == origin
            and method.lower() in listed("access-control-allow-methods")
            and all(field.lower() in listed("access-control-allow-headers") for field in fields)
            and (not credentials or answer.get("access-control-allow-credentials") == "true")), status, body


def shown(daemon, origin, method, path, document=None, fields=None):
    """The status and the answer as the page sees them; None if the browser hides the answer."""
    status, answer, body = sent(daemon, method, path, document, {"Origin": origin, **(fields or {})})
    return (status, json.loads(body)) if answer.get("access-control-allow-origin") in (origin, "*") else None


QUERY_FIELDS = {"Content-Type": "application/json;charset=utf-8"}


@fact
def a_page_asks_by_itself_where_grafana_s_address_is_named(daemon, _):
    equal(let_in(daemon, GRAFANA, "POST", QUERY_FIELDS), (True, 200, b""))
    for form, version, row in browser_rows():
        body = browser_body(form, version, [browser_form(form, version, CPU)])
        status, answer = shown(daemon, GRAFANA, "POST", "/api/query", body, QUERY_FIELDS)
        equal(status, 200, row)
        equal(in_order([sorted((int(at), value) for at, value in series["dps"].items()) for series in answer]),
              in_order([of_cpu(10), of_cpu(20)]), row)
        lookups = words_of("/api/search/lookup", m="cpu.user{host=*}", limit=form.values_limit)
        equal({series["tags"]["host"] for series in shown(daemon, GRAFANA, "GET", lookups)[1]["results"]}, {"web1", "web2"}, row)
        equal(shown(daemon, GRAFANA, "GET", words_of("/api/suggest", type="metrics", q="cpu", max=form.most)),
              (200, ["cpu.user"]), row)
    for path in ("/api/aggregators", "/api/config/filters"):
        equal(shown(daemon, GRAFANA, "GET", path)[0], 200)
    # The page can read the error message, not only that there was an error.
    status, answer = shown(daemon, GRAFANA, "POST", "/api/query",
                           browser_body(BROWSERS[5], 3, [{"metric": "no.such", "aggregator": "sum"}]), QUERY_FIELDS)
    equal((status, answer["error"]["message"]), (400, "No such name for 'metrics': 'no.such'"))


@fact
def a_page_gets_nothing_where_its_address_is_not_named(daemon, plain):
    equal(let_in(plain, GRAFANA, "POST", QUERY_FIELDS)[:2], (False, 405))
    equal(shown(plain, GRAFANA, "GET", "/api/aggregators"), None)
    stranger = "https://elsewhere.example"
    equal(let_in(daemon, stranger, "POST", QUERY_FIELDS)[:2], (False, 200))
    status, fields, body = sent(daemon, "GET", "/api/suggest?type=metrics&q=cpu", None, {"Origin": stranger})
    equal((status, [name for name in fields if name.startswith("access-control")], json.loads(body)["error"]["message"]),
          (200, [], "CORS domain not allowed"))


@fact
def a_page_does_not_send_a_password_by_itself(daemon, _):
    """Basic auth with Access "Browser" does not work: the daemon never allows credentials from other pages."""
    equal(let_in(daemon, GRAFANA, "POST", {**QUERY_FIELDS, "Authorization": "Basic eDp5"})[0], True)
    equal(let_in(daemon, GRAFANA, "POST", {**QUERY_FIELDS, "Authorization": "Basic eDp5"}, credentials=True)[0], False)


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
    with running(sys.argv[1], HEALTHY) as daemon, running(sys.argv[1], {}) as plain:
        return told(daemon, plain)


if __name__ == "__main__":
    sys.exit(main())
