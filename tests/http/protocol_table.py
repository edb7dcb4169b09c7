#!/usr/bin/env python3
"""The table of features by protocol in docs/ingestion.md says what a daemon does.

    protocol_table.py build/release/tsdb [--print]

Each cell is measured: the script writes points over the protocol of the column and looks at what is stored. --print prints the
measured table instead of comparing it with the page. The last line reads "N passed, N failed".
"""
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import foreign_writes
from foreign_writes import INFINITE, NAN, ROOT, STALE, Server, T, Writer, package_settings, tags_of

sys.path.insert(0, str(ROOT / "tests/support"))
import remote_write  # noqa: E402

PAGE = ROOT / "docs/ingestion.md"
HEADING = "| feature |"
COLUMNS = {"put API": "put", "telnet": "telnet", "InfluxDB": "influx", "remote write": "remote", "OTLP": "otlp", "Graphite": "graphite",
           "CSV": "csv"}
HOST = {"host": "a"}
OK = (200, 204)


class Measuring:
    """One protocol and a running daemon. Each feature writes metrics of its own."""

    def __init__(self, server, closed, protocol):
        self.server, self.closed, self.protocol = server, closed, protocol

    def metric(self, feature):
        return f"{feature}.{self.protocol}"

    def write(self, metric, tags=None, seconds=T, value="5", server=None):
        """Whether one point is acknowledged."""
        return getattr(Writer(server or self.server), self.protocol)(metric, HOST if tags is None else tags, seconds, value)[0] in OK

    def stored(self, metric, start=T - 10, end=T + 100):
        """The points of all series of the metric, whose names may be completed by the protocol, with their tags: [(tags, dps as text)]."""
        names = self.server.get(f"/api/suggest?type=metrics&max=1000&q={metric}")
        found = []
        for name in names:
            connection = self.server.connection()
            connection.request("POST", "/api/query", json.dumps({"start": start, "end": end, "msResolution": True,
                                                                 "queries": [{"aggregator": "none", "metric": name}]}))
            answer = json.loads(connection.getresponse().read(), parse_float=str, parse_int=str)
            found += [(series["tags"], series["dps"]) for series in answer]
        return found

    # The features. Each returns the text of its cell.

    def whole_numbers(self):
        self.write(self.metric("whole"))
        (_, points), = self.stored(self.metric("whole"))
        return {"5": "integers", "5.0": "doubles"}[points[str(T * 1000)]]

    def last_value_counts(self):
        metric = self.metric("twice")
        for value in ("1.5", "70000", "1"):
            self.write(metric, value=value)
        (_, points), = self.stored(metric)
        return "yes" if [float(value) for value in points.values()] == [1.0] else "no"

    def not_numbers(self):
        metric = self.metric("odd")
        if self.protocol == "remote":
            series = [({"__name__": metric, **HOST}, [((T + i) * 1000, bits)]) for i, bits in enumerate((NAN, INFINITE, STALE))]
            accepted = [remote_write.write(self.server.port, [one])[0] in OK for one in series]
        else:
            texts = ("NaN", "Infinity") if self.protocol == "otlp" else ("NaN", "+Inf", "StaleNaN") if self.protocol == "csv" else ("NaN", "Inf")
            accepted = [self.write(metric, seconds=T + i, value=f'"{text}"' if self.protocol == "put" else text)
                        for i, text in enumerate(texts)]
        shown = [one["value"][1] for i in (0, 1) for one in self.server.prom(f'{{__name__=~"{metric}(.value)?"}}', T + i)]
        if all(accepted) and shown == ["NaN", "+Inf"]:
            return "stored"
        return "refused" if not any(accepted) and not shown else f"{accepted} {shown}"

    def tags_at_most(self):
        limit = 0
        for count in (8, 9, 40, 41):
            if self.write(self.metric(f"tags{count}"), tags_of(count)):
                limit = count
        return str(limit)

    def without_tags(self):
        metric = self.metric("bare")
        if not self.write(metric, {}):
            return "refused"
        (tags, _), = self.stored(metric)
        return "stored with `" + "=".join(*tags.items()) + "`"

    def other_characters(self):
        metric = self.metric("other")
        # Neither a space nor a colon is allowed in a name. Words of telnet and Graphite end at a space.
        value = {"influx": "a\\ b", "graphite": "a:b", "telnet": "a:b"}.get(self.protocol, "a b")
        if not self.write(metric, {"host": value}):
            return "refused"
        (tags, _), = self.stored(metric)
        return {"a_x0020_b": "escaped", "a_x003A_b": "escaped"}.get(tags["host"], tags["host"])

    def milliseconds(self):
        metric = self.metric("millis")
        at = T * 1000 + 500
        if self.protocol in ("put", "telnet", "csv"):
            self.write(metric, seconds=at)
        elif self.protocol == "graphite":
            self.write(metric, seconds=T + 0.5)
        elif self.protocol == "influx":
            Writer(self.server).influx(metric, HOST, at, "5", "/write?precision=ms")
        elif self.protocol == "remote":
            remote_write.write(self.server.port, [({"__name__": metric, **HOST}, [(at, 5.0)])])
        else:
            self.post_otlp(metric, at * 10**6)
        (_, points), = self.stored(metric)
        return "yes" if list(points) == [str(at)] else "no"

    def post_otlp(self, metric, *nanoseconds, packed=False, **more):
        """Sends a gauge with a point at each of these times. `more`: further fields of the metric."""
        points = [{"timeUnixNano": str(at), "asInt": "5", "attributes": [{"key": "host", "value": {"stringValue": "a"}}]} for at in nanoseconds]
        body = json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": metric, "gauge": {"dataPoints": points}, **more}]}]}]})
        headers = {"Content-Type": "application/json", **({"Content-Encoding": "gzip"} if packed else {})}
        return Writer(self.server).post("/v1/metrics", gzip.compress(body.encode()) if packed else body, headers)

    def unknown_metrics(self):
        return "refused" if not self.write(self.metric("unknown"), server=self.closed) else "created"

    def others_of_a_wrong_request(self):
        """What becomes of the points before and after a wrong one."""
        metric = self.metric("some")
        writer = Writer(self.server)
        if self.protocol == "put":
            writer.post("/api/put", json.dumps([{"metric": metric, "timestamp": T + i, "value": value, "tags": HOST}
                                                for i, value in enumerate(("1", "x", "3"))]))
        elif self.protocol == "telnet":
            with self.server.raw() as line:
                line.sendall("".join(f"put {metric} {T + i} {value} host=a\n" for i, value in enumerate("1x3")).encode() + b"version\n")
                text = b""
                while b"Built on" not in text:
                    text += line.recv(65536)
        elif self.protocol == "influx":
            writer.post("/write?precision=s", "".join(f"{metric},host=a value={value} {T + i}\n" for i, value in enumerate("1x3")))
        elif self.protocol == "remote":
            remote_write.write(self.server.port, [({"__name__": metric, **HOST}, [(T * 1000, 1.0), (0, 2.0), ((T + 2) * 1000, 3.0)])])
        elif self.protocol == "otlp":
            self.post_otlp(metric, T * 10**9, 0, (T + 2) * 10**9)
        elif self.protocol == "graphite":
            with self.server.graphite() as line:
                line.sendall("".join(f"{metric};host=a {value} {T + i}\n" for i, value in enumerate("1x3")).encode())
                line.shutdown(1)
                line.recv(1)
        else:
            table = "metric,time,value,host\n" + "".join(f"{metric},{T + i},{value},a\n" for i, value in enumerate("1x3"))
            self.import_csv(table.encode())
        (_, points), = self.stored(metric)
        return {(0, 2): "stored", (0,): "stored if they precede it"}.get(tuple(int(ms) // 1000 - T for ms in points), str(points))

    def import_csv(self, table, suffix="csv"):
        file = self.server.folder / f"table.{suffix}"
        file.write_bytes(table)
        subprocess.run([self.server.tsdb, "import", f"--config={self.server.folder / 'tsd.conf'}", "--csv", str(file)], capture_output=True,
                       timeout=foreign_writes.PATIENCE_S, check=False)

    def compressed(self):
        metric = self.metric("packed")
        writer = Writer(self.server)
        packed = {"Content-Encoding": "gzip"}
        if self.protocol == "put":
            writer.post("/api/put", gzip.compress(json.dumps({"metric": metric, "timestamp": T, "value": 5, "tags": HOST}).encode()), packed)
        elif self.protocol == "influx":
            writer.post("/write?precision=s", gzip.compress(f"{metric},host=a value=5 {T}".encode()), packed)
        elif self.protocol == "otlp":
            self.post_otlp(metric, T * 10**9, packed=True)
        elif self.protocol == "csv":
            self.import_csv(gzip.compress(f"metric,time,value,host\n{metric},{T},5,a\n".encode()), "csv.gz")
        elif self.protocol == "remote":  # its bodies are always packed by snappy
            return "snappy" if self.write(metric) and self.stored(metric) else "no"
        else:
            return "no"
        return "gzip" if self.stored(metric) else "no"

    def descriptions(self):
        metric = self.metric("described")
        text = b"How warm."
        if self.protocol == "remote":
            described = remote_write.sized(3, b"\x08\x02" + remote_write.sized(2, metric.encode()) + remote_write.sized(4, text))
            remote_write.post(self.server.port, described)
        elif self.protocol == "otlp":
            self.post_otlp(metric, T * 10**9, description=text.decode())
        else:
            return "no"
        return "yes" if self.server.get(f"/api/v1/metadata?metric={metric}")["data"] else "no"


FEATURES = {
    "whole numbers are stored as": Measuring.whole_numbers,
    "queries return the [last value](#duplicates) of an instant": Measuring.last_value_counts,
    "NaN and infinities are": Measuring.not_numbers,
    "a series may have at most this number of tags": Measuring.tags_at_most,
    "a series without tags is": Measuring.without_tags,
    "characters that names may not have are": Measuring.other_characters,
    "stores timestamps in milliseconds": Measuring.milliseconds,
    "with `tsd.core.auto_create_metrics = false`, a new metric is": Measuring.unknown_metrics,
    "if one point is wrong, all other points are": Measuring.others_of_a_wrong_request,
    "accepts compressed requests or files": Measuring.compressed,
    "keeps the help texts of metrics": Measuring.descriptions,
}


def row(cells):
    return "| " + " | ".join(cells) + " |"


def documented():
    """The rows of the table on the page."""
    rows, inside = [], False
    for line in PAGE.read_text().splitlines():
        inside = line.startswith(HEADING) or (inside and line.startswith("|"))
        if inside:
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        server = Server(sys.argv[1], one, package_settings())
        closed = Server(sys.argv[1], other, {**package_settings(), "tsd.core.auto_create_metrics": "false"})
        try:
            server.start()
            closed.start()
            measured = [[feature, *(measure(Measuring(server, closed, protocol)) for protocol in COLUMNS.values())]
                        for feature, measure in FEATURES.items()]
        finally:
            for each in (server, closed):
                if each.process:
                    each.stop()
    if sys.argv[2:] == ["--print"]:
        print("\n".join([row(["feature", *COLUMNS]), row(["---"] * (1 + len(COLUMNS))), *map(row, measured)]))
        return 0
    headings, _, *rows = documented() or [[], []]
    passed = failed = 0
    for expected, got in [([HEADING.strip("| "), *COLUMNS], headings), *zip(measured, rows)]:
        right = expected == got
        passed, failed = passed + right, failed + (not right)
        if not right:
            print(f"FAIL the page says {row(got)}\n     measured is  {row(expected)}")
    if len(rows) != len(measured):
        failed += 1
        print(f"FAIL the page has {len(rows)} rows, {len(measured)} features are measured")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
