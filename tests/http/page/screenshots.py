#!/usr/bin/env python3
"""Draws docs/page-graph.png and docs/page-server.png: the page in Chromium, with three hours of made-up points.

    screenshots.py --tsdb build/release/tsdb [--out docs]
"""
import argparse
import json
import math
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from looking import looking  # noqa: E402

MINUTES = 180
HOSTS = 6
WRITING_S = 14


def post(daemon, path, body):
    connection = daemon.connection()
    connection.request("POST", path, json.dumps(body))
    connection.getresponse().read()
    connection.close()


def fill(daemon, now):
    chance = random.Random(1)
    points = []
    for i in range(MINUTES):
        for host in range(HOSTS):
            busy = 30 + 7 * host + 8 * math.sin((i + 13 * host) / 14) + chance.random() * 3
            points.append({"metric": "cpu.user", "timestamp": now - 60 * i, "value": round(busy, 2),
                           "tags": {"host": f"web{host}", "dc": "ams" if host < 3 else "fra"}})
        for metric, value in (("net.bytes", int((MINUTES - i) * 9e6 + 4e6 * math.sin(i / 9))), ("mem.free", 4e9 + i * 1e6), ("disk.free", 7e10)):
            points.append({"metric": metric, "timestamp": now - 60 * i, "value": value, "tags": {"host": "web0"}})
    post(daemon, "/api/put", points)
    post(daemon, "/api/annotation", {"startTime": now - 3600, "endTime": now - 3000, "description": "release 9 goes out"})
    post(daemon, "/api/annotation", {"startTime": now - 7500, "description": "web2 got a new disk"})


def write_for_a_while(daemon, until):
    """Writes until the given time, with flushes, merges and queries that read the files."""
    now = int(time.time())
    for call in ("flush", "flush", "compact"):
        post(daemon, "/api/put", [{"metric": "load.test", "timestamp": now - 9000 + i, "value": i, "tags": {"host": f"h{host}"}}
                                  for i in range(1000) for host in range(20)])
        post(daemon, f"/api/admin/{call}", None)
    for metric in ("cpu.user", "load.test"):
        daemon.query("3h-ago", f"sum:1m-avg:{metric}")
    while time.monotonic() < until:
        post(daemon, "/api/put", [{"metric": "load.test", "timestamp": now + i, "value": i, "tags": {"host": f"h{host}"}}
                                  for i in range(50) for host in range(20)])
        now += 50
        time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parents[3] / "docs")
    arguments = parser.parse_args()
    with looking(arguments.tsdb, width=1180, height=1220) as (daemon, browser):
        fill(daemon, int(time.time()) // 60 * 60)
        base = f"http://127.0.0.1:{daemon.port}/"
        browser.open(base + "#start=3h-ago&m=avg:1m-avg:cpu.user{host=*}{dc=ams}&m=sum:1m-avg:rate{counter}:net.bytes&o=&o=axis%20x1y2")
        browser.wait("document.querySelector('#chart').chart?.data.length === 5"
                     " && document.querySelector('.tags details') !== null && document.querySelectorAll('#notes li').length === 2")
        browser.screenshot(arguments.out / "page-graph.png")
        browser.prefer("dark")
        browser.call("Emulation.setDeviceMetricsOverride", width=1180, height=820, deviceScaleFactor=1, mobile=False)
        browser.open(base + "#view=server")
        write_for_a_while(daemon, time.monotonic() + WRITING_S)
        browser.screenshot(arguments.out / "page-server.png")


if __name__ == "__main__":
    main()
