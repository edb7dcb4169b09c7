#!/usr/bin/env python3
"""A series whose points are all deleted or expired leaves the lists of series of a running daemon, and its names stay in the tables of names.
    series_without_points.py build/release/tsdb
The last line reads "N passed, N failed"."""
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402
from checks import Checks  # noqa: E402

TTL_S = 86400
ALL = ["deleted", "expired", "kept"]
checks = Checks()
check = checks.must


def listed(server):
    """Returns {endpoint: hosts that it names}."""
    names = {"label values": server.get("/api/v1/label/host/values")["data"],
             "series": [labels["host"] for labels in server.get("/api/v1/series?match[]=m")["data"]],
             "lookup": [found["tags"]["host"] for found in server.get("/api/search/lookup?m=m&use_meta=false")["results"]],
             "suggest": server.get("/api/suggest?type=tagv")}
    return {endpoint: sorted(hosts) for endpoint, hosts in names.items()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = daemon.Daemon(sys.argv[1], folder, {"tsd.storage.ttl": TTL_S, "tsd.http.query.allow_delete": "true"})
        server.start()
        try:
            now = int(time.time())
            server.put([{"metric": "m", "timestamp": now - (2 * TTL_S if host == "expired" else 60), "value": 1, "tags": {"host": host}}
                        for host in ALL])
            check(listed(server) == dict.fromkeys(("label values", "series", "lookup", "suggest"), ALL),
                  f"a series with a stored row is listed: {listed(server)}")
            server.post("/api/query", {"start": now - 3600, "delete": True, "queries": [
                {"aggregator": "sum", "metric": "m", "tags": {"host": "deleted"}}]})
            server.post("/api/admin/flush", {})
            server.post("/api/admin/compact", {})  # removes the rows from files, and then searches for series without rows
            left = listed(server)
            check(left == {**dict.fromkeys(("label values", "series", "lookup"), ["kept"]), "suggest": ALL},
                  f"a series without rows leaves all lists except the names: {left}")
            server.put([{"metric": "m", "timestamp": now, "value": 1, "tags": {"host": "deleted"}}])
            back = listed(server)
            check(back["label values"] == back["series"] == back["lookup"] == ["deleted", "kept"],
                  f"a series with a new point is listed again: {back}")
        finally:
            server.stop()
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
