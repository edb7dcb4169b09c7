#!/usr/bin/env python3
"""One of Telegraf's outputs, driven by a small program of ours (telegraf_feed) that feeds known metrics.

    telegraf.py opentsdb-lines --tsdb build/release/tsdb [--seconds 60]
    telegraf.py opentsdb-http      and those below: the daemon is killed midway
    telegraf.py influxdb
    telegraf.py influxdb_v2

What it was fed is what Telegraf sent, and that is what is stored. Known ways of the output opentsdb: a connection of its own for
each batch of lines, closed at once behind the last line; bodies are compressed and their type is misspelt; signs that OpenTSDB
does not know become underlines; flags, texts and NaN are left out; six digits behind
the point by lines, and none behind a whole number's by HTTP, which makes an integer of it. Those of the others:
a database is asked for first (influxdb), flags and texts are sent. A batch that failed is sent again by whoever called the
output. The last line reads "N passed, N failed".
"""
import json
import sys
import time

import names
import trial

DOWN_S = 1.0
SOURCE = trial.ROOT / "tests/real/telegraf_feed"
PROGRAM = trial.ROOT / "build/agents/telegraf_feed"
WAYS = ("opentsdb-lines", "opentsdb-http", "influxdb", "influxdb_v2")


def fed(told, way):
    """Returns {key: value} that the output must send for the metrics that the program was fed."""
    out = {}
    for line in told.read_text().splitlines():
        each = json.loads(line)
        value = float(each["value"]) if each["kind"] == "float" else int(each["value"])
        metric, tags = f"feed.{each['field']}", {"host": each["host"], "dc": "b1:north"}
        if way.startswith("opentsdb"):
            if each["kind"] == "flag":
                continue
            metric = f"telegraf.feed_{each['field']}"
            tags = {"host": each["host"].replace(" ", "_"), "dc": "b1_north"}
        if way == "opentsdb-lines" and isinstance(value, float):
            value = float(f"{value:.6f}")
        if way == "opentsdb-http" and isinstance(value, float) and value.is_integer():
            value = int(value)
        out[names.key(metric, tags, each["time"] * 1000)] = value
    return out


def run(t):
    relay, told = t.relay(), t.folder / "fed"
    with open(told, "wb") as out:
        process = t.start([PROGRAM, t.way, relay.port, t.seconds], stdout=out)
    print(f"Telegraf's output writes for {t.seconds:.0f} s", flush=True)
    if t.way == "opentsdb-lines":
        t.to_its_end(process)
        sent = t.compare([relay], "Telegraf's output")
        t.check.that("it sent what it was fed", list(trial.differences(fed(told, t.way), sent)))
        return
    time.sleep(t.seconds / 2)
    t.daemon.kill()
    time.sleep(DOWN_S)
    t.daemon.start()
    t.to_its_end(process)
    # The relay also recorded batches that were cut off; they follow once more, complete.
    known, sent = fed(told, t.way), relay.points()
    t.check.that("it sent what it was fed", list(trial.differences(known, sent)))
    t.settled(known, f"all {len(known)} numbers that it was fed are stored, though the daemon was killed meanwhile")
    words = process.said.read_text()
    t.check.that("what failed it told, and was sent again", [] if "again:" in words else ["it noticed nothing: " + words])


if __name__ == "__main__":
    sys.exit(trial.main(run, __doc__, needs=["setup/go_program", str(SOURCE), str(PROGRAM)], ways=WAYS, seconds=10))
