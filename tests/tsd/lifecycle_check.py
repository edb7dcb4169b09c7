#!/usr/bin/env python3
"""A daemon's life as a service manager and a load balancer see it: what it answers while it starts, readiness told over NOTIFY_SOCKET, a reload, a stop that
first says no at /readyz and serves on, what a stop leaves for the next start; and where it listens that was not told.
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
from checks import Checks  # noqa: E402

# In the form of /proc/net/tcp: the state, and 127.0.0.1 as a number in this machine's byte order.
LISTENS = "0A"
LOOPBACK = f"{int.from_bytes(socket.inet_aton('127.0.0.1'), sys.byteorder):08X}"

checks = Checks()
check = checks.must


class Manager:
    """The receiving end of NOTIFY_SOCKET (what systemd would read)."""

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
    """The store cannot be opened yet, because HBase's gateway is not there."""
    nobody = socket.socket()  # keeps its port from other programs, and refuses connections
    nobody.bind(("127.0.0.1", 0))
    server = daemon.Daemon(tsdb, folder, {"tsd.storage.backend": "hbase", "tsd.storage.hbase.start_patience": 600_000,
                                          "tsd.storage.hbase.thrift.deadline": 1000,  # a stop waits for it
                                          "tsd.storage.hbase.thrift": f"127.0.0.1:{nobody.getsockname()[1]}"})
    server.launch()
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        try:
            check(status_of(server, "/healthz") == (200, "ok\n"), "it is healthy before it has a store")
            break
        except OSError:
            time.sleep(0.02)
    check(status_of(server, "/readyz") == (503, "starting: the store is being opened\n"), "and not ready")
    check(status_of(server, "/api/put", point(1))[0] == 503, "points are to be sent again")
    check(server.stop() == 0, "told to stop it ends")
    nobody.close()


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
    """The number of log records that a start reads after a stop."""
    server = daemon.Daemon(tsdb, folder, {"tsd.core.stop.flush": flush})
    server.start()
    check(status_of(server, "/api/put", point(2))[0] == 204, "a point is taken")
    check(server.stop() == 0, "it stops")
    server.start()
    check(server.query(1700000000, "sum:m", 1700000010)[0]["dps"].get("1700000002") == 2, "the point is there")
    records = metric(server, "hourglass_storage_replayed_records")
    server.stop()
    return records


def knows_spellings(server, count):
    give_up = time.monotonic() + 30
    while metric(server, "hourglass_ingest_raw_keys") < count and time.monotonic() < give_up:
        time.sleep(0.02)
    return metric(server, "hourglass_ingest_raw_keys") == count


def recalled(tsdb, folder):
    """The number of series found again after a kill in a table of series that the process before had written."""
    server = daemon.Daemon(tsdb, folder)
    server.start()
    points = [f'{{"metric":"m{number % 2}","timestamp":1700000001,"value":1,"tags":{{"host":"h{number}","dc":"x"}}}}' for number in range(300)]
    check(status_of(server, "/api/put", "[" + ",".join(points[:200]) + "]")[0] == 204, "points are taken")
    shapes = folder / "data" / "SHAPES"
    give_up = time.monotonic() + 30
    while not shapes.exists() and time.monotonic() < give_up:
        time.sleep(0.02)
    check(status_of(server, "/api/put", "[" + ",".join(points[200:]) + "]")[0] == 204, "other series come after the file")
    server.kill()
    server.start()
    check(knows_spellings(server, 300), "after a kill the spellings of all series are known")
    check(status_of(server, "/api/put", "[" + ",".join(points) + "]")[0] == 204, "and good for points")
    check(metric(server, "hourglass_storage_series") == 300, "of the same series")
    check(status_of(server, "/api/uid/rename", '{"tagv":"h7","name":"new"}')[0] == 200, "a name is changed")
    server.kill()
    server.start()
    check(knows_spellings(server, 300), "after another one, too")
    check(status_of(server, "/api/put", points[7].replace("h7", "new"))[0] == 204, "a point by the new name")
    check(metric(server, "hourglass_storage_series") == 300, "is one of the known series")
    check(status_of(server, "/api/put", points[7])[0] == 204, "one by the old name")
    check(metric(server, "hourglass_storage_series") == 301, "makes a series")
    check(server.stop() == 0, "it stops")
    shapes.write_bytes(shapes.read_bytes()[:-1])
    server.start()
    check(server.query(1700000000, "sum:m0", 1700000010)[0]["dps"].get("1700000001") == 150, "a torn file costs no point")
    check(metric(server, "hourglass_ingest_raw_keys") == 0, "but what is known of spellings")
    server.stop()


def listens_on(process):
    """Returns {(address in the kernel's form, port)} of the process's listening sockets, for IPv4 and IPv6."""
    own = set()
    for name in os.listdir(f"/proc/{process.pid}/fd"):
        try:
            own.add(os.readlink(f"/proc/{process.pid}/fd/{name}"))
        except FileNotFoundError:  # it was closed meanwhile
            pass
    out = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == LISTENS and f"socket:[{cells[9]}]" in own:
                address, port = cells[1].split(":")
                out.add((address, int(port, 16)))
    return out


def is_reached_from_here_alone(tsdb, folder):
    """Without a configured address, all sockets of this process listen on 127.0.0.1 only, Graphite's ports included."""
    settings = {f"tsd.graphite.{name}": daemon.free_port() for name in ("port", "pickle.port")}
    for bind, address in ((None, LOOPBACK), ("0.0.0.0", "00000000")):
        server = daemon.Daemon(tsdb, folder, settings)
        del server.settings["tsd.network.bind"]
        if bind:
            server.settings["tsd.network.bind"] = bind
        server.start()
        expected = {(address, port) for port in (server.port, *settings.values())}
        found = listens_on(server.process)  # HTTP answers after all other ports are open
        check(found == expected, f"told {bind} it listens at {found}")
        check(server.stop() == 0, "it stops")


def main():
    tsdb = sys.argv[1]
    for run in (is_reached_from_here_alone, answers_while_it_starts, told_and_drained, recalled,
                lambda tsdb, folder: check(replayed(tsdb, folder, "true") == 0, "a stop leaves nothing to replay"),
                lambda tsdb, folder: check(replayed(tsdb, folder, "false") > 0, "a quick stop leaves the log")):
        with tempfile.TemporaryDirectory() as folder:
            run(tsdb, Path(folder))
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
