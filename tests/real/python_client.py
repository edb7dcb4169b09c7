#!/usr/bin/env python3
"""Clients from the Python package index (requirements.txt) write, two at the same time.

    python_client.py opentsdb --tsdb build/release/tsdb [--seconds 60]    opentsdb-py, by lines and by HTTP
    python_client.py influx                                               influxdb and influxdb-client, both packed

What a client was told to send (feed_*.py) is what it sent, and that is what is stored. Known ways: opentsdb-py asks for details,
whose answer it counts, and by lines each number is a write of its own; influxdb asks for a database to be made. The last line
reads "N passed, N failed".
"""
import json
import sys

import names
import trial

FOLDER = trial.ROOT / "build/agents/python"
WAYS = {"opentsdb": ("telnet", "http"), "influx": ("v1", "v2")}


def run(t):
    known, running = {}, []
    for kind in WAYS[t.way]:
        relay, told = t.relay(), t.folder / f"{kind}.fed"
        with open(told, "wb") as out:
            process = t.start([FOLDER / "bin/python", trial.ROOT / f"tests/real/feed_{t.way}.py", kind, relay.port, t.seconds],
                              stdout=out)
        running.append((kind, process, told))
    print(f"{' and '.join(WAYS[t.way])} write for {t.seconds:.0f} s", flush=True)
    for kind, process, told in running:
        t.to_its_end(process)
        *lines, last = (json.loads(line) for line in told.read_text().splitlines())
        known.update((names.key(metric, tags, at_ms), value) for metric, at_ms, value, tags in lines)
        t.check.that(f"by {kind} the client counts nothing as failed", [f"{last}"] if last["failed"] else [])
    sent = t.compare(t.relays, "the clients")
    t.check.that(f"they sent all {len(known)} numbers that they were given, and no other",
                 list(trial.differences(known, sent)) if known else ["they were given nothing"])


if __name__ == "__main__":
    sys.exit(trial.main(run, __doc__, needs=["setup/python_client", str(FOLDER)], ways=tuple(WAYS), seconds=10))
