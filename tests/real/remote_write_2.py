#!/usr/bin/env python3
"""The client library of Prometheus sends remote write 2.0 (remote_write_2_feed), and the daemon is killed midway.

    remote_write_2.py --tsdb build/release/tsdb [--seconds 60]

Every sample that was sent is stored, nothing else is stored, and the server knows what the sender said about the metrics. The
library itself fails if a response does not count the samples. The last line reads "N passed, N failed".
"""
import json
import sys
import time

import names
import trial

DOWN_S = 1.0
SOURCE = trial.ROOT / "tests/real/remote_write_2_feed"
PROGRAM = trial.ROOT / "build/agents/remote_write_2_feed"


def fed(told):
    """{key: value} of the samples that the program sent."""
    samples = (json.loads(line) for line in told.read_text().splitlines())
    return {names.key(each["metric"], each["labels"], each["millis"]): float(each["value"]) for each in samples}


def run(t):
    told = t.folder / "fed"
    with open(told, "wb") as out:
        process = t.start([PROGRAM, t.daemon.port, t.seconds], stdout=out)
    print(f"the client library writes for {t.seconds:.0f} s", flush=True)
    time.sleep(t.seconds / 2)
    t.daemon.kill()
    time.sleep(DOWN_S)
    t.daemon.start()
    t.to_its_end(process)
    sent = fed(told)
    t.settled(sent, f"all {len(sent)} samples that were sent are stored, although the daemon was killed, and nothing else is")
    words = process.said.read_text()
    t.check.that("the library noticed the kill and repeated its request", [] if "retrying" in words else ["it noticed nothing: " + words])
    known = t.daemon.get("/api/v1/metadata?metric=feed_0_total")["data"]
    t.check.that("the server knows type and help text of a metric",
                 [] if known == {"feed_0_total": [{"type": "counter", "help": "Fed by a test.", "unit": ""}]} else [str(known)])


if __name__ == "__main__":
    sys.exit(trial.main(run, __doc__, needs=["setup/go_program", str(SOURCE), str(PROGRAM)], seconds=10))
