#!/usr/bin/env python3
"""Points of Prometheus, OpenTelemetry, InfluxDB, Graphite and CSV are stored as users of these systems expect.

    foreign_writes.py build/release/tsdb

A daemon with the settings of the package takes writes over every protocol. The last line reads "N passed, N failed".
"""
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import remote_read  # noqa: E402
import remote_write  # noqa: E402
from daemon import Daemon, Refused, free_port  # noqa: E402
from facts import equal, fact, told  # noqa: E402

T = 1700000000
HOUR = 1699999200  # the begin of its hour
PATIENCE_S = 30
LABELS_MAX = 40  # tsd.ingest.max_tags
LIMIT = "tsd.ingest.max_tags"
NOT_LOGGED = "(not logged)"


class Writer:
    """A server, and a protocol to write over it. write(metric, tags, seconds, value as text) gives (status, text)."""

    def __init__(self, server):
        self.server = server

    def post(self, path, body, headers=None):
        connection = self.server.connection()
        connection.request("POST", path, body, headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def put(self, metric, tags, seconds, value):
        return self.post("/api/put?details", f'{{"metric":"{metric}","timestamp":{seconds},"value":{value},"tags":{json.dumps(tags)}}}')

    def telnet(self, metric, tags, seconds, value):
        words = " ".join(f"{key}={text}" for key, text in tags.items())
        with self.server.raw() as line:
            line.sendall(f"put {metric} {seconds} {value} {words}\nversion\n".encode())
            text = b""
            while b"Built on" not in text:
                text += line.recv(65536)
        return (400 if text.startswith(b"put:") else 200), text.decode()

    def influx(self, metric, tags, seconds, value, path="/write?precision=s"):
        words = "".join(f",{key}={text}" for key, text in tags.items())
        number = value if "." in value or "N" in value or "I" in value else value + "i"
        return self.post(path, f"{metric}{words} value={number} {seconds}")

    def influx_2(self, metric, tags, seconds, value):
        return self.influx(metric, tags, seconds, value, "/api/v2/write?bucket=b&precision=s")

    def otlp(self, metric, tags, seconds, value):
        number = {"asInt": value} if re.fullmatch(r"-?\d+", value) else {"asDouble": value if "N" in value or "I" in value else float(value)}
        attributes = [{"key": key, "value": {"stringValue": text}} for key, text in tags.items()]
        status, text = self.post("/v1/metrics", json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": metric, "gauge": {
            "dataPoints": [{"timeUnixNano": str(seconds * 10**9), **number, "attributes": attributes}]}}]}]}]}), {"Content-Type": "application/json"})
        return (400 if "rejectedDataPoints" in text else status), text

    def remote(self, metric, tags, seconds, value):
        return remote_write.write(self.server.port, [({"__name__": metric, **tags}, [(seconds * 1000, float(value))])])

    def remote_2(self, metric, tags, seconds, value):
        return remote_write.write_2(self.server.port, [({"__name__": metric, **tags}, [(seconds * 1000, float(value))])])[:2]

    def graphite(self, metric, tags, seconds, value):
        """Has no answer: waits until the point is counted, as stored or as wrong. Not every wrong point is logged: NOT_LOGGED."""
        def counted():
            found = {"tsd.datapoints.added": 0, "tsd.rpc.errors": 0}
            for entry in self.server.get("/api/stats"):
                if entry["metric"] in found:
                    found[entry["metric"]] += int(entry["value"])
            return found
        before, log_before = counted(), len(self.server.log_text())
        with self.server.graphite() as line:
            line.sendall(f"{metric}{''.join(f';{key}={text}' for key, text in tags.items())} {value} {seconds}\n".encode())
            line.shutdown(1)
            line.recv(1)
        give_up = time.monotonic() + PATIENCE_S
        while counted() == before and time.monotonic() < give_up:
            time.sleep(0.01)
        said = self.server.log_text()[log_before:]
        wrong = counted()["tsd.rpc.errors"] > before["tsd.rpc.errors"]
        return (400 if wrong else 204), (said if "graphite: " in said or not wrong else NOT_LOGGED)

    def csv(self, metric, tags, seconds, value):
        table = ",".join(["metric", "time", "value", *tags]) + "\n" + ",".join([metric, str(seconds), value, *tags.values()]) + "\n"
        config = f"--config={self.server.folder / 'tsd.conf'}"
        done = subprocess.run([self.server.tsdb, "import", config, "--csv", "--", "-"], input=table, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
        return (204 if done.returncode == 0 else 400), done.stderr


OWN = ("put", "telnet")
FOREIGN = ("remote", "remote_2", "otlp", "influx", "influx_2", "graphite", "csv")


class Server(Daemon):
    """With the settings that the package sets."""

    def __init__(self, tsdb, folder, settings=None):
        self.graphite_port = free_port()
        super().__init__(tsdb, folder, {"tsd.graphite.port": self.graphite_port, **(settings or {})})

    def graphite(self):
        import socket
        return socket.create_connection(("127.0.0.1", self.graphite_port), PATIENCE_S)

    def log_text(self):
        return (self.folder / "tsd.log").read_bytes().decode("utf-8", "replace")

    def values(self, metric, start=T - 10, end=T + 3000, group=""):
        """{tags as text: {second: value}} of /api/query; without grouping."""
        try:
            answer = self.query(start, f"none:{metric}{group}", end)
        except Refused as refused:
            if "No such name" in str(refused):
                return {}
            raise
        return {json.dumps(series["tags"], sort_keys=True): {int(second): value for second, value in series["dps"].items()} for series in answer}

    def prom(self, query, at):
        words = urllib.parse.urlencode({"query": query, "time": at})
        return self.get("/api/v1/query?" + words)["data"]["result"]


def package_settings():
    """The settings of the Debian package and of the container, without addresses and folders."""
    lines = (ROOT / "setup/debian/hourglass.conf").read_text().splitlines()
    settings = dict(re.split(r"\s*=\s*", line, maxsplit=1) for line in lines if "=" in line and not line.startswith("#"))
    return {key: value for key, value in settings.items() if key.startswith(("tsd.core.", "tsd.storage.")) and key != "tsd.storage.path"}


# Last write wins.

@fact
def the_value_written_last_counts_whatever_its_type_over_every_protocol(server, _):
    writer = Writer(server)
    for protocol in OWN + FOREIGN:
        metric = f"twice.{protocol}"
        write = getattr(writer, protocol)
        for values in (("1", "300"), ("1.5", "2"), ("70000", "1"), ("3", "0.1")):
            for value in values:
                status, text = write(metric, {"host": "-".join(values)}, T, value)
                if status not in (200, 204):
                    raise AssertionError(f"{protocol} {value}: {status} {text}")
            tags = json.dumps({"host": "-".join(values)})
            equal(server.values(metric, group=f"{{host={'-'.join(values)}}}"), {tags: {T: float(values[1])}}, f"{protocol} {values}")


@fact
def the_value_written_last_counts_over_different_protocols(server, _):
    writer = Writer(server)
    wanted = None
    for i, protocol in enumerate(("put", "influx", "remote", "otlp", "graphite", "telnet", "csv", "influx_2", "put")):
        wanted = (i + 1) * 1.5 if i % 2 else (i + 1) * 100
        status, text = getattr(writer, protocol)("mixed", {"host": "a"}, T, str(wanted))
        equal(status in (200, 204), True, f"{protocol} {text}")
        equal(list(server.values("mixed").values()), [{T: wanted}], protocol)
    equal(float(server.prom("mixed", T)[0]["value"][1]), wanted)


def several(server, protocol, metric, values):
    """Writes the values to one instant of one series in one request, in this order."""
    writer, tags = Writer(server), {"host": "a"}
    if protocol == "put":
        status, text = writer.post("/api/put?details", "[" + ",".join(
            f'{{"metric":"{metric}","timestamp":{T},"value":{value},"tags":{json.dumps(tags)}}}' for value in values) + "]")
    elif protocol == "influx":
        status, text = writer.post("/write?precision=s", "\n".join(f"{metric},host=a value={value}{'' if '.' in value else 'i'} {T}" for value in values))
    elif protocol == "otlp":
        points = [{"timeUnixNano": str(T * 10**9), **({"asDouble": float(value)} if "." in value else {"asInt": value}),
                   "attributes": [{"key": "host", "value": {"stringValue": "a"}}]} for value in values]
        status, text = writer.post("/v1/metrics", json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [
            {"name": metric, "gauge": {"dataPoints": points}}]}]}]}), {"Content-Type": "application/json"})
    elif protocol == "remote":
        status, text = remote_write.write(server.port, [({"__name__": metric, **tags}, [(T * 1000, float(value)) for value in values])])
    elif protocol == "telnet":
        with server.raw() as line:
            line.sendall("".join(f"put {metric} {T} {value} host=a\n" for value in values).encode() + b"version\n")
            text = b""
            while b"Built on" not in text:
                text += line.recv(65536)
        status, text = 200, text.decode()
    else:
        with server.graphite() as line:
            line.sendall("".join(f"{metric};host=a {value} {T}\n" for value in values).encode())
            line.shutdown(1)
            line.recv(1)
        status, text = 204, ""
    equal(status in (200, 204), True, f"{protocol} {text}")


@fact
def the_value_that_comes_last_in_one_request_counts_over_every_protocol(server, _):
    values = ["1", "300", "70000", "5000000000", "1.5", "0.1"]
    orders = [values[i:] + values[:i] for i in range(len(values))] + [values[::-1]]
    protocols = ("put", "influx", "otlp", "remote", "telnet", "graphite")
    for protocol in protocols:
        for i, order in enumerate(orders):
            several(server, protocol, f"once.{protocol}.{i}", order)
    for _ in range(2):
        for protocol in protocols:
            for i, order in enumerate(orders):
                give_up = time.monotonic() + PATIENCE_S  # Graphite has no answer
                while protocol == "graphite" and not server.values(f"once.{protocol}.{i}") and time.monotonic() < give_up:
                    time.sleep(0.01)
                equal(list(server.values(f"once.{protocol}.{i}").values()), [{T: float(order[-1])}], f"{protocol} {order}")
        restarted(server)


@fact
def without_the_setting_the_query_names_it_and_the_way_out(_, as_opentsdb):
    writer = Writer(as_opentsdb)
    for value in ("1", "300"):
        equal(writer.influx("twice", {"host": "a"}, T, value)[0], 204)
    try:
        as_opentsdb.values("twice")
        raise AssertionError("the query did not fail")
    except Refused as refused:
        equal("HTTP 400" if refused.status == 400 else refused.status, "HTTP 400")
    connection = as_opentsdb.connection()
    connection.request("GET", f"/api/query?start={T}&m=sum:twice")
    text = connection.getresponse().read().decode()
    for words in ("tsd.storage.fix_duplicates = true", "tsdb fsck"):
        equal(words in text, True, text)


@fact
def what_is_started_by_run_package_and_container_has_the_setting(_, as_opentsdb):
    equal(package_settings()["tsd.storage.fix_duplicates"], "true")
    equal(" --last-write-wins " in (ROOT / "run").read_text(), True)
    equal("/etc/hourglass/hourglass.conf" in (ROOT / "setup/Dockerfile").read_text(), True)
    equal(as_opentsdb.get("/api/config")["tsd.storage.fix_duplicates"], "false")
    with tempfile.TemporaryDirectory() as folder:
        started = Server(as_opentsdb.tsdb, folder)
        started.arguments = ["--last-write-wins"]
        started.start()
        try:
            equal(started.get("/api/config")["tsd.storage.fix_duplicates"], "true")
        finally:
            started.stop()


# Numbers of tags.

def tags_of(count):
    return {f"k{i:02}": f"v{i}" for i in range(count)}


@fact
def as_many_labels_as_the_limit_are_stored_and_found(server, _):
    writer = Writer(server)
    for protocol in FOREIGN:
        for count in (10, 11, 30, LABELS_MAX):
            metric = f"many.{protocol}.{count}"
            status, text = getattr(writer, protocol)(metric, tags_of(count), T, "1.5")
            equal(status in (200, 204), True, f"{protocol} {text}")
            equal(server.values(metric), {json.dumps(tags_of(count)): {T: 1.5}}, metric)
    metric = f"many.remote.{LABELS_MAX}"
    equal(server.prom(f'{{__name__="{metric}",k07="v7"}}', T)[0]["metric"], {"__name__": metric, **tags_of(LABELS_MAX)})
    found = server.get(f"/api/search/lookup?m={metric}" + urllib.parse.quote("{k39=v39}"))["results"]
    equal([series["tags"] for series in found], [tags_of(LABELS_MAX)])
    by_tsuid = server.get(f"/api/query?start={T - 10}&end={T + 10}&tsuid=none:{found[0]['tsuid']}")
    equal([series["dps"] for series in by_tsuid], [{str(T): 1.5}])
    last = server.get(f"/api/query/last?tsuids={found[0]['tsuid']}&resolve=true&back_scan=1000000")
    equal([(point["value"], point["tags"]) for point in last], [("1.5", tags_of(LABELS_MAX))])
    equal([series["tags"]["k00"] for series in server.query(T - 10, f"sum:{metric}" + "{k00=*,k20=*,k39=literal_or(v39)}", T + 10)], ["v0"])


@fact
def one_label_more_is_refused_by_name_of_the_setting_and_others_are_stored(server, _):
    writer = Writer(server)
    for protocol in FOREIGN:
        status, text = getattr(writer, protocol)(f"more.{protocol}", tags_of(LABELS_MAX + 1), T, "1")
        equal((status, LIMIT in text or text == NOT_LOGGED), (400, True), f"{protocol} {text}")
        equal(server.values(f"more.{protocol}"), {}, protocol)
    many = {"__name__": "more", **tags_of(LABELS_MAX + 1)}
    refused = [({**many, "a": str(i)}, [(T * 1000, 1)]) for i in range(3)]
    status, text = remote_write.write(server.port, [*refused, ({"__name__": "beside.remote", "a": "b"}, [(T * 1000, 5)])])
    equal((status, "3 of 4 samples cannot be stored, the others are" in text), (400, True), text)
    equal(list(server.values("beside.remote").values()), [{T: 5}])
    words = "".join(f",{key}={value}" for key, value in tags_of(LABELS_MAX + 1).items())
    status, text = writer.post("/write?precision=s", f"more{words} value=1 {T}\nbeside.influx,a=b value=5 {T}\n")
    equal((status, "1 of 2 lines" in text), (400, True), text)
    equal(list(server.values("beside.influx").values()), [{T: 5}])


@fact
def the_protocols_of_opentsdb_keep_its_limit(server, _):
    writer = Writer(server)
    for protocol in OWN:
        equal(getattr(writer, protocol)(f"own.{protocol}", tags_of(8), T, "1")[0] in (200, 204), True, protocol)
        status, text = getattr(writer, protocol)(f"own.{protocol}", tags_of(9), T, "1")
        equal((status, "Too many tags: 9 maximum allowed: 8" in text), (400, True), text)


FIELDS = ("user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")


def cpu_only(hosts, times):
    """Lines like those of TSBS' cpu-only data: ten tags, ten fields, times in nanoseconds."""
    for second in times:
        for i in range(hosts):
            tags = {"hostname": f"host_{i}", "region": "eu-central-1", "datacenter": "eu-central-1a", "rack": str(i % 100), "os": "Ubuntu15.10",
                    "arch": "x86", "team": "SF", "service": str(i % 20), "service_version": "1", "service_environment": "test"}
            fields = ",".join(f"usage_{field}={i + second % 60}i" for field in FIELDS)
            yield "cpu," + ",".join(f"{key}={value}" for key, value in tags.items()) + f" {fields} {second * 10**9}"


@fact
def data_of_tsbs_is_stored_with_default_settings(_, as_opentsdb):
    hosts, steps = 20, range(T, T + 600, 10)
    lines = list(cpu_only(hosts, steps))
    for begin in range(0, len(lines), 500):
        status, text = Writer(as_opentsdb).post("/write?db=benchmark&consistency=one", "\n".join(lines[begin:begin + 500]))
        equal((status, text), (204, ""))
    for _ in range(2):
        for field in FIELDS:
            found = as_opentsdb.query(T, f"sum:cpu.usage_{field}{{hostname=*}}", T + 600)
            equal((len(found), sum(len(series["dps"]) for series in found)), (hosts, hosts * len(steps)), field)
            equal(all(len(series["tags"]) == 10 for series in found), True)
        equal(len(as_opentsdb.prom('max_over_time({__name__="cpu.usage_user",rack=~"1.*"}[10m])', T + 600)), 11)
        as_opentsdb.stop()  # then everything once more, from the files
        as_opentsdb.start()
        status, text = Writer(as_opentsdb).post("/write", "\n".join(lines[:500]))
        equal((status, text), (204, ""))


@fact
def further_paths_lead_to_the_same_handlers(server, _):
    writer = Writer(server)
    equal(writer.influx("paths.influx", {"host": "a"}, T, "5", "/influx/write?precision=s")[0], 204)
    for i, path in enumerate(("/v1/metrics", "/api/v1/otlp/v1/metrics", "/opentelemetry/v1/metrics")):
        point = {"timeUnixNano": str((T + i) * 10**9), "asInt": i, "attributes": [{"key": "host", "value": {"stringValue": "a"}}]}
        body = json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "paths.otlp", "gauge": {"dataPoints": [point]}}]}]}]})
        equal(writer.post(path, body, {"Content-Type": "application/json"}), (200, "{}"), path)
    tags = json.dumps({"host": "a"})
    equal((server.values("paths.influx"), server.values("paths.otlp")), ({tags: {T: 5}}, {tags: {T: 0, T + 1: 1, T + 2: 2}}))


# Remote write 2.0, metadata, and names.

@fact
def remote_write_2_counts_what_it_writes_and_is_the_same_series_as_1(server, _):
    labels = {"__name__": "two_total", "job": "a:1"}
    metadata = remote_write.sized(5, b"\x08\x01")  # a counter
    equal(remote_write.write(server.port, [(labels, [(T * 1000, 1)])]), (204, ""))
    equal(remote_write.write_2(server.port, [(labels, [((T + 1) * 1000, 2)], metadata)]), (204, "", ("1", "0", "0")))
    equal([one["value"][1] for one in server.prom('sum_over_time(two_total{job="a:1"}[1m])', T + 1)], ["3"])
    equal(server.get("/api/v1/metadata?metric=two_total")["data"], {"two_total": [{"type": "counter", "help": "", "unit": ""}]})
    histogram, exemplar = remote_write.sized(3, b""), remote_write.sized(4, b"")
    status, text, written = remote_write.write_2(server.port, [
        (labels, [((T + 2) * 1000, 4)], exemplar), ({"__name__": "native", "job": "a"}, [], histogram), ({"__name__": "late"}, [(0, 1)])])
    equal((status, written, "2 of 3 samples cannot be stored" in text), (400, ("1", "0", "0"), True), text)
    bad = remote_write.sized(4, b"") + remote_write.sized(5, b"\x0a\x02\x07\x08" + remote_write.sized(2, b"\x10" + remote_write.varint(T * 1000)))
    status, text, headers = remote_write.post(server.port, bad, remote_write.HEADERS_2)
    equal((status, "symbol 7 of a table of 1" in text), (400, True), text)
    unknown = {**remote_write.HEADERS_2, "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v3.Request"}
    status, text, headers = remote_write.post(server.port, b"", unknown)
    equal((status, headers.get("X-Prometheus-Remote-Write-Samples-Written")), (415, None), text)


@fact
def long_symbols_that_many_series_share_are_refused_in_time(server, _):
    word = "x" * 100_000
    refs = remote_write.sized(1, b"\x01\x02" * 20)
    series = remote_write.sized(5, refs + remote_write.sized(2, b"\x10" + remote_write.varint(T * 1000)))
    body = remote_write.sized(4, b"") + remote_write.sized(4, b"a") + remote_write.sized(4, word.encode()) + series * 100_000
    status, text, _ = remote_write.post(server.port, body, remote_write.HEADERS_2)
    equal((status, "The labels of the series have more than 67108864 bytes" in text), (413, True), text)


@fact
def metadata_of_remote_write_1_is_listed_until_the_server_stops(server, _):
    metadata = remote_write.sized(3, b"\x08\x02" + remote_write.sized(2, b"room_c") + remote_write.sized(4, b"How warm.") + remote_write.sized(5, b"c"))
    equal(remote_write.post(server.port, metadata)[:2], (204, ""))
    path = "/api/v1/metadata?metric=room_c"
    equal(server.get(path)["data"], {"room_c": [{"type": "gauge", "help": "How warm.", "unit": "c"}]})
    restarted(server)
    equal(server.get(path)["data"], {})


def as_prometheus(of, folder):
    """A server with the two settings under which queries written for VictoriaMetrics need no change."""
    return Server(of.tsdb, folder, {**package_settings(), "tsd.prometheus.underscore_names": "true", "tsd.ingest.influx.separator": "_"})


@fact
def with_both_settings_selectors_of_tsbs_and_vmui_find_the_same_metrics(server, _):
    with tempfile.TemporaryDirectory() as folder:
        other = as_prometheus(server, folder)
        other.start()
        try:
            writer = Writer(other)
            equal(writer.post("/write?db=benchmark&consistency=one", "\n".join(cpu_only(4, range(T, T + 600, 10))))[0], 204)
            equal(writer.put("room.temp", {"host": "b1"}, T, "21")[0], 200)
            hosts = 'hostname=~"host_1|host_3"'
            names = "cpu_usage_user|cpu_usage_system"
            range_of = {"start": T + 60, "end": T + 599, "step": "1m"}
            for query, count in ((f'max({{__name__=~"{names}", {hosts}}}) by (__name__)', 2),
                                 ("max(max_over_time(cpu_usage_user{" + hosts + "}[1m])) by (hostname)", 2),
                                 (f'avg({{__name__=~"{names}"}}) by (__name__, hostname)', 8),
                                 ('count({__name__=~"cpu_.*"}) by (__name__)', len(FIELDS)),
                                 ('room_temp{host="b1"}', 1), ('sum by (__name__) ({host="b1"})', 1)):
                found = other.get("/api/v1/query_range?" + urllib.parse.urlencode({"query": query, **range_of}))["data"]["result"]
                equal(len(found), count, query)
            everything = sorted([f"cpu_usage_{field}" for field in FIELDS] + ["room_temp"])
            equal(other.get("/api/v1/label/__name__/values")["data"], everything)
            selector = urllib.parse.quote('{__name__="room_temp"}')
            equal(other.get(f"/api/v1/series?match[]={selector}")["data"], [{"__name__": "room_temp", "host": "b1"}])
            equal(other.get(f"/api/v1/labels?match[]={selector}")["data"], ["__name__", "host"])
            equal(remote_read.read(other.port, "room_temp", T, T + 1), {"b1": [(T * 1000, 21.0)]})
            equal(other.values("room.temp"), {json.dumps({"host": "b1"}): {T: 21}})
            equal(writer.put("room_temp", {"host": "b2"}, T, "5")[0], 200)
            equal([one["metric"]["host"] for one in other.prom("room_temp", T)], ["b2"])
            equal([one["metric"]["host"] for one in other.prom('{"room.temp"}', T)], ["b1"])
        finally:
            other.stop()


@fact
def names_that_the_api_of_opentsdb_wrote_keep_apart_what_it_kept_apart(server, _):
    writer = Writer(server)
    equal(writer.put("apart", {"_x0041_": "put", "A": "real"}, T, "1")[0], 200)
    equal([one["metric"] for one in server.prom("apart", T)], [{"__name__": "apart", "_x0041_": "put", "A": "real"}])
    equal(len(server.prom('apart{A="real",_x0041_="put"}', T)), 1)
    equal(writer.put("named", {"__name__": "other", "host": "a"}, T, "1")[0], 200)
    equal([one["metric"] for one in server.prom("named", T)], [{"__name__": "named", "_x005F__name__": "other", "host": "a"}])
    equal(len(server.prom('{_x005F__name__="other"}', T)), 1)


# Values that are not numbers.

NAN, STALE, INFINITE, MINUS_INFINITE = remote_write.NAN_BITS, remote_write.STALE_BITS, 0x7FF0000000000000, 0xFFF0000000000000


@fact
def a_stale_marker_ends_a_series_as_in_prometheus(server, _):
    alive, killed = range(5), range(5, 70)
    for second in range(0, 61, 15):
        status, text = remote_write.write(server.port, [
            ({"__name__": "up", "job": "x", "instance": str(i)}, [((T + second) * 1000, STALE if second == 60 and i in killed else 1)])
            for i in (*alive, *killed)])
        equal((status, text), (204, ""))
    for _ in range(2):
        for at, wanted in ((T + 59, 70), (T + 60, 5), (T + 300, 5)):
            equal([float(one["value"][1]) for one in server.prom('count(up{job="x"})', at)], [wanted], at)
        counts = {one["metric"]["instance"]: one["value"][1] for one in server.prom('count_over_time(up{job="x"}[2m])', T + 60)}
        equal((counts["0"], counts["69"], len(counts)), ("5", "4", 70))
        equal([one["value"][1] for one in server.prom('count(rate(up{job="x"}[31s]))', T + 60)], ["70"])
        steps = server.get("/api/v1/query_range?" + urllib.parse.urlencode({"query": 'count(up{job="x"})', "start": T + 30, "end": T + 90, "step": 30}))
        equal([value for _, value in steps["data"]["result"][0]["values"]], ["70", "5", "5"])
        restarted(server)


def restarted(server):
    """From the files, too: the memory is flushed, and the daemon started again."""
    subprocess.run([server.tsdb, "admin", f"--config={server.folder / 'tsd.conf'}", "flush"], check=True, capture_output=True, timeout=PATIENCE_S)
    server.stop()
    server.start()


@fact
def nan_is_kept_for_prometheus_and_passed_over_by_opentsdbs_api(server, _):
    tags = {"host": "a"}
    samples = [(T, 1), (T + 10, NAN), (T + 40, 2), (T + 50, STALE), (T + 60, 0x7FF8000000000000)]
    samples += [(T + 70 + i, 3) for i in range(50)] + [(T + 200, STALE)]
    series = [({"__name__": "odd", **tags}, [(second * 1000, value) for second, value in samples]),
              ({"__name__": "odd", "host": "never"}, [(T * 1000, STALE), ((T + 10) * 1000, NAN)])]
    equal(remote_write.write(server.port, series), (204, ""))
    finite = {second: value for second, value in samples if value < 10}
    kept = [(second * 1000, NAN if value == 0x7FF8000000000000 else remote_write.bits_of(value)) for second, value in samples]
    for _ in range(2):
        for at, wanted in ((T + 5, "1"), (T + 10, "NaN"), (T + 40, "2"), (T + 60, "NaN")):
            equal([one["value"][1] for one in server.prom('odd{host="a"}', at)], [wanted], at)
        equal(server.prom('odd{host="a"}', T + 50), [])
        equal(server.prom('max_over_time(odd{host="a"}[1m])', T + 60)[0]["value"][1], "2")
        equal(server.prom('sum_over_time(odd{host="a"}[10s])', T + 119)[0]["value"][1], "30")
        read = remote_read.read(server.port, "odd", T, T + 300)
        equal([(ms, remote_write.bits_of(value)) for ms, value in read["a"]], kept)
        equal(server.values("odd"), {json.dumps(tags): finite})
        equal([series["dps"] for series in server.query(HOUR, "sum:1h-sum:odd", T + 2000)], [{"1699999200": 153}])
        equal([series["dps"] for series in server.query(HOUR, "avg:1h-count:odd", T + 2000)], [{"1699999200": 52}])
        equal([series["dps"] for series in server.query(HOUR, "max:1m-max:odd", T + 39)], [{"1699999980": 1}])
        last = server.get("/api/query/last?timeseries=odd%7Bhost=a%7D&back_scan=1000000&resolve=true")
        equal([(point["tags"], point["value"]) for point in last], [(tags, "3.0")])
        restarted(server)


@fact
def otlp_and_csv_carry_them_too_and_export_gives_them_back(server, _):
    writer = Writer(server)
    for i, (text, shown) in enumerate((("NaN", "NaN"), ("Infinity", "+Inf"), ("-Infinity", "-Inf"))):
        status, answer = writer.otlp("otlp.odd", {"host": "a"}, T + i, text)
        equal(status, 200, answer)
        equal([one["value"][1] for one in server.prom('{"otlp.odd"}', T + i)], [shown], text)
    gone = {"timeUnixNano": str((T + 10) * 10**9), "flags": 1, "attributes": [{"key": "host", "value": {"stringValue": "a"}}]}
    status, answer = writer.post("/v1/metrics", json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [
        {"name": "otlp.odd", "gauge": {"dataPoints": [gone]}}]}]}]}), {"Content-Type": "application/json"})
    equal((status, answer), (200, "{}"))
    equal(server.prom('{"otlp.odd"}', T + 10), [])
    texts = ["1.5", "NaN", "StaleNaN", "+Inf", "-Inf", "2.5"]
    for i, text in enumerate(texts):
        status, answer = writer.csv("csv.odd", {"host": "a"}, T + i, text)
        equal(status, 204, answer)
    done = subprocess.run([server.tsdb, "export", f"--config={server.folder / 'tsd.conf'}", str(T), str(T + 100), "sum", "csv.odd"],
                          capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    equal(done.stdout.splitlines(), ["metric,time,value,host"] + [f"csv.odd,{T + i},{text},a" for i, text in enumerate(texts)])


@fact
def infinities_are_kept_for_prometheus_and_fail_queries_of_opentsdbs_api(server, _):
    samples = [(T * 1000, 1), ((T + 20) * 1000, INFINITE), ((T + 30) * 1000, MINUS_INFINITE)]
    equal(remote_write.write(server.port, [({"__name__": "unbounded", "host": "a"}, samples)]), (204, ""))
    for _ in range(2):
        for at, wanted in ((T + 5, "1"), (T + 20, "+Inf"), (T + 30, "-Inf")):
            equal([one["value"][1] for one in server.prom('unbounded{host="a"}', at)], [wanted], at)
        read = remote_read.read(server.port, "unbounded", T, T + 300)
        equal([remote_write.bits_of(value) for _, value in read["a"]], [remote_write.bits_of(1.0), INFINITE, MINUS_INFINITE])
        refusal = ""
        try:
            server.query(T, "none:unbounded", T + 300)
        except Refused as refused:
            refusal = str(refused)
        equal((" 400 " in refusal, "Infinity" in refusal), (True, True), refusal)
        restarted(server)


@fact
def other_protocols_refuse_them(server, _):
    writer = Writer(server)
    for protocol in ("put", "telnet", "influx", "influx_2", "graphite"):
        for value in ("NaN", "Infinity", "-Infinity"):
            quoted = f'"{value}"' if protocol == "put" else value
            equal(getattr(writer, protocol)(f"refused.{protocol}", {"host": "a"}, T, quoted)[0], 400, f"{protocol} {value}")


# Times.

BAD_TIME = "cannot be stored: times go from 1970-01-01T00:00:01Z to 2106-02-07T06:28:15.999Z"


@fact
def one_rule_for_times_and_one_error_text(server, _):
    writer = Writer(server)
    for protocol in FOREIGN:
        for seconds in (0, -1 if protocol != "graphite" else -2, -T, 4294967296, 9999999999, 10**10):
            if protocol == "otlp" and seconds < 0:
                continue  # its times have no sign
            written = seconds * 1000 if protocol == "csv" and seconds > 4294967295 else seconds  # as milliseconds
            status, text = getattr(writer, protocol)(f"times.{protocol}", {"host": "a"}, written, "1")
            equal((status, BAD_TIME in text or text == NOT_LOGGED), (400, True), f"{protocol} {seconds}: {text}")
        for seconds in (1, 4294967295):
            status, text = getattr(writer, protocol)(f"times.{protocol}", {"host": "a"}, seconds, "1")
            equal(status in (200, 204), True, f"{protocol} {seconds}: {text}")
            equal([one["value"][1] for one in server.prom(f'{{__name__=~"times.{protocol}(.value)?"}}', seconds)], ["1"], f"{protocol} {seconds}")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        server, as_opentsdb = Server(sys.argv[1], one, package_settings()), Server(sys.argv[1], other)
        try:
            server.start()
            as_opentsdb.start()
            return told(server, as_opentsdb)
        finally:
            for each in (server, as_opentsdb):
                if each.process:
                    each.stop()


if __name__ == "__main__":
    sys.exit(main())
