#!/usr/bin/env python3
"""opentsdb-py, a client for OpenTSDB from the Python package index (requirements.txt), writes by lines and by HTTP.

    python_client.py --tsdb build/release/tsdb [--seconds 60]

What it was told to send (python_feed.py) is what it sent, and that is what is stored. Known ways of the client: bodies are
compressed and ask for details, whose answer it counts; by lines each number is a write of its own. The last line reads
"N passed, N failed".
"""
import json
import sys

import trial

FOLDER = trial.ROOT / "build/agents/python"


def run(t):
    known = {}
    relays = {protocol: t.relay() for protocol in ("telnet", "http")}
    for protocol, relay in relays.items():
        told = t.folder / f"{protocol}.fed"
        with open(told, "wb") as out:
            process = t.start([FOLDER / "bin/python", trial.ROOT / "tests/real/python_feed.py", protocol, relay.port,
                               t.seconds], stdout=out)
        print(f"the client writes by {protocol} for {t.seconds:.0f} s", flush=True)
        t.to_its_end(process)
        *lines, last = (json.loads(line) for line in told.read_text().splitlines())
        known.update((trial.wire.key(metric, at, tags), value) for metric, at, value, tags in lines)
        t.check.that(f"by {protocol} the client counts nothing as failed", [f"{last}"] if last["failed"] else [])
    sent = t.compare(relays.values(), "the client")
    t.check.that(f"it sent all {len(known)} numbers that it was given, and no other",
                 list(trial.differences(known, sent)) if known else ["it was given nothing"])


if __name__ == "__main__":
    sys.exit(trial.main(run, __doc__, needs=["setup/python_client", str(FOLDER)], seconds=10))
