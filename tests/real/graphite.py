#!/usr/bin/env python3
"""collectd of Debian writes to Graphite's ports by its write_graphite plugin: plain lines, lines with tags, and lines to a
carbon-relay of Debian, which hands them on as pickles.

    graphite.py --tsdb build/release/tsdb [--seconds 60]

What came over the wire, byte by byte, is what is stored, and what carbon-relay was given is what it handed on. Known ways: a
rate is NaN the first time, which is refused and counted; carbon-relay makes doubles of all numbers, drops NaN and adds numbers
about itself. The last line reads "N passed, N failed".
"""
import os
import shutil
import sys
import time

import graphite_wire
import trial
from daemon import free_port

PORTS = {"tsd.graphite.port": free_port(), "tsd.graphite.pickle.port": free_port()}
HANDED_ON_S = 120

COLLECTD = """
Hostname "web1"
FQDNLookup false
Interval 1
BaseDir "{folder}"
PIDFile "{folder}/collectd.pid"
LoadPlugin logfile
<Plugin logfile>
  File "{folder}/collectd.log"
</Plugin>
LoadPlugin cpu
LoadPlugin memory
LoadPlugin load
LoadPlugin interface
LoadPlugin df
LoadPlugin write_graphite
<Plugin write_graphite>
  <Node "plain">
    Host "127.0.0.1"
    Port "{plain}"
    Prefix "plain."
    StoreRates true
  </Node>
  <Node "tags">
    Host "127.0.0.1"
    Port "{tags}"
    Prefix "tags."
    UseTags true
    StoreRates false
  </Node>
  <Node "relayed">
    Host "127.0.0.1"
    Port "{relayed}"
    Prefix "relayed."
    StoreRates false
    SeparateInstances true
  </Node>
</Plugin>
"""

CARBON = """
[relay]
STORAGE_DIR = {folder}
LOCAL_DATA_DIR = {folder}
CONF_DIR = {folder}
LOG_DIR = {folder}
PID_DIR = {folder}
USER =
LINE_RECEIVER_INTERFACE = 127.0.0.1
LINE_RECEIVER_PORT = {line_port}
PICKLE_RECEIVER_INTERFACE = 127.0.0.1
PICKLE_RECEIVER_PORT = {pickle_port}
RELAY_METHOD = consistent-hashing
DESTINATIONS = 127.0.0.1:{destination}:a
DESTINATION_PROTOCOL = pickle
MAX_DATAPOINTS_PER_MESSAGE = 50
CARBON_METRIC_INTERVAL = 5
"""


def start_carbon(t, destination):
    """Starts carbon-relay; returns the process and the port for its lines."""
    folder, port = t.folder / "carbon", free_port()
    folder.mkdir()
    (folder / "storage-schemas.conf").touch()
    settings = folder / "carbon.conf"
    settings.write_text(CARBON.format(folder=folder, line_port=port, pickle_port=free_port(), destination=destination))
    return t.start(["/usr/bin/carbon-relay", f"--config={settings}", f"--pidfile={folder}/pid", "--nodaemon", "start"],
                   cwd=folder), port


def read(relay, reader):
    """Returns ({key: value} of all that was sent, the number of NaN values)."""
    relay.drain()
    return graphite_wire.numbers(pair for connection in relay.connections for pair in reader(connection.sent))


def handed_on(relay):
    """The number of points that carbon-relay has passed on so far."""
    kept, _ = graphite_wire.numbers(pair for connection in relay.connections
                                    for pair in graphite_wire.points_of_pickles(bytes(connection.sent)))
    return {key: value for key, value in kept.items() if not key[0].startswith("carbon.")}


def refused(daemon):
    return sum(int(each["value"]) for each in daemon.get("/api/stats") if each["metric"] == "tsd.rpc.errors"
               and each["tags"]["type"] != "socket_writes_blocked")


def run(t):
    program = shutil.which("collectd", path=os.environ["PATH"] + ":/usr/sbin")
    if not program:
        raise RuntimeError("collectd is installed and not found")
    plain, tags = (t.relay(PORTS["tsd.graphite.port"]) for _ in range(2))
    pickles = t.relay(PORTS["tsd.graphite.pickle.port"])
    carbon, carbon_port = start_carbon(t, pickles.port)
    given = t.relay(carbon_port)
    settings = t.folder / "collectd.conf"
    settings.write_text(COLLECTD.format(folder=t.folder, plain=plain.port, tags=tags.port, relayed=given.port))
    collectd = t.start([program, "-f", "-C", settings])
    t.writing()
    trial.stop(collectd)

    to_carbon, _ = read(given, graphite_wire.points_of_lines)
    to_carbon = {key: float(value) for key, value in to_carbon.items()}
    until = time.monotonic() + HANDED_ON_S
    while (missing := to_carbon.keys() - handed_on(pickles).keys()) and time.monotonic() < until:
        time.sleep(0.2)
    trial.stop(carbon)
    t.check.that(f"carbon-relay handed on the {len(to_carbon)} points that it was given, and no other",
                 list(trial.differences(to_carbon, handed_on(pickles))) if to_carbon else [f"{len(missing)} are missing"])

    of_plain, absent = read(plain, graphite_wire.points_of_lines)
    of_tags, more = read(tags, graphite_wire.points_of_lines)
    of_pickles, _ = read(pickles, graphite_wire.points_of_pickles)
    for what, points in ("plain lines", of_plain), ("lines with tags", of_tags), ("pickles", of_pickles):
        print(f"{len(points)} points of {len({key[:2] for key in points})} series by {what}")
    every = {**of_plain, **of_tags, **of_pickles}
    t.settled(every, f"{len(every)} points that collectd and carbon-relay sent are stored, and nothing else is")
    count = refused(t.daemon)
    t.check.that(f"what was refused are the {absent + more} NaN", [] if count == absent + more else [f"{count} were refused"])
    t.check.that("nothing was answered", [f"{bytes(connection.answered)!r}" for relay in (plain, tags, pickles)
                                          for connection in relay.connections if connection.answered])
    t.check.that("each way brought the machine's load",
                 [what for what, points, metric in (("plain", of_plain, "plain.web1.load.load.shortterm"),
                                                    ("tags", of_tags, "tags.load"),
                                                    ("pickles", of_pickles, "relayed.web1.load.load.shortterm"))
                  if not any(key[0].startswith(metric) for key in points)])


if __name__ == "__main__":
    # Times are in whole seconds, so two rounds may have the same time.
    sys.exit(trial.main(run, __doc__, needs=["setup/install", "test", "carbon"], seconds=15,
                        settings={**PORTS, "tsd.storage.fix_duplicates": "true"}))
