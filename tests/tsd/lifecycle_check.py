#!/usr/bin/env python3
"""A daemon's life as a service manager and a load balancer see it: what it answers while it starts, readiness told over NOTIFY_SOCKET, a reload, a stop that
first says no at /readyz and serves on, what a stop leaves for the next start.
    lifecycle_check.py build/release/tsdb
The last line reads "N passed, N failed"."""
import os
import re
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402

checks = [0, 0]


def check(good, what):
    checks[0 if good else 1] += 1
    if not good:
        print("FAIL", what)


class Manager:
    """The end of NOTIFY_SOCKET."""

    def __init__(self, folder):
        path = str(folder / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(30)
        os.environ["NOTIFY_SOCKET"] = path

    def next(self):
        try:
            return self.socket.recv(4096).decode()
        except TimeoutError:
            return "nothing"


def status_of(server, path, body=None):
    connection = server.connection()
    connection.request("POST" if body else "GET", path, body)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def point(value):
    return f'{{"metric":"m","timestamp":{1700000000 + value},"value":{value},"tags":{{"a":"b"}}}}'


def metric(server, name):
    return int(re.search(rf"^{name} (\d+)$", server.text("/metrics"), re.MULTILINE)[1])


def answers_while_it_starts(tsdb, folder):
    """A store that cannot be opened yet: HBase's gateway is not there."""
    server = daemon.Daemon(tsdb, folder, {"tsd.storage.backend": "hbase", "tsd.storage.hbase.start_patience": 600_000,
                                          "tsd.storage.hbase.thrift": f"127.0.0.1:{daemon.free_port()}"})
    server.launch()
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        try:
            check(status_of(server, "/healthz") == (200, "ok\n"), "it is healthy before it has a store")
            break
        except OSError:
            time.sleep(0.02)
    check(status_of(server, "/readyz") == (503, "starting: the store is opened\n"), "and not ready")
    check(status_of(server, "/api/put", point(1))[0] == 503, "points are to be sent again")
    check(server.stop() == 0, "told to stop it ends")


def told_and_drained(tsdb, folder):
    manager = Manager(folder)
    server = daemon.Daemon(tsdb, folder, {"tsd.core.stop.drain": 600_000})
    server.start()
    check(manager.next() == "STATUS=Opening the store", "the start is told")
    check(manager.next().startswith("READY=1"), "readiness is told")
    server.process.send_signal(signal.SIGHUP)
    check(manager.next().startswith("RELOADING=1\nMONOTONIC_USEC="), "a reload is told")
    check(manager.next().startswith("READY=1"), "its end is told")
    check(status_of(server, "/readyz") == (200, "ready\n"), "it is ready")
    server.process.send_signal(signal.SIGTERM)
    check(manager.next().startswith("STOPPING=1"), "the stop is told")
    check(status_of(server, "/readyz") == (503, "stopping\n"), "it is ready no more")
    check(status_of(server, "/healthz") == (200, "ok\n"), "it is healthy")
    check(status_of(server, "/api/put", point(1))[0] == 204, "it takes points while it drains")
    check(server.stop() == 0, "a second signal ends the draining, and the process, with 0")
    del os.environ["NOTIFY_SOCKET"]


def replayed(tsdb, folder, flush):
    """Records that a start reads after a stop."""
    server = daemon.Daemon(tsdb, folder, {"tsd.core.stop.flush": flush})
    server.start()
    check(status_of(server, "/api/put", point(2))[0] == 204, "a point is taken")
    check(server.stop() == 0, "it stops")
    server.start()
    check(server.query(1700000000, "sum:m", 1700000010)[0]["dps"].get("1700000002") == 2, "the point is there")
    records = metric(server, "hourglass_storage_replayed_records")
    server.stop()
    return records


def main():
    tsdb = sys.argv[1]
    for run in (answers_while_it_starts, told_and_drained,
                lambda tsdb, folder: check(replayed(tsdb, folder, "true") == 0, "a stop leaves nothing to replay"),
                lambda tsdb, folder: check(replayed(tsdb, folder, "false") > 0, "a quick stop leaves the log")):
        with tempfile.TemporaryDirectory() as folder:
            run(tsdb, Path(folder))
    print(f"{checks[0]} passed, {checks[1]} failed")
    return 1 if checks[1] else 0


if __name__ == "__main__":
    sys.exit(main())
