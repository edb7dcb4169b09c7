#!/usr/bin/env python3
"""OpenTelemetry's SDK for Python (requirements.txt) exports sums, a gauge and histograms by OTLP over HTTP: cumulative and packed,
and as deltas.

    otlp.py --tsdb build/release/tsdb [--seconds 60]

What its exporters sent, read by a reader of our own (otlp_body.py), is what is stored, and it comes to what was measured
(feed_otlp.py). The last line reads "N passed, N failed".
"""
import json
import sys

import names
import trial

FOLDER = trial.ROOT / "build/agents/python"


def total(points, metric, way, route, of):
    """The total of a series: the last point if points are cumulative, the sum of all points if they are deltas."""
    tags = {"service.name": "shop", "service.instance.id": way, "http.route": route}
    name, wanted, _ = names.key(metric, tags, 0)
    values = [value for _, value in sorted((key[2], value) for key, value in points.items() if key[:2] == (name, wanted))]
    return of(values) if values else None


def comes_to(points, way, told):
    of = sum if way == "delta" else lambda values: values[-1]
    for route, measured in told.items():
        for metric, expected in zip(("requests", "request.duration_count", "request.duration_sum"), measured):
            got = total(points, metric, way, route, of)
            if got != expected:
                yield f"{metric} of {route!r} comes to {got}, {expected} was measured"


def run(t):
    running = {}
    for way in ("cumulative", "delta"):
        told = t.folder / f"{way}.told"
        with open(told, "wb") as out:
            running[way] = told, t.start([FOLDER / "bin/python", trial.ROOT / "tests/real/feed_otlp.py", way, t.relay().port,
                                          t.seconds], stdout=out)
    print(f"two exporters write for {t.seconds:.0f} s", flush=True)
    for _, process in running.values():
        t.to_its_end(process)
    sent = t.compare(t.relays, "the exporters")
    kept = trial.stored(t.daemon, *t.span())
    for way, (told, _) in running.items():
        t.check.that(f"{way}: what is stored comes to what was measured",
                     list(comes_to(kept, way, json.loads(told.read_text()))))
    t.check.that("no answer tells of points that were left out",
                 [f"{body!r}" for relay in t.relays for connection in relay.connections
                  for _, _, body in trial.wire.messages(connection.answered) if body])
    kinds = {metric for metric, _, _ in sent}
    expected = {"requests", "requests.open", "load", "request.duration_bucket", "request.duration_sum", "request.duration_count"}
    t.check.that("every kind of number was sent", sorted(expected - kinds))


if __name__ == "__main__":
    sys.exit(trial.main(run, __doc__, needs=["setup/python_client", str(FOLDER)], seconds=10))
