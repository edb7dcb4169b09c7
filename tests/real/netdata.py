#!/usr/bin/env python3
"""Netdata as it comes from Debian watches this machine; two connectors of its exporting engine write to the daemon, one by
lines, one by HTTP.

    netdata.py --tsdb build/release/tsdb [--seconds 60]

What its connectors sent, byte by byte, is what is stored. Known ways: counters go as they were collected (whole numbers) or
as averages (seven digits behind the point), names of charts and dimensions are cleaned by Netdata itself, replies are not
read for their meaning, a body has some hundred points, and the first ones have none, which gets 400 as it does from
OpenTSDB; a chart that was not collected yet goes by lines at the time 0, which is refused. The last line reads "N passed, N failed".
"""
import os
import shutil
import sys

import trial

INTERVAL_S = 2
CHARTS = "system.* mem.* disk_space.* ipv4.*"

NETDATA = """
[global]
    run as user = {user}
    hostname = web1
[directories]
    config = {folder}/etc
    stock config = {folder}/etc
    cache = {folder}/cache
    lib = {folder}/lib
    log = {folder}/log
    home = {folder}
[db]
    mode = alloc
    update every = 1
[web]
    mode = none
[health]
    enabled = no
[ml]
    enabled = no
[statsd]
    enabled = no
[registry]
    enabled = no
[plugins]
    enable running new plugins = no
    proc = yes
    diskspace = yes
    cgroups = no
    tc = no
    idlejitter = no
    timex = no
    statsd = no
    netdata monitoring = no
    apps = no
    charts.d = no
    go.d = no
    python.d = no
    ebpf = no
    perf = no
    slabinfo = no
"""

EXPORTING = """
[exporting:global]
    enabled = yes
    send configured labels = no
    send automatic labels = no

[opentsdb:lines]
    enabled = yes
    destination = 127.0.0.1:{lines}
    prefix = lines
    data source = as collected
    update every = {interval}
    send charts matching = {charts}

[opentsdb:http:web]
    enabled = yes
    destination = 127.0.0.1:{web}
    prefix = web
    data source = average
    update every = {interval}
    send charts matching = {charts}
"""


def looks_right(sent, prefix, whole):
    """Checks that the connector's numbers have the expected form, and that they include the machine's processor time."""
    of_connector = {key: value for key, value in sent.items() if key[0].startswith(prefix + ".")}
    errors = [f"{metric} at {at} is {value!r}" for (metric, _, at), value in of_connector.items()
              if isinstance(value, int) != whole]
    if not any(metric.startswith(prefix + ".system.cpu.") for metric, _, _ in of_connector):
        errors.append(f"no {prefix}.system.cpu among {len(of_connector)} points")
    return errors


def run(t):
    program = shutil.which("netdata", path=os.environ["PATH"] + ":/usr/sbin")
    if not program:
        raise RuntimeError("netdata is installed and not found")
    lines, web = t.relay(), t.relay()
    for folder in ("etc", "cache", "lib", "log"):
        (t.folder / folder).mkdir()
    # It asks nobody about itself.
    (t.folder / "etc/.opt-out-from-anonymous-statistics").touch()
    (t.folder / "lib/cloud.d").mkdir()
    (t.folder / "lib/cloud.d/cloud.conf").write_text("[global]\n    enabled = no\n")
    settings = t.folder / "etc/netdata.conf"
    settings.write_text(NETDATA.format(folder=t.folder, user=os.environ.get("USER") or "root"))
    (t.folder / "etc/exporting.conf").write_text(
        EXPORTING.format(lines=lines.port, web=web.port, interval=INTERVAL_S, charts=CHARTS))
    netdata = t.start([program, "-D", "-c", settings], cwd=t.folder, env={**os.environ, "DO_NOT_TRACK": "1"})
    t.writing()
    trial.stop(netdata)
    sent = t.compare([lines, web], "Netdata", known=("No datapoints found in content", "invalid timestamp: 0"))
    t.check.that("counters came by lines as they were collected", looks_right(sent, "lines", whole=True))
    t.check.that("averages came by HTTP", looks_right(sent, "web", whole=False))


if __name__ == "__main__":
    sys.exit(trial.main(run, __doc__, needs=["setup/install", "netdata"], seconds=15))
