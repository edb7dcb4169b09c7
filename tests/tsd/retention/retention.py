#!/usr/bin/env python3
"""A daemon deletes what its rules say has become too old, and nothing else, while it serves and for good; a rule that it
does not understand keeps it from starting. The last line reads "N passed, N failed"."""
import json
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402
from checks import Checks, waited  # noqa: E402

DAY = 86_400
RULES = [{"metric": "sys.*", "keep": "30d"}, {"metric": "sys.cpu", "tags": {"host": "test*"}, "keep": "1d"}]
HOSTS, HOURS = 50, 100  # the data that is written


def point(metric, host, age_s, now):
    return {"metric": metric, "timestamp": now - age_s, "value": 1, "tags": {"host": host}}


def ages(server, metric, now):
    """Returns {(host, age in whole days)} of the points that a query finds."""
    found = set()
    for series in server.query(now - 400 * DAY, f"none:{metric}", now + 1):
        found.update((series["tags"]["host"], round((now - int(at)) / DAY)) for at in series["dps"])
    return found


def check_whole_files(check, folder):
    """Checks that files whose days are all deleted by one rule are dropped unread, and that others lose only their old rows."""
    server = daemon.Daemon(sys.argv[1], folder, {"tsd.retention.interval": 1})
    server.start()
    now = int(time.time())
    server.put([point(metric, "web1", days * DAY, now) for metric in ("a", "b") for days in (50, 40, 30, 0)])
    check("memory goes to files", server.stop(), 0)
    server.settings["tsd.retention.config"] = '[{"metric": "*", "keep": "45d"}, {"metric": "a", "keep": "35d"}]'
    server.start()
    check("what is left of a", waited(lambda: ages(server, "a", now), {("web1", 30), ("web1", 0)}), {("web1", 30), ("web1", 0)})
    left = {("web1", 40), ("web1", 30), ("web1", 0)}
    check("what is left of b", waited(lambda: ages(server, "b", now), left), left)
    check("files that went whole", server.statistic("storage.files.dropped"), 1)
    check("failures", server.statistic("retention.failures"), 0)
    check("stops in good order", server.stop(), 0)


def main():
    check = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_whole_files(check, folder)
    with tempfile.TemporaryDirectory() as folder:
        server = daemon.Daemon(sys.argv[1], folder, {"tsd.retention.config": json.dumps(RULES), "tsd.retention.interval": 1})
        server.start()
        now = int(time.time())
        server.put([point(metric, host, days * DAY, now) for metric in ("sys.cpu", "sys.disk", "app")
                    for host in ("web1", "test1") for days in (40, 10, 0)])
        server.put([point("sys.load", f"h{host}", 60 * DAY + hour * 3600, now) for host in range(HOSTS) for hour in range(HOURS)])
        left = {"sys.cpu": {("web1", 10), ("web1", 0), ("test1", 0)},
                "sys.disk": {(host, days) for host in ("web1", "test1") for days in (10, 0)},
                "app": {(host, days) for host in ("web1", "test1") for days in (40, 10, 0)}, "sys.load": set()}
        for metric, wanted in left.items():
            check(f"what is left of {metric}", waited(lambda name=metric: ages(server, name, now), wanted), wanted)
        server.put([point("sys.disk", "web1", 50 * DAY, now)])
        check("a point that came late goes, too", waited(lambda: ages(server, "sys.disk", now), left["sys.disk"]), left["sys.disk"])
        server.kill()
        server.settings["tsd.retention.config"] = ""
        server.start()
        for metric, wanted in left.items():
            check(f"what is left of {metric} after a kill", ages(server, metric, now), wanted)
        check("stops in good order", server.stop(), 0)

        server.settings["tsd.retention.config"] = '[{"metric":"m","keep":"1h"},{"metric":"m","tag":{}}]'
        try:
            server.start(10)
            check("a daemon with a wrong rule", "started", "refused")
            server.stop()
        except RuntimeError as refused:
            check("the message names the rule", "rule 2" in str(refused), True)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
