#!/usr/bin/env python3
"""Several daemons share the store of one (docs/shared-store.md): what is written through one is found through every other, also
after the storage node was killed.

    shared_store.py build/release/tsdb [--only TEXT]

The last line reads "N passed, N failed".
"""
import concurrent.futures
import json
import socket
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import daemon  # noqa: E402

HOUR = 1700002800  # the first second of an hour that is long over
PATIENCE_S = 60
CASES = []


def case(function):
    CASES.append(function)
    return function


def check(good, what):
    if not good:
        raise AssertionError(what)


def until(good, what):
    check(checks.wait_until(good, PATIENCE_S), what)


class Cluster:
    """A storage node and two daemons without a store of their own."""

    def __init__(self, tsdb, folder, **node_settings):
        self.thrift_port = daemon.free_port()
        folders = [Path(folder, name) for name in ("node", "first", "second")]
        for one in folders:
            one.mkdir()
        self.node = daemon.Daemon(tsdb, folders[0], {"tsd.thrift2.port": self.thrift_port, "tsd.storage.durability": "synced",
                                                     **node_settings})
        front = {"tsd.storage.backend": "hbase", "tsd.storage.hbase.thrift": f"127.0.0.1:{self.thrift_port}"}
        self.first, self.second = (daemon.Daemon(tsdb, one, front) for one in folders[1:])
        self.all = (self.node, self.first, self.second)

    def __enter__(self):
        for one in self.all:
            one.start()
        return self

    def __exit__(self, *_):
        for one in reversed(self.all):
            if one.process is not None:
                one.stop()


def put(through, *points):
    """points: (metric, time, value, host)"""
    body = json.dumps([{"metric": metric, "timestamp": at, "value": value, "tags": {"host": host}} for metric, at, value, host in points])
    connection = through.connection()
    connection.request("POST", "/api/put?details", body)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    check(answer.status == 200, f"put: {answer.status} {text[:300]!r}")


def values(through, expression, end=HOUR + 7200):
    """{host: {time: value}}"""
    return {series["tags"].get("host", "*"): {int(at): value for at, value in series["dps"].items()}
            for series in through.query(HOUR, expression, end=end)}


@case
def points_written_through_one_daemon_are_found_through_every_other(tsdb, folder):
    with Cluster(tsdb, folder) as cluster:
        expected = {}
        for number, through in enumerate(cluster.all):
            put(through, *((f"m.{number}", HOUR + 60 * i, i + number, f"h{i % 3}") for i in range(90)))
            expected[number] = {f"h{h}": {HOUR + 60 * i: i + number for i in range(90) if i % 3 == h} for h in range(3)}
        for through in cluster.all:
            for number, hosts in expected.items():
                got = values(through, f"sum:m.{number}{{host=*}}")
                check(got == hosts, f"m.{number}: {got}")
            check(through.get("/api/suggest?type=metrics&q=m.") == ["m.0", "m.1", "m.2"], "suggest")
            got = values(through, "sum:m.1{host=h1|h2}")
            check(set(got) == {"h1", "h2"}, f"filter: {got}")


@case
def a_new_name_gets_one_id_although_all_daemons_meet_it_at_once(tsdb, folder):
    with Cluster(tsdb, folder) as cluster:
        names = [f"new.{i}" for i in range(30)]
        with concurrent.futures.ThreadPoolExecutor(len(cluster.all)) as pool:
            list(pool.map(lambda through: put(through, *((name, HOUR, 1, "a") for name in names)), cluster.all))
        for name in names:
            found = [through.get(f"/api/search/lookup?m={name}&use_meta=false")["results"] for through in cluster.all]
            check(all(len(one) == 1 and one[0]["tsuid"] == found[0][0]["tsuid"] for one in found), f"series: {found}")


@case
def rows_that_a_query_compacts_keep_their_points(tsdb, folder):
    with Cluster(tsdb, folder) as cluster:
        points = {HOUR + i: i for i in range(0, 3600, 7)}
        put(cluster.first, *(("row", at, value, "a") for at, value in points.items()))
        for _ in range(3):
            for through in (cluster.second, cluster.first, cluster.node):
                got = values(through, "sum:row{host=*}")
                check(got == {"a": points}, f"{len(got.get('a', {}))} of {len(points)} points")
            # More points in the row that was compacted, and one that replaces another of its width.
            extra = HOUR + 3 + 7 * len(points) % 3000
            points[extra], points[HOUR] = len(points), points[HOUR] + 1
            put(cluster.second, ("row", extra, points[extra], "a"), ("row", HOUR, points[HOUR], "a"))


@case
def a_delete_through_one_daemon_is_seen_by_the_others(tsdb, folder):
    with Cluster(tsdb, folder) as cluster:
        put(cluster.first, *(("gone", HOUR + 60 * i, i, "a") for i in range(60)), ("gone", HOUR + 5 * 3600, 7, "a"))
        cluster.second.settings["tsd.http.query.allow_delete"] = "true"
        cluster.second.stop()
        cluster.second.start()
        connection = cluster.second.connection()
        connection.request("DELETE", f"/api/query?start={HOUR}&end={HOUR + 3599}&m=sum:gone%7Bhost=a%7D")
        check(connection.getresponse().status == 200, "delete")
        connection.close()
        for through in cluster.all:
            got = values(through, "sum:gone{host=*}", end=HOUR + 6 * 3600)
            check(got == {"a": {HOUR + 5 * 3600: 7}}, f"left: {got}")


@case
def annotations_are_shared(tsdb, folder):
    with Cluster(tsdb, folder) as cluster:
        cluster.first.post("/api/annotation", {"startTime": HOUR, "description": "deployed"})
        for through in cluster.all:
            got = through.get(f"/api/annotation?start_time={HOUR}")
            check(got["description"] == "deployed", f"annotation: {got}")


@case
def a_killed_storage_node_loses_nothing_that_was_acknowledged(tsdb, folder):
    with Cluster(tsdb, folder) as cluster:
        put(cluster.first, *(("kept", HOUR + i, i, "a") for i in range(100)))
        cluster.node.kill()
        # The series is known, so its points wait in the spool of the daemon.
        put(cluster.first, *(("kept", HOUR + i, i, "a") for i in range(100, 200)))
        cluster.node.start()
        expected = {"a": {HOUR + i: i for i in range(200)}}

        def complete():
            try:
                return values(cluster.second, "sum:kept{host=*}") == expected
            except (OSError, daemon.Refused):
                return False
        until(complete, "not all points are back")
        check(values(cluster.node, "sum:kept{host=*}") == expected, "the storage node has other points")


@case
def daemons_without_a_store_can_be_replaced(tsdb, folder):
    with Cluster(tsdb, folder) as cluster:
        put(cluster.first, ("stays", HOUR, 1, "a"))
        cluster.first.kill()
        check(values(cluster.second, "sum:stays{host=*}") == {"a": {HOUR: 1}}, "through the other daemon")
        cluster.first.start()
        check(values(cluster.first, "sum:stays{host=*}") == {"a": {HOUR: 1}}, "through the new daemon")


@case
def a_stop_closes_idle_connections(tsdb, folder):
    with Cluster(tsdb, folder, **{"tsd.core.stop.drain": "0"}) as cluster:
        put(cluster.first, ("m", HOUR, 1, "a"))
        idle = socket.create_connection(("127.0.0.1", cluster.thrift_port))
        check(cluster.node.stop() == 0, "the exit status of the storage node")
        check(idle.recv(1) == b"", "the idle connection is open")


def wait_for_log(node, text):
    """Waits until the log has the text: the daemon answers before it has written all lines of its start."""
    until(lambda: text in node.log_tail(), f"the log has no {text!r}")


@case
def the_port_is_off_by_default_and_on_loopback(tsdb, folder):
    node = daemon.Daemon(tsdb, folder)
    node.start()
    try:
        check("Thrift2" not in node.log_tail(), "a port was opened without its setting")
        node.stop()
        node.settings["tsd.thrift2.port"] = 0
        node.start()
        wait_for_log(node, "HBase's Thrift2 protocol on 127.0.0.1:")
        check("tsd.thrift2.port may read" not in node.log_tail(), "a warning about a loopback address")
        node.stop()
        node.settings["tsd.thrift2.bind"] = "0.0.0.0"
        node.start()
        wait_for_log(node, "tsd.thrift2.port may read")
    finally:
        node.stop()


@case
def a_password_does_not_guard_the_port_so_other_machines_cannot_reach_it(tsdb, folder):
    """HTTP asks for credentials; the Thrift2 port cannot, and listens on the loopback address only."""
    Path(folder, "users").write_text("")
    node = daemon.Daemon(tsdb, folder, {"tsd.core.authentication.enable": "true", "tsd.core.authentication.users": Path(folder, "users"),
                                        "tsd.thrift2.port": daemon.free_port()})
    node.start()
    try:
        try:
            node.get("/api/stats")
            check(False, "HTTP did not ask for credentials")
        except daemon.Refused as refused:
            check(refused.status == 401, f"HTTP: {refused.status}")
        front = Path(folder, "front")
        front.mkdir()
        other = daemon.Daemon(tsdb, front, {"tsd.storage.backend": "hbase",
                                            "tsd.storage.hbase.thrift": f"127.0.0.1:{node.settings['tsd.thrift2.port']}"})
        other.start()
        put(other, ("m", HOUR, 1, "a"))
        other.stop()
        for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}:
            if address.startswith("127."):
                continue
            with socket.socket() as probe:
                check(probe.connect_ex((address, int(node.settings["tsd.thrift2.port"]))) != 0, f"{address} is open")
    finally:
        node.stop()


def main():
    tsdb = sys.argv[1]
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    passed = failed = 0
    for run in CASES:
        if only not in run.__name__:
            continue
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            try:
                run(tsdb, folder)
                passed += 1
                print(f"ok {run.__name__} {time.monotonic() - began:.1f} s", flush=True)
            except Exception as problem:  # noqa: BLE001: whatever fails is one failed case
                failed += 1
                print(f"FAIL {run.__name__}: {problem!r}"[:3000], flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
