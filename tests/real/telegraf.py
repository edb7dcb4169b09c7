#!/usr/bin/env python3
"""Telegraf's OpenTSDB output, driven by a small program of ours (telegraf_feed) that feeds known metrics, writes by lines, then
by HTTP; the daemon is killed midway under the latter.

    telegraf.py --tsdb build/release/tsdb [--seconds 60]

What it was fed is what Telegraf sent, and that is what is stored. Known ways of the output: a connection of its own for each
batch of lines, closed at once behind the last line; bodies are compressed and their type is misspelt; signs that OpenTSDB
does not know become underlines; flags, texts and NaN are left out; six digits behind the point by lines. A batch that
failed is sent again by whoever called it. The last line reads "N passed, N failed".
"""
import json
import sys
import time

import trial

DOWN_S = 1.0
PROGRAM = trial.ROOT / "build/agents/telegraf_feed"


def fed(process, digits):
    """{key: value} as the output must send what the program was fed; digits behind the point, None: all of them."""
    out = {}
    for line in process.told.read_text().splitlines():
        told = json.loads(line)
        tags = {"host": told["host"].replace(" ", "_"), "dc": "b1_north"}
        value = int(told["value"]) if told["kind"] == "int" else float(told["value"])
        if isinstance(value, float) and digits is not None:
            value = float(f"{value:.{digits}f}")
        out[f"telegraf.{process.way}.feed_{told['field']}", frozenset(tags.items()), told["time"] * 1000] = value
    return out


def feed(t, address, port):
    """The running program; what it was fed goes to the file `told`."""
    way = address.split(":")[0]
    told = t.folder / f"{way}.fed"
    with open(told, "wb") as out:
        process = t.start([PROGRAM, address, port, t.seconds], stdout=out)
    process.told, process.way = told, way
    return process


def run(t):
    lines, web = t.relay(), t.relay()

    process = feed(t, "tcp://127.0.0.1", lines.port)
    print(f"Telegraf's output writes by lines for {t.seconds:.0f} s", flush=True)
    t.to_its_end(process)
    by_lines = fed(process, digits=6)
    sent = t.compare([lines], "Telegraf's output")
    t.check.that("by lines it sent what it was fed", list(trial.differences(by_lines, sent)))

    process = feed(t, "http://127.0.0.1", web.port)
    print(f"and by HTTP for {t.seconds:.0f} s", flush=True)
    time.sleep(t.seconds / 2)
    t.daemon.kill()
    time.sleep(DOWN_S)
    t.daemon.start()
    t.to_its_end(process)
    by_web = fed(process, digits=None)
    web.drain()
    # Batches that were cut off stand in the relay, too, and once more behind that.
    t.settled({**by_lines, **by_web},
              f"all {len(by_web)} numbers that it was fed by HTTP are stored, though the daemon was killed meanwhile")
    words = process.said.read_text()
    t.check.that("what failed it told, and was sent again", [] if "again:" in words else ["it noticed nothing: " + words])


if __name__ == "__main__":
    sys.exit(trial.main(run, __doc__, needs=["setup/telegraf_feed", str(PROGRAM)], seconds=10))
