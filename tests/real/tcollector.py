#!/usr/bin/env python3
"""A client that sends as tcollector does (tcollector_client.py), by lines and by HTTP; the daemon is killed midway.

    tcollector.py --tsdb build/release/tsdb [--seconds 60]

By HTTP nothing is lost, whatever happens: a batch that was not answered with success is sent again. By lines what an
answer to `version` followed is there; what was on its way when the daemon was killed may be, and nobody can know, since the
line protocol acknowledges nothing. The last line reads "N passed, N failed".
"""
import sys
import time

import trial
from tcollector_client import HttpSender, LineSender

DOWN_S = 1.0
BATCH_S = 0.5
METRICS = 40  # metrics of each collector; with their tags a batch is about 10 KB


def collect(n, kind):
    """The n-th values of a collector; n grows by two per second, so that no time occurs twice."""
    at = int(time.time()) - 3600 + n
    for i in range(METRICS):
        yield f"{kind}.proc.{i:02}", at, n * 1000 + i if kind == "lines" else n + i / 8, {"cpu": str(i % 4), "type": "user"}


def keys(points, host):
    return {(metric, frozenset({**tags, "host": host}.items()), at * 1000): value for metric, at, value, tags in points}


def compare_lines(sender, kept):
    """Checks that no point known to be stored is missing, and that nothing is stored that was not sent."""
    certain, sent = keys(sender.certain, sender.host_tag), keys(sender.sent, sender.host_tag)
    errors = [f"{trial.told(key)} is {kept.get(key)}, {value} was sent" for key, value in certain.items()
              if kept.get(key) != value]
    errors += trial.differences({key: value for key, value in sent.items() if key in kept}, kept)
    return len(certain), errors


def refused_batches(t, sender):
    """A batch with an invalid name is answered 400 and dropped; its valid points are stored, and later batches work."""
    good = [("http.after", int(time.time()) - 10, 1.0, {"cpu": "0"})]
    sender.send([("http.no good", int(time.time()) - 10, 1.0, {"cpu": "0"})] + good)
    errors = [] if not sender.queue and len(sender.refused) == 2 else [f"{len(sender.queue)} points wait"]
    return errors, good


def run(t):
    lines, web = LineSender(t.daemon.port, "web1"), HttpSender(t.daemon.port, "web2", user="u", password="p")
    lines.sent, told = [], []
    lines.self_check()
    print(f"a batch of {METRICS} points each {BATCH_S} s by lines and by HTTP, for {t.seconds:.0f} s", flush=True)
    rounds = max(6, int(t.seconds / BATCH_S))
    for n in range(rounds):
        if n == rounds // 2:
            t.daemon.kill()
        batch, body = list(collect(n, "lines")), list(collect(n, "http"))
        told += body
        web.send(body)
        if n == rounds // 2:
            time.sleep(DOWN_S)
            t.daemon.start()
        lines.sent += batch
        lines.send(batch)
        if n % 4 == 3:
            lines.verify()
        time.sleep(BATCH_S)
    while not web.send():
        time.sleep(BATCH_S)
    lines.connect()
    lines.verify()
    errors, good = refused_batches(t, web)
    t.check.that("a batch that gets 400 is dropped, and the next one is sent", errors)

    kept = trial.stored(t.daemon, *t.span())
    by = {prefix: {key: value for key, value in kept.items() if key[0].startswith(prefix)} for prefix in ("lines.", "http.")}
    t.check.that(f"all {len(told)} points sent by HTTP are stored, and nothing else, though {web.failures} tries failed",
                 list(trial.differences(keys(told + good, web.host_tag), by["http."]))
                 + ([] if web.failures else ["no try failed: the daemon was not killed in time"]))
    count, errors = compare_lines(lines, by["lines."])
    t.check.that(f"{count} of {len(lines.sent)} points sent by lines are certain, and stored", errors if count else ["none is"])
    t.check.that("a connection that was lost is made again", [] if lines.connections > 1 else ["there was only one"])
    t.check.that("`version` and `stats` are answered as a self check wants them",
                 ([] if lines.version.startswith("net.opentsdb") else [lines.version[:200]])
                 + ([] if "tsd.rpc.received" in lines.stats else [lines.stats[:200]]))


if __name__ == "__main__":
    sys.exit(trial.main(run, __doc__, seconds=10))
