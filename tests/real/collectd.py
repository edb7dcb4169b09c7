#!/usr/bin/env python3
"""Two collectd agents as they come from Debian write to the daemon; it is killed midway; at the end the data is queried.

    collectd.py --tsdb build/release/tsdb [--seconds 600]

collectd's write_tsdb speaks the line protocol of OpenTSDB, through a relay that keeps every byte; its csv plugin writes the
same numbers to files. What is stored is compared with both: every number sent, or written to a file, is in the database and
nothing else is. Known ways of the agents: write_tsdb puts the instance into the metric's name and tags only the host, as fqdn; its times are the
files' rounded to whole seconds; the files keep six digits of a gauge. It gets no acknowledgement and keeps nothing, so
points are missing while the daemon is down, and only there. The last line reads "N passed, N failed".
"""
import collections
import datetime
import math
import os
import shutil
import sys
import time
from pathlib import Path

import trial

HOSTS = ("web1", "web2")
DOWN_S = 1.5     # seconds between the kill and the restart
BUFFERED_S = 3   # seconds of data that can be lost in an agent's or a socket's buffer when the daemon dies, reconnecting included

CONFIGURATION = """
Hostname "{host}"
FQDNLookup false
Interval 1
BaseDir "{folder}"
PIDFile "{folder}/pid"
LoadPlugin logfile
<Plugin logfile>
  File "{folder}/log"
</Plugin>
LoadPlugin cpu
LoadPlugin memory
LoadPlugin load
LoadPlugin disk
LoadPlugin interface
LoadPlugin df
LoadPlugin csv
<Plugin csv>
  DataDir "{folder}/csv"
</Plugin>
LoadPlugin write_tsdb
<Plugin write_tsdb>
  <Node>
    Host "127.0.0.1"
    Port "{port}"
  </Node>
</Plugin>
"""


def whole_seconds(epoch):
    """"1700000000.193" -> {1700000000}; for half a second both neighbours are returned, because the files round either way."""
    seconds, fraction = epoch.split(".")
    return {int(seconds) + half for half in (0, 1) if (fraction <= "500", fraction >= "500")[half]}


class Agent:
    """One collectd process with its own files."""

    def __init__(self, t, program, host):
        self.host, self.folder = host, Path(t.folder, host)
        self.unsure = set()  # (metric, second) pairs whose value is not known for certain
        self.folder.mkdir()
        self.relay = t.relay()
        settings = self.folder / "collectd.conf"
        settings.write_text(CONFIGURATION.format(host=host, folder=self.folder, port=self.relay.port))
        self.process = t.start([program, "-f", "-C", settings])

    def numbers(self):
        """{metric as write_tsdb names it: {whole second: [values of the files that round to it]}}

        A time that the files show as half a second may have been a little less: its value stands under both seconds,
        and both are noted as unsure.
        """
        numbers = collections.defaultdict(lambda: collections.defaultdict(list))
        for file in sorted((self.folder / "csv" / self.host).glob("*/*")):
            # cpu-0/cpu-user-2026-11-21: plugin and its instance, type and its instance, day
            words = file.parent.name.split("-", 1) + file.name.rsplit("-", 3)[0].split("-", 1)
            if "-" not in file.parent.name:  # memory/memory-used-...: without one, the type's instance takes its place
                words[1:] = reversed(words[1:])
            lines = file.read_text().split()
            columns = lines[0].split(",")[1:]
            for line in lines[1:]:
                epoch, *values = line.split(",")
                if epoch == "epoch":
                    continue
                for column, value in zip(columns, values):
                    if not math.isnan(float(value)):
                        metric = ".".join(words + ([column] if len(columns) > 1 else []))
                        seconds = whole_seconds(epoch)
                        for second in seconds:
                            numbers[metric][second].append(float(value))
                            if len(seconds) > 1:
                                self.unsure.add((metric, second))
        return numbers


def near(answer, written):
    """Whether the numbers are equal, except for digits that the files cut off."""
    return abs(answer - written) <= 1e-6 * max(1.0, abs(written))


def near_any(answer, written):
    return any(near(answer, value) for value in written)


def points(answer):
    """Returns {second: value} for an answer with one series; {} for an empty answer."""
    return {int(second): value for second, value in answer[0]["dps"].items()} if answer else {}


def compare_everything(daemon, agent, span, gap):
    """Checks that every number of the files is stored, and no other. Returns error texts and the count of numbers."""
    errors, count = [], 0
    for metric, written in agent.numbers().items():
        got = points(daemon.query(span[0], f"none:{metric}{{fqdn={agent.host}}}", end=span[1]))
        for second, values in written.items():
            if second in got:
                count += 1
                if not near_any(got[second], values):
                    errors.append(f"{metric} at {second}: {got[second]}, the file says {values}")
            elif not gap[0] <= second <= gap[1] and not (
                    (metric, second) in agent.unsure and any(
                        (metric, other) in agent.unsure and other in got for other in (second - 1, second + 1))):
                errors.append(f"{metric} at {second}: missing, the file says {values}")
        errors += [f"{metric} at {second}: {got[second]} is in no file" for second in got if second not in written]
    return errors, count


def expected_rate(written, seconds):
    """The rate as OpenTSDB computes it from successive points in whole seconds, for the seconds that were stored."""
    known = sorted(seconds)
    return {after: [(b - a) / (after - before) for b in written[after] for a in written[before]]
            for before, after in zip(known, known[1:])}


def ask_load(daemon, agents, span, check):
    question = "avg:load.load.shortterm{fqdn=*}"
    answer = daemon.query(span[0], question, end=span[1])
    print(f"\nload by host: m={question}")
    errors = []
    if sorted(series["tags"]["fqdn"] for series in answer) != sorted(HOSTS):
        errors.append(f"hosts in the answer: {[series['tags'] for series in answer]}")
    for series in sorted(answer, key=lambda series: series["tags"]["fqdn"]):
        host = series["tags"]["fqdn"]
        written = agents[host].numbers()["load.load.shortterm"]
        got = points([series])
        errors += [f"{host} at {second}: {value}" for second, value in got.items()
                   if not near_any(value, written.get(second, []))]
        print(f"  {host}: {len(got)} points, last {got[max(got)]:.2f}, highest {max(got.values()):.2f}")
    check.that("load by host is what the agents measured", errors)


def ask_cpu(daemon, agents, span, check):
    print("\ncpu states as a rate (hundredths of a second per second = percent of a core): "
          "m=sum:rate:cpu.0.cpu.user{fqdn=web1}")
    errors = []
    for host, agent in agents.items():
        numbers = agent.numbers()
        states = sorted(metric for metric in numbers if metric.startswith("cpu."))
        means = collections.defaultdict(dict)
        for metric in states:
            stored = points(daemon.query(span[0], f"none:{metric}{{fqdn={host}}}", end=span[1]))
            got = points(daemon.query(span[0], f"sum:rate:{metric}{{fqdn={host}}}", end=span[1]))
            expected = expected_rate(numbers[metric], [second for second in stored if second in numbers[metric]])
            errors += [f"{host} {metric} at {second}: {got.get(second)}, the files say {values}"
                       for second, values in expected.items()
                       if second not in got or not near_any(got[second], values)]
            errors += [f"{host} {metric} at {second}: a rate from nowhere" for second in got if second not in expected]
            core, state = metric.split(".")[1], metric.split(".")[3]
            means[core][state] = sum(got.values()) / len(got) if got else 0.0
        for core, shares in sorted(means.items()):
            print(f"  {host} core {core}: " + ", ".join(f"{state} {share:.1f}" for state, share in shares.items()))
        if not states:
            errors.append(f"{host}: no cpu state at all")
    check.that("each cpu state's rate is the files' difference per second", errors)


def ask_disk(daemon, agents, span, bucket_s, check):
    agent = agents[HOSTS[0]]
    numbers = agent.numbers()
    metrics = sorted(metric for metric in numbers if metric.startswith("disk.") and ".disk_octets." in metric)
    if not metrics:
        print("\nthis machine shows collectd no disk: not asked")
        return
    busiest = max(metrics, key=lambda metric: max(map(max, numbers[metric].values())) -
                  min(map(min, numbers[metric].values())))
    name = f"{bucket_s // 60}m" if bucket_s % 60 == 0 else f"{bucket_s}s"
    question = f"sum:{name}-max:rate:{busiest}{{fqdn={agent.host}}}"
    got = points(daemon.query(span[0], question, end=span[1]))
    stored = points(daemon.query(span[0], f"none:{busiest}{{fqdn={agent.host}}}", end=span[1]))
    highest = {}
    for second, value in stored.items():
        bucket = second - second % bucket_s
        highest[bucket] = max(highest.get(bucket, 0), value)
    expected = expected_rate({bucket: [value] for bucket, value in highest.items()}, highest)
    print(f"\na disk's octets per {'minute' if bucket_s == 60 else name}: m={question}, times {bucket_s}")
    for second, value in sorted(got.items())[:12]:
        print(f"  {datetime.datetime.fromtimestamp(second, datetime.timezone.utc):%H:%M:%S} {value * bucket_s:12.0f}")
    errors = [f"at {second}: {got.get(second)}, expected {values}" for second, values in expected.items()
              if second not in got or not near_any(got[second], values)]
    errors += [f"at {second}: a rate from nowhere" for second in got if second not in expected]
    check.that("octets per interval are the counter's growth", errors if got else errors + ["the answer is empty"])


def ask_memory(daemon, agents, span, check):
    print("\nmemory by use: m=avg:memory.used.memory{fqdn=web1}, free, cached, ...")
    errors = []
    total = 1024 * int(next(line for line in Path("/proc/meminfo").read_text().split("\n")
                            if line.startswith("MemTotal")).split()[1])
    numbers = agents[HOSTS[0]].numbers()
    by_use = {metric.split(".")[1]: points(daemon.query(span[0], f"avg:{metric}{{fqdn={HOSTS[0]}}}", end=span[1]))
              for metric in sorted(numbers) if metric.startswith("memory.")}
    last = max((max(got) for got in by_use.values() if got), default=0)
    for use, got in by_use.items():
        print(f"  {use:12} {got.get(last, math.nan) / 2**20:10.1f} MiB")
    whole = set.intersection(*(set(got) for got in by_use.values())) if by_use else set()
    errors += [f"at {second}: the uses add up to {sum(got[second] for got in by_use.values()):.0f}, "
               f"/proc/meminfo says {total}" for second in whole
               if abs(sum(got[second] for got in by_use.values()) - total) > 0.001 * total]
    check.that("the uses of memory add up to the machine's", errors if whole else ["no second has all uses"])


def compare_sent(sent, kept, gap):
    """Checks that what is stored was sent, and that points are missing only for the time when the daemon was down."""
    away = range(int(gap[0] * 1000), int(gap[1] * 1000) + 1)
    yield from trial.differences({key: value for key, value in sent.items() if key in kept or key[2] not in away}, kept)


def run(t):
    program = shutil.which("collectd", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    if not program:
        raise RuntimeError("collectd is installed and not found")
    agents = {host: Agent(t, program, host) for host in HOSTS}
    t.writing(0.5)
    killed = time.time()
    t.daemon.kill()
    time.sleep(DOWN_S)
    recovery_s = t.daemon.start()
    up = time.time()
    print(f"daemon killed (SIGKILL), down for {DOWN_S} s, up again in {recovery_s:.2f} s on the same data", flush=True)
    t.writing(0.5)
    for agent in agents.values():
        trial.stop(agent.process)

    sent = {key: value for agent in agents.values() for key, value in agent.relay.points().items()}
    gap = (killed - BUFFERED_S, up + BUFFERED_S)
    kept = trial.stored(t.daemon, *t.span())
    missing = len(sent.keys() - kept.keys())
    t.check.that(f"{len(sent) - missing} of {len(sent)} points that came over the wire are stored, and nothing else is; those "
                 f"of the {gap[1] - gap[0]:.0f} s around the kill may be missing",
                 list(compare_sent(sent, kept, gap)) if sent else ["nothing was sent"])
    span = (t.began - 1, int(time.time()) + 1)
    for host, agent in agents.items():
        errors, count = compare_everything(t.daemon, agent, span, gap)
        t.check.that(f"{host}: {count} numbers of {len(agent.numbers())} series are those of collectd's files",
                     errors if count else ["nothing was stored"])
    ask_load(t.daemon, agents, span, t.check)
    ask_cpu(t.daemon, agents, span, t.check)
    ask_disk(t.daemon, agents, span, 60 if t.seconds >= 240 else 5, t.check)
    ask_memory(t.daemon, agents, span, t.check)


if __name__ == "__main__":
    # Times are in whole seconds, so two rounds may have the same time.
    sys.exit(trial.main(run, __doc__, needs=["setup/install", "test"], seconds=20,
                        settings={"tsd.storage.fix_duplicates": "true"}))
