#!/usr/bin/env python3
"""A flood of new series fills the memory of a daemon: known series are stored all the time, new ones again after a flush, and the
operator is told when no flush helps. Then the daemon is killed, and a new one finds every point that was acknowledged.
    new_series_flood.py build/release/tsdb [SECONDS]    with SECONDS: only a flood of that length at 64 MB, once
The last line reads "N passed, N failed"."""
import http.client
import itertools
import json
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402

LIMITS_MB = (30, 64)  # tsd.memory.limit
FLOOD_LINES_MAX = 300_000  # new series after which the memory must be full
ENOUGH_MB = 1024  # tsd.memory.limit with which all series can be counted
LINES_TOGETHER = 500
ANSWER_S = 1.0  # limit for a point of a known series
TRIES = 600  # of a thing that a busy machine delays; a short scenario with late answers is repeated RUNS times
RUNS = 3
BASE = 1_700_000_000
LATE = "took longer than a second"


class Lines:
    """A telnet connection. Each call sends lines, and returns the replies to them."""

    def __init__(self, server):
        self.socket, self.calls = server.raw(), 0
        self.replies = self.socket.makefile("r", encoding="utf-8")

    def say(self, lines):
        self.calls += 1
        mark = f"mark{self.calls}"  # an unknown command, whose reply comes after those of the lines before it
        self.socket.sendall("".join(f"{line}\n" for line in (*lines, mark)).encode())
        replies = []
        for reply in self.replies:
            if mark in reply:
                return replies
            replies.append(reply.strip())
        raise OSError("the daemon closed the connection")


class Flood:
    """New series over one connection, which reads its replies."""

    def __init__(self, server):
        self.lines, self.sent, self.refusals, self.stored, self.lines_max = Lines(server), 0, [], 0, FLOOD_LINES_MAX

    def more(self):
        new = [f"put flood {BASE} 1 host=h{self.sent + i}" for i in range(LINES_TOGETHER)]
        self.sent += LINES_TOGETHER
        refusals = self.lines.say(new)
        self.stored += LINES_TOGETHER - len(refusals)
        self.refusals = [*self.refusals[-LINES_TOGETHER:], *refusals]

    def until(self, done):
        while self.sent < self.lines_max:
            if done():
                return True
            self.more()
        return False


class Known:
    """Points of one known series: each has its own second, so that each can be counted."""

    def __init__(self, server):
        self.server, self.lines, self.sent, self.faults = server, Lines(server), 0, []

    def line(self):
        self.sent += 1
        return f"put known {BASE + self.sent} 1 host=known"

    def by_telnet(self, *lines_before):
        began = time.monotonic()
        replies = self.lines.say([*lines_before, self.line()])
        self.judge("telnet", began, len(replies) <= len(lines_before), replies)
        return replies

    def by_http(self):
        self.sent += 1
        began = time.monotonic()
        status, _, body = put(self.server, [("known", BASE + self.sent, "known")])
        self.judge("HTTP", began, status == 204, body)

    def judge(self, way, began, good, answer):
        if not good:
            self.faults.append(f"a known series is refused over {way}: {answer}")
        if time.monotonic() - began > ANSWER_S:
            self.faults.append(f"a known series over {way} {LATE}")

    def stored(self):
        found = self.server.query(BASE, "sum:known", BASE + self.sent + 1)
        return len(found[0]["dps"])


def put(server, points):
    """Status, headers and body of a put."""
    connection = server.connection()
    try:
        connection.request("POST", "/api/put", json.dumps([{"metric": metric, "timestamp": at, "value": 1, "tags": {"host": host}}
                                                           for metric, at, host in points]))
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()


def soon(attempt):
    """Whether one of TRIES attempts, a tenth of a second apart, returns true."""
    for _ in range(TRIES):
        if attempt():
            return True
        time.sleep(0.1)
    return False


def flood_beside(known, flood, done):
    """Floods in a thread, and writes the known series and a new one with it meanwhile."""
    reached = []
    thread = threading.Thread(target=lambda: reached.append(flood.until(done)))
    thread.start()
    beside = 0
    while thread.is_alive():
        known.by_telnet()
        known.by_http()
        beside += not known.by_telnet(f"put flood {BASE} 1 host=beside{known.sent}")
        thread.join(0.01)
    flood.stored += beside
    return reached == [True]


def after_a_refusal(server, known, flood):
    """The flood ends when a series is refused that a flush would admit."""
    if not flood_beside(known, flood, lambda: any("until a flush" in text for text in flood.refusals)):
        yield f"no series was refused until a flush; the last of {len(flood.refusals)} refusals: {flood.refusals[-1:]}"
    known.by_telnet()
    known.by_http()
    turns = iter(range(TRIES))
    if soon(lambda: put(server, [("flood", BASE, f"after{next(turns)}")])[0] == 204):
        flood.stored += 1
    else:
        yield "after the flood new series are refused although a flush would make room"


def refusal_faults(server, known, flood, faults):
    """Sends new series in each way, and collects what is wrong with the refusals and with what the daemon tells. A flush or merge that is
    still running may make room for some series."""
    flood.more()
    faults.clear()
    status, headers, body = put(server, [("flood", BASE, f"full{flood.sent}"), ("known", BASE + known.sent + 1, "known")])
    known.sent += 1  # stored although the request is refused
    flood.stored += status == 204
    if status != 503 or "Retry-After" not in headers or not re.search(r"series \(\d+ MB\), names \(\d+ MB\)", body):
        faults.append(f"a put of a new series is answered by {status} {body!r}")
    replies = known.by_telnet(f"put flood {BASE} 1 host=line{flood.sent}")
    flood.stored += not replies
    if len(replies) != 1 or not replies[0].startswith("put: Please throttle writes: new series"):
        faults.append(f"a telnet line of a new series is answered by {replies}")
    if not re.fullmatch(r"ready\nnew series and names are refused: series \(\d+ MB\), names \(\d+ MB\) and indexes of files \(\d+ MB\) "
                        r"nearly fill their budget of \d+ MB\n", server.text("/readyz")):
        faults.append(f"/readyz says {server.text('/readyz')!r}")
    if "hourglass_storage_series_full 1\n" not in server.text("/metrics"):
        faults.append("/metrics does not say that no new series are admitted")
    return faults


def when_full(server, known, flood):
    """The flood ends when series and names alone fill the memory."""
    if not flood_beside(known, flood, lambda: server.statistic("storage.series.full") == 1 and flood.refusals[-1:] and
                        "raise tsd.memory.limit" in flood.refusals[-1]):
        yield f"{flood.sent} new series do not fill the memory"
        return
    faults = []
    if not soon(lambda: not refusal_faults(server, known, flood, faults)):
        yield from faults
    known.by_http()
    if not server.statistic("storage.series.refused"):
        yield "no refused series are counted"


def for_long(seconds):
    """The flood goes on when the memory is full."""
    def long_flood(server, known, flood):
        end = time.monotonic() + seconds
        flood.lines_max = sys.maxsize
        flood_beside(known, flood, lambda: time.monotonic() >= end)
        yield from when_full(server, known, flood)
        print(f"{seconds:.0f} s: {flood.sent} lines of new series, {flood.stored} stored; {known.sent} points of the known series")
    return long_flood


def lost(tsdb, folder, known, flood):
    """What a daemon with enough memory does not find."""
    server = daemon.Daemon(tsdb, folder, {"tsd.memory.limit": ENOUGH_MB << 20, "tsd.query.memory.per_query": 0})
    server.start()
    try:
        found = server.query(BASE, "sum:flood", BASE + 1)[0]["dps"][str(BASE)]
        if found != flood.stored:
            yield f"{found} of {flood.stored} new series are found after the daemon was killed"
        known.server = server
        if known.stored() != known.sent:
            yield f"{known.stored()} of {known.sent} points of the known series are found after the daemon was killed"
    finally:
        server.stop()


def scenario(tsdb, limit_mb, kind):
    with tempfile.TemporaryDirectory() as folder:
        server = daemon.Daemon(tsdb, folder, {"tsd.memory.limit": limit_mb << 20})
        server.start()
        began = time.monotonic()
        try:
            known, flood = Known(server), Flood(server)
            known.by_telnet()
            faults = list(kind(server, known, flood)) + known.faults
            if known.stored() != known.sent:
                faults.append(f"{known.stored()} of {known.sent} points of the known series are stored")
        finally:
            server.kill()
        told = (server.folder / "tsd.log").read_text().count("warning: new series and names are refused")
        if not 1 <= told <= 1 + (time.monotonic() - began) / 60:
            faults.append(f"the log tells {told} times that series are refused")
        return faults + list(lost(tsdb, folder, known, flood))


def main():
    passed, failed = 0, 0
    long = [(LIMITS_MB[-1], for_long(float(sys.argv[2])))] if len(sys.argv) > 2 else []
    for limit_mb, kind in long or itertools.product(LIMITS_MB, (after_a_refusal, when_full)):
        for _ in range(1 if long else RUNS):
            faults = scenario(sys.argv[1], limit_mb, kind)
            if not faults or not all(fault.endswith(LATE) for fault in faults):
                break
        passed, failed = passed + (not faults), failed + bool(faults)
        for fault in sorted(set(faults)):
            print(f"FAIL {limit_mb} MB, {kind.__name__}: {fault}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
