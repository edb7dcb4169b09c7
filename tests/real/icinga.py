#!/usr/bin/env python3
"""Icinga 2 as it comes from Debian checks two hosts and their services; its OpenTsdbWriter writes to the daemon.

    icinga.py --tsdb build/release/tsdb [--seconds 60]

The checks are a program of ours that measures nothing and notes what it told, so that it is known from end to end: what it
told is what Icinga sent, and that is what is stored. Known ways of the writer: two blanks stand before the tags, blanks in
labels become underlines, bounds stand beside their value as _warn, _crit, _min and _max, whole numbers are integers whatever
they measure. A line without an acknowledgement is all it knows. The last line reads "N passed, N failed".
"""
import json
import os
import shutil
import sys
from pathlib import Path

import trial
from icinga_check import LABELS, notes

HOSTS = ("web1", "web2")
PROGRAM = Path(__file__).with_name("icinga_check.py")

CONFIGURATION = """
include <itl>
const NodeName = "here"
object CheckerComponent "checker" {{ }}
object OpenTsdbWriter "opentsdb" {{
  host = "127.0.0.1"
  port = "{port}"
}}
object CheckCommand "told" {{
  command = [ "{python}", "{program}", "{folder}", "$host.name$", "$told_service$" ]
}}
template Host "counted" {{
  check_command = "hostalive-here"
  check_interval = 2s
  retry_interval = 2s
  max_check_attempts = 3
}}
object CheckCommand "hostalive-here" {{
  command = [ "/bin/true" ]
}}
apply Service for (name in [ {services} ]) {{
  check_command = "told"
  vars.told_service = name
  check_interval = 1s
  retry_interval = 1s
  max_check_attempts = 5
  assign where true
}}
"""
HOST = 'object Host "{name}" {{\n  import "counted"\n}}\n'


def as_told(t, sent):
    """Checks that each value that a check reported was sent, in order; the last one may still be on its way."""
    for host in HOSTS:
        for service in LABELS:
            lines = Path(notes(t.folder, host, service)).read_text().splitlines()
            for label in LABELS[service](0):
                metric = f"icinga.service.{service}.{label.replace(' ', '_')}"
                got = {at: value for (name, tags, at), value in sent.items()
                       if name == metric and tags == frozenset({"host": host}.items())}
                told = [float(json.loads(line)[label]) for line in lines]
                values = [float(got[at]) for at in sorted(got)]
                # If two checks end in the same second, the writer gives both the same time, and the later one is kept.
                if not values or not in_order(values, told) or values[0] not in told[:3] or values[-1] not in told[-3:]:
                    yield f"{host} {service} {label}: told {told[:5]} to {told[-3:]}, sent {values[:5]} to {values[-3:]}"


def in_order(values, told):
    rest = iter(told)
    return all(any(value == other for other in rest) for value in values)


def bounds(sent):
    names = {metric for metric, _, _ in sent}
    expected = {f"icinga.service.{name}" for name in ("load.load1_warn", "load.load1_crit", "disk.used_space_max",
                                                      "load.state", "disk.reachable", "load.state_type")}
    expected |= {"icinga.host.state", "icinga.check.latency", "icinga.check.execution_time"}
    return [f"{name} was not sent" for name in sorted(expected - names)]


def run(t):
    program = shutil.which("icinga2", path=os.environ["PATH"] + ":/usr/sbin:/usr/lib/icinga2")
    if not program:
        raise RuntimeError("icinga2 is installed and not found")
    relay = t.relay()
    settings = t.folder / "icinga2.conf"
    settings.write_text(
        CONFIGURATION.format(port=relay.port, python=sys.executable, program=PROGRAM, folder=t.folder,
                             services=", ".join(f'"{name}"' for name in LABELS))
        + "".join(HOST.format(name=name) for name in HOSTS))
    places = {}
    for name in ("ConfigDir", "DataDir", "LogDir", "CacheDir", "SpoolDir", "InitRunDir"):
        places[name] = t.folder / name
        places[name].mkdir()
    user = os.environ.get("USER") or "root"
    constants = {"RunAsUser": user, "RunAsGroup": user, **places}
    icinga = t.start([program, "daemon", "-c", settings, "-x", "warning"]
                     + [f"-DConfiguration.{name}={value}" for name, value in constants.items()])
    t.writing()
    trial.stop(icinga)
    sent = t.compare([relay], "Icinga")
    t.check.that("what the checks told is what Icinga sent", list(as_told(t, sent)))
    t.check.that("states, bounds and Icinga's own times are there", bounds(sent))


if __name__ == "__main__":
    # Bounds and states are repeated when two checks end in the same second.
    sys.exit(trial.main(run, __doc__, needs=["setup/install", "icinga"], seconds=15,
                        settings={"tsd.storage.fix_duplicates": "true"}))
