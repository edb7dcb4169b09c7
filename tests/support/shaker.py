"""Divides, joins, flushes and merges the regions of a running daemon through /api/admin, at random."""
import collections
import http.client
import random
import threading
import urllib.parse

from daemon import Refused


class Shaker(threading.Thread):
    """Until the daemon is gone or `ended` is set, with `pause_s` between two calls; the first metrics' rows of `hours`
    (their first seconds) are among the places where the data table is divided."""

    REGIONS = 8  # the approximate number of regions of a table to which splits and merges lead

    def __init__(self, daemon, seed, hours, pause_s=0.0):
        super().__init__()
        self.daemon_under_test = daemon
        self.random = random.Random(seed)
        self.hours, self.pause_s = hours, pause_s
        self.ended = threading.Event()
        self.done = collections.Counter()
        self.errors = []

    def key(self):
        """A random key at which the data table may be split: the start of a metric, or an hour of one."""
        key = "\\x00\\x00" + f"\\x{self.random.randrange(1, 4):02X}"
        if self.random.random() < 0.6:
            key += "".join(f"\\x{byte:02X}" for byte in self.random.choice(self.hours).to_bytes(4, "big"))
        return key

    def next_call(self):
        table = self.random.choice(("tsdb", "tsdb", "tsdb", "tsdb-uid"))
        starts = [region["start"] for region in
                  self.daemon_under_test.get("/api/admin/regions?" + urllib.parse.urlencode({"table": table}))]
        kind = self.random.choices(("split", "merge", "compact", "flush"), (6, 2, 2, 1))[0]
        if kind == "split" and len(starts) > self.REGIONS:
            kind = "merge"
        if kind == "merge":
            return kind, {"table": table, "at": self.random.choice(starts)}
        if kind == "split" and table == "tsdb" and self.random.random() < 0.7:
            return kind, {"table": table, "at": self.key()}
        if kind == "split":
            return kind, {"table": table, "region": self.random.choice(starts)}
        return kind, {"table": table} if kind == "compact" else {}

    def run(self):
        connection = self.daemon_under_test.connection(timeout=60)
        while not self.ended.wait(self.pause_s):
            try:
                kind, words = self.next_call()
                connection.request("POST", f"/api/admin/{kind}?" + urllib.parse.urlencode(words))
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException):
                return
            except Refused as refused:
                self.errors.append(str(refused))
                return
            if answer.status == 200:
                self.done[kind] += 1
            elif answer.status not in (400, 503):  # there may be no region to split or to merge
                self.errors.append(f"{kind} {words}: {answer.status} {body[:200]!r}")
