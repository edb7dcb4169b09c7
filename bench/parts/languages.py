"""Protocols other than OpenTSDB's, for writing and reading: Hourglass and a peer that supports them take turns. InfluxDB's lines are also in the part `peers`."""
import tempfile
from pathlib import Path

import csv_tables
import support
from against import Figure
from measuring import START, check_count, ratio
from questions import METRICS, Questions
from servers import PATIENCE_S
from support import medians

import remote_read  # a module in tests/support

TITLE = "Other languages"
OURS, VM, PROMETHEUS = "Hourglass", "VictoriaMetrics", "Prometheus"
HOSTS, STEP_S, PASSES = 1000, 10, 2
TAGS_MAX = {"tsd.storage.max_tags": 10}
GOALS = []

# Name, client options, the metric's name in this language, points per series and pass (full, quick, tiny), servers that speak it.
LOADS = [
    ("Prometheus remote write, 500 x8", {"wire": "remote", "batch": 500, "connections": 8}, "cpu_usage_user", (100, 50, 2), (OURS, VM)),
    ("Prometheus remote write, 2000 x4", {"wire": "remote", "batch": 2000, "connections": 4}, "cpu_usage_user", (100, 50, 2), (OURS, VM)),
    ("Graphite's lines with tags x4", {"wire": "graphite", "batch": 5000, "connections": 4}, "cpu.usage_user", (50, 20, 2), (OURS, VM)),
    ("InfluxDB's lines, version 2, gzip, 5000 x4",
     {"wire": "influx", "path": "/api/v2/write?bucket=b", "gzip": True, "batch": 5000, "connections": 4}, "cpu.usage_user", (100, 50, 2), (OURS, VM)),
    # The peer, in this version, does not speak the languages from here on.
    ("Graphite's pickles with tags, 500 x4", {"wire": "pickle", "batch": 500, "connections": 4}, "cpu.usage_user", (50, 20, 2), (OURS,)),
    ("OTLP, protobuf, 2000 x4", {"wire": "otlp", "batch": 2000, "connections": 4}, "cpu.usage_user", (50, 20, 2), (OURS,)),
    ("OTLP, JSON, 2000 x4", {"wire": "otlp-json", "batch": 2000, "connections": 4}, "cpu.usage_user", (50, 20, 2), (OURS,)),
]


def measure_load(bench, running, name, options, metric, steps):
    """Returns {server: [result of each round]}; the points are counted at the end."""
    rows = {server.name: [] for server in running}
    common = {**options, "hosts": HOSTS, "decimals": 2}
    for server in running:
        bench.put(server, **common, create=True, start=START)
    for number in range(bench.rounds):
        begin = START + number * PASSES * steps * STEP_S
        for server in bench.turn(running, number):
            run = bench.put(server, **common, steps=steps, passes=PASSES, step=STEP_S, start=begin, settle=bench.pick(5, 2, 0))
            rows[server.name].append(run)
            bench.say(f"{name} round {number + 1} {server.name:16} {run['rate'] / 1e6:6.3f} M points/s, "
                      f"{run['cpu_ns']:6.0f} CPU-ns/point ({run['settled_cpu_ns']:.0f} settled)")
    steps *= PASSES * bench.rounds
    for server in running:
        check_count(server, metric, START - 3600, START + steps * STEP_S, HOSTS * (steps + 1), patience_s=300)
    bench.say("every point is in each server")
    return rows


def promql_files(hours, folder):
    """Returns {query: file of requests}: both servers get the same expressions through Prometheus' HTTP API."""
    questions = Questions(HOSTS, hours, START, START + hours * 3600, 100)
    asked = [questions.maxima("one series, an hour by minutes", 1, 1, 1, 60, 100),
             questions.maxima("8 series, an hour by minutes", 1, 8, 1, 60, 100),
             questions.averages("1,000 series by hours and host", 1, 3)]
    files = {}
    for question in asked:
        files[question.name] = Path(folder, question.name.replace(" ", "-").replace(",", ""))
        # The metric was written by remote write, where a name has no dot.
        files[question.name].write_text("".join(path.replace("cpu.usage", "cpu_usage") + "\n" for path in question.asked[VM]))
    return files


def measure_promql(bench):
    hours = bench.pick(12, 4, 1)
    rows = {}
    with bench.running(*bench.sides(OURS, VM), settings=TAGS_MAX) as running, tempfile.TemporaryDirectory() as folder:
        for server in running:
            bench.put(server, wire="remote", batch=2000, connections=4, hosts=HOSTS, decimals=2, steps=360, passes=hours, start=START)
            check_count(server, "cpu_usage_user", START, START + hours * 3600 - 1, HOSTS * hours * 360, patience_s=300)
        for name, file in promql_files(hours, folder).items():
            for number in range(bench.rounds):
                for server in bench.turn(running, number):
                    run = bench.ask(server, file)
                    rows.setdefault(name, {}).setdefault(server.name, []).append(run)
            bench.say(f"PromQL, {name}: " + ", ".join(f"{server} {medians(runs)['median_us']:.0f} us" for server, runs in rows[name].items()))
    return {"hours": hours, "rows": rows}


def answers_bytes(name, request, servers):
    """The size of the answers, which must be equal for all servers: equal samples and labels are encoded in the same number of bytes."""
    sizes = {server.name: remote_read.varint_at(remote_read.answer(server.query_port, request, PATIENCE_S), 0)[0] for server in servers}
    if len(set(sizes.values())) != 1 or min(sizes.values()) < 100:
        raise RuntimeError(f"{name}: bytes of the answers: {sizes}")
    return min(sizes.values())


def measure_read(bench):
    """Measures remote read: the raw samples of an hour."""
    hours = bench.pick(4, 2, 1)
    asked = [("one series", [(remote_read.EQUAL, "hostname", "host_{}")], 300),
             ("8 series", [(remote_read.MATCHES, "hostname", "host_{}[0-7]")], 100),
             ("1,000 series", [], 3)]
    rows = {}
    with bench.running(*bench.sides(OURS, PROMETHEUS), settings=TAGS_MAX) as running, tempfile.TemporaryDirectory() as folder:
        for server in running:
            bench.put(server, wire="remote", batch=2000, connections=1, hosts=HOSTS, decimals=2, steps=360, passes=hours, start=START)
            check_count(server, "cpu_usage_user", START, START + hours * 3600 - 1, HOSTS * hours * 360, patience_s=300)
        for name, matchers, count in asked:
            requests = [remote_read.request([(remote_read.EQUAL, "__name__", METRICS[i % len(METRICS)].replace(".", "_")),
                                             *((kind, label, value.format(i % 90 + 1)) for kind, label, value in matchers)],
                                            START + i % hours * 3600, START + (i % hours + 1) * 3600 - 1) for i in range(count)]
            size = answers_bytes(name, requests[0], running)
            file = Path(folder, name.replace(" ", "-").replace(",", ""))
            file.write_text("".join(f"{remote_read.PATH}\t{request.hex()}\n" for request in requests))
            for number in range(bench.rounds):
                for server in bench.turn(running, number):
                    rows.setdefault(name, {}).setdefault(server.name, []).append(bench.ask(server, file, snappy=True))
            bench.say(f"remote read, {name} ({size} bytes, the same from each): " +
                      ", ".join(f"{server} {medians(runs)['median_us']:.0f} us" for server, runs in rows[name].items()))
    return {"hours": hours, "rows": rows}


def measure_csv(bench):
    """Returns {"import" or "export": {server: [result of each round]}} for tables with one point per row."""
    steps = bench.pick(100, 30, 2)
    metric, imported, exported = METRICS[0], {}, {}
    with bench.running(*bench.sides(OURS, VM), settings=TAGS_MAX) as running, support.scratch() as folder:
        tables = csv_tables.Tables(folder, HOSTS)
        files = tables.write(START - 3600, 1, STEP_S)
        for server in running:
            csv_tables.import_to(server, files, len(METRICS) * HOSTS)
        for number in range(bench.rounds):
            files = tables.write(START + number * steps * STEP_S, steps, STEP_S)
            for server in bench.turn(running, number):
                run = csv_tables.import_to(server, files, steps * len(METRICS) * HOSTS)
                imported.setdefault(server.name, []).append(run)
                bench.say(f"CSV import round {number + 1} {server.name:16} {run['rate'] / 1e6:6.3f} M points/s, {run['cpu_ns']:6.0f} CPU-ns/point")
        points = HOSTS * steps * bench.rounds
        end = START + steps * bench.rounds * STEP_S
        for server in running:
            check_count(server, metric, START, end, points, patience_s=300)
        ours, peer = running[0], next(iter(running[1:]), None)
        file = Path(folder, "exported.csv")
        if csv_tables.compare_exports(ours, peer, metric, START, end, file) != points:
            raise RuntimeError(f"{points} points were imported, others exported")
        paths = Path(folder, "paths")
        paths.write_text(csv_tables.export_path(metric, START, end) + "\n")
        for number in range(bench.rounds):
            for server in bench.turn(running, number):
                if server.product == OURS:
                    run = csv_tables.measured(
                        server, lambda server=server: csv_tables.export_from(server, metric, START, end, file), points)
                else:
                    asked = bench.ask(server, paths)
                    run = {"rate": points / asked["median_us"] * 1e6, "cpu_ns": asked["cpu_us"] / points * 1e3}
                exported.setdefault(server.name, []).append(run)
        bench.say("CSV export: " + ", ".join(f"{server} {medians(runs)['rate'] / 1e6:.3f} M points/s" for server, runs in exported.items()))
    return {"CSV import": imported, "CSV export": exported}


def measure(bench):
    rows = {}
    for name, options, metric, steps, speakers in LOADS:
        with bench.running(*bench.sides(*speakers), settings=TAGS_MAX) as running:
            rows[name] = measure_load(bench, running, name, options, metric, bench.pick(*steps))
    return {"writes": rows, "promql": measure_promql(bench), "read": measure_read(bench), "csv": measure_csv(bench)}


def figures(data):
    for load, sides in [*data["writes"].items(), *data["csv"].items()]:
        yield Figure(f"{load}: points/s", sides, "rate", larger_is_better=True)
        yield Figure(f"{load}: CPU-ns/point", sides, "cpu_ns")
    for what, rows in (("PromQL", data["promql"]["rows"]), ("remote read", data["read"]["rows"])):
        for name, sides in rows.items():
            yield Figure(f"{what}, {name}: µs", sides, "median_us")
            yield Figure(f"{what}, {name}: µs of the processor", sides, "cpu_us")


def page(data, _folder):
    return (f"10,000 series that exist already, {HOSTS} hosts with {len(METRICS)} metrics, 4 tags, two decimals; a request of so many points over so many "
            "connections.\n\n" + rates("written", data["writes"]) + f"\n\nPromQL: the same expressions over {data['promql']['hours']} h of them, one connection:\n\n" +
            times("PromQL", VM, data["promql"]["rows"]) + page_of_files(data))


def page_of_files(data):
    """The figures of the file formats, which were measured later than the others."""
    if "read" not in data:
        return ""
    return (f"\n\nRemote read: raw samples of an hour, of {data['read']['hours']} h, one connection. Prometheus has them in its memory, mostly:\n\n" +
            times("remote read", PROMETHEUS, data["read"]["rows"]) +
            "\n\nComma-separated values, a point each row: Hourglass by `tsdb import --csv` and `tsdb export` beside the daemon, the processor's time of both; "
            "the peer over one connection, its own processor's time alone. The import is 10 files, of a metric each; the export is one metric.\n\n" +
            rates("file", data["csv"]))


def rates(what, rows):
    lines = [f"| {what} | points/s (median) | CPU-ns/point | request, median / p99 | points/s ÷ VM | VM's CPU ÷ ours |", "| --- |" + " --- |" * 5]
    for name, sides in rows.items():
        for server, runs in sides.items():
            mine = medians(runs)
            cells = [f"{mine['rate'] / 1e6:.3f} M", f"{mine['cpu_ns']:.0f}",
                     f"{mine['median_us'] / 1000:.2f} / {mine['p99_us'] / 1000:.2f} ms" if mine.get("p99_us") else ""]
            both = server == OURS and VM in sides
            cells += [f"**{between(sides, OURS, VM, 'rate'):.2f}**", f"**{between(sides, VM, OURS, 'cpu_ns'):.2f}**"] if both else ["", ""]
            lines.append(f"| {name} {server} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def times(what, peer, rows):
    lines = [f"| {what} | Hourglass, median / p99, processor | {peer} | wall | processor |", "| --- |" + " --- |" * 4]
    for name, sides in rows.items():
        cells = [f"{mine['median_us'] / 1000:.3f} / {mine['p99_us'] / 1000:.3f} ms, {mine['cpu_us'] / 1000:.3f} ms"
                 for mine in (medians(sides[server]) for server in (OURS, peer) if server in sides)]
        if peer in sides:
            cells += [f"**{between(sides, peer, OURS, field):.1f}**" for field in ("median_us", "cpu_us")]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def between(sides, above, below, field):
    return ratio(medians(sides[above])[field], medians(sides[below])[field])
