"""Runs in an environment with OpenTelemetry's SDK: measures known numbers and exports them twice a second, either cumulative and
compressed or as deltas; finally prints the totals.

    feed_otlp.py cumulative|delta PORT SECONDS
"""
import json
import sys
import time

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

INTERVAL_S = 0.1
ROUTES = ("/", "/a b", "/grün?x=1")


def main(way, port, seconds):
    deltas = {Counter: AggregationTemporality.DELTA, Histogram: AggregationTemporality.DELTA}
    exporter = OTLPMetricExporter(endpoint=f"http://127.0.0.1:{port}/v1/metrics",
                                  compression=Compression.Gzip if way == "cumulative" else Compression.NoCompression,
                                  preferred_temporality=deltas if way == "delta" else {})
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=500)
    provider = MeterProvider([reader], Resource.create({"service.name": "shop", "service.instance.id": way}))
    meter = provider.get_meter("feed")
    requests = meter.create_counter("requests")
    open_now = meter.create_up_down_counter("requests.open")
    seen = {"load": 0.0}
    meter.create_observable_gauge("load", [lambda _: [Observation(seen["load"], {"cpu": 7, "on": True})]])
    took = meter.create_histogram("request.duration", unit="s")
    totals = {route: [0, 0, 0.0] for route in ROUTES}  # per route: number of requests, of measurements, and their sum
    for n in range(int(float(seconds) / INTERVAL_S)):
        for i, route in enumerate(ROUTES):
            of_route = {"http.route": route}
            requests.add(n + i, of_route)
            open_now.add(1 if n % 3 else -2, of_route)
            took.record(n * i / 8, of_route)
            totals[route][0] += n + i
            totals[route][1] += 1
            totals[route][2] += n * i / 8
        seen["load"] = n / 3
        time.sleep(INTERVAL_S)
    provider.shutdown()
    print(json.dumps(totals))


if __name__ == "__main__":
    main(*sys.argv[1:])
