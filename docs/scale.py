#!/usr/bin/env python3
"""Computes how many machines a load over HBase needs, with the formulas of docs/scale.md.

    docs/scale.py [--series 1e8] [--interval 60] [--retention 365] [--rows 20000] [--batch 200] …
    docs/scale.py --table                     prints the table of the section "Example" of docs/scale.md
    docs/scale.py --check FILE                compares the formulas with FILE, the output of bench/hbase_rates.py

The costs come from MEASURED, or with --measured FILE from FILE, the output of bench/hbase_rates.py.
"""
import argparse
import json
import math

# Measured with bench/hbase_rates.py on the test bed, in microseconds of processor time.
MEASURED = """
{"what": "put, 1000 points a request", "daemons": 1, "points": 399600, "points_per_s": 29453, "daemon_us": 2.402, "gateway_us": 3.629, "hbase_us": 12.813}
{"what": "put, 200 points a request", "daemons": 1, "points": 199800, "points_per_s": 12003, "daemon_us": 4.254, "gateway_us": 5.105, "hbase_us": 17.868}
{"what": "put, 50 points a request", "daemons": 1, "points": 79800, "points_per_s": 5771, "daemon_us": 8.396, "gateway_us": 18.421, "hbase_us": 27.068}
{"what": "put, 1000 points a request", "daemons": 3, "points": 399600, "points_per_s": 32346, "daemon_us": 2.603, "gateway_us": 5.981, "hbase_us": 12.863}
{"what": "scan of rows of 60 cells", "daemons": 1, "rows": 6660, "rows_per_s": 1159, "daemon_us": 39.039, "gateway_us": 103.604, "hbase_us": 283.784}
{"what": "disk", "bytes_per_point": 19.24}
{"what": "memory", "bytes_per_series": 213}
"""
PROCESSES = {"daemon": "daemon", "gateway": "gateway", "hbase": "HBase"}  # {name in MEASURED: name in the tables}
PARTS = tuple(PROCESSES)


def lines_of(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


class Costs:
    """The costs of a point (its share of a request, and its own), of a row of 60 cells that a query scans, and of HBase's disk."""

    def __init__(self, lines):
        def of(what):
            return next(line for line in lines if line["what"] == what and line.get("daemons", 1) == 1)

        large, small, scan = (of(what) for what in ("put, 1000 points a request", "put, 50 points a request",
                                                    "scan of rows of 60 cells"))
        self.request, self.point, self.row = {}, {}, {}
        for part in PARTS:
            apart = small[f"{part}_us"] - large[f"{part}_us"]
            self.request[part] = max(0.0, apart / (1 / 50 - 1 / 1000))
            self.point[part] = large[f"{part}_us"] - self.request[part] / 1000
            self.row[part] = scan[f"{part}_us"]
        self.disk_bytes = of("disk")["bytes_per_point"]
        self.series_bytes = of("memory")["bytes_per_series"]

    def put_us(self, part, batch):
        return self.point[part] + self.request[part] / batch


def size(costs, load):
    """Returns {resource: the amount that the load needs, with its unit}."""
    points_s = load.series / load.interval
    cores = {part: (points_s * costs.put_us(part, load.batch) + load.rows * costs.row[part]) / 1e6 / load.busy
             for part in PARTS}
    daemons = max(2, math.ceil(cores["daemon"] / load.cores), math.ceil(load.series * costs.series_bytes / load.memory))
    gateways = max(daemons, math.ceil(cores["gateway"] / load.cores))
    # The server stores a write and sends it to the copies; copies add to the load of disks, not of processors.
    disk = points_s * 86400 * load.retention * costs.disk_bytes * load.copies
    bounds = {"three copies": 3, "CPU time": math.ceil(cores["hbase"] / load.cores),
              "number of regions": math.ceil(disk / load.copies / (load.regions * load.region)),
              "size of disks": math.ceil(disk / load.disk)}
    decides = max(bounds, key=bounds.get)
    servers = bounds[decides]
    amounts = (("points written", points_s, "points/s"), ("CPU of all daemons", cores["daemon"], "cores"),
               ("daemons", daemons, "daemons"), ("CPU of all gateways", cores["gateway"], "cores"),
               ("gateways", gateways, "gateways"), ("CPU of HBase", cores["hbase"], "cores"),
               ("region servers", servers, "region servers"), ("reason for the number of region servers", "the " + decides, ""),
               ("disk space of all copies", disk / 1e12, "TB"),
               ("memory of a daemon that gets points of all series", load.series * costs.series_bytes / 1e9, "GB"),
               ("salt buckets", salt_buckets(servers), "salt buckets"))
    return {resource: f"{shown(amount)} {unit}".rstrip() for resource, amount, unit in amounts}


def salt_buckets(servers):
    """Two regions that accept writes on each server; a query reads all of them."""
    return min(256, max(4, 2 * servers))


def shown(value):
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def check(costs, lines):
    print("| measured load | process | CPU time of a point by the formula | measured CPU time of a point | difference |")
    print("| --- | --- | --- | --- | --- |")
    for line in lines:
        if not line["what"].startswith("put"):
            continue
        batch = int(line["what"].split()[1])
        for part in PARTS:
            told, seen = costs.put_us(part, batch), line[f"{part}_us"]
            daemons = f"{line['daemons']} daemon{'s' * (line['daemons'] > 1)}"
            print(f"| {line['what']}, {daemons} | {PROCESSES[part]} | {told:.1f} us by the formula | {seen:.1f} us measured | "
                  f"{(seen / told - 1) * 100:+.0f} % |")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value, what in (
            ("series", 1e6, "number of series that get points"), ("interval", 60, "seconds between two points of a series"),
            ("retention", 365, "days for which HBase keeps the points"),
            ("rows", 10_000, "rows of an hour that queries scan per second"),
            ("batch", 200, "points in a write request"), ("busy", 0.5, "share of the CPU time that may be in use"),
            ("cores", 16, "cores of each machine"), ("memory", 32e9, "bytes of memory that a daemon has for series"),
            ("copies", 3, "copies of the data in HDFS"), ("disk", 40e12, "bytes of disk of a region server"),
            ("region", 20e9, "bytes of one copy of a region"), ("regions", 200, "number of regions of a region server")):
        parser.add_argument(f"--{name}", type=float, default=value, help=f"{what} (%(default)g)")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--check", metavar="FILE")
    parser.add_argument("--measured", metavar="FILE")
    return parser.parse_args()


def main():
    load = arguments()
    costs = Costs(lines_of(open(load.measured).read() if load.measured else MEASURED))
    if load.check:
        return check(costs, lines_of(open(load.check).read()))
    loads = [load]
    if load.table:
        loads = [argparse.Namespace(**{**vars(load), "series": series, "rows": rows})
                 for series, rows in ((1e6, 1e4), (1e8, 2e5), (1e9, 1e6))]
    sizes = [size(costs, one) for one in loads]
    print("| needed resource | " + " | ".join(f"{one.series:.0e} series" for one in loads) + " |\n|" + " --- |" * (len(loads) + 1))
    for what in sizes[0]:
        print(f"| {what} | " + " | ".join(f"{one.series:.0e} series: {sized[what]}" for one, sized in zip(loads, sizes)) + " |")


if __name__ == "__main__":
    main()
