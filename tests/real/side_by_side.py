#!/usr/bin/env python3
"""Every agent and client of this folder writes for a minute, all at the same time, each to its own daemon.

    side_by_side.py --tsdb build/release/tsdb [--seconds 60] [--only TEXT]

They are idle most of the time, so that all of them take little longer than one. The output of each is printed when it ends; those that
cannot be installed print "skipped:" and the reason. The last line reads "N passed, N failed".
"""
import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import trial

TRIALS = ("collectd", "graphite", "icinga", "netdata", "prometheus", "tcollector", "telegraf opentsdb-lines",
          "telegraf opentsdb-http", "telegraf influxdb", "telegraf influxdb_v2", "python_client opentsdb",
          "python_client influx", "otlp", "remote_write_2")
INSTALLING_S = 1200  # packages and modules that are missing on this machine have to be installed
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)


def start(words, args, folder):
    name, *way = words.split()
    said = Path(folder, words.replace(" ", "-"))
    with open(said, "wb") as out:
        process = subprocess.Popen([sys.executable, Path(__file__).with_name(name + ".py"), *way, "--tsdb", args.tsdb,
                                    "--seconds", str(args.seconds)], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    process.said = said
    return process


def result(process, deadline):
    """Waits for a trial and returns (passed, failed); (0, 0) if it was skipped."""
    try:
        status = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        trial.stop(process)
        status = process.returncode
    text = process.said.read_text(errors="replace")
    print(text, end="", flush=True)
    if status == trial.SKIPPED:
        return 0, 0
    found = COUNTS.findall(text)
    passed, failed = map(int, found[-1]) if found else (0, 0)
    if status and not failed:
        print(f"FAIL it ended with {status}")
        failed = 1
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="", help="trials whose name has this text")
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="side-by-side-") as folder:
        running = {words: start(words, args, folder) for words in TRIALS if args.only in words}
        deadline = time.monotonic() + 4 * args.seconds + INSTALLING_S
        try:
            for words, process in running.items():
                print(f"\n-- {words}", flush=True)
                good, bad = result(process, deadline)
                passed, failed = passed + good, failed + bad
        finally:
            for process in running.values():
                trial.stop(process)
    if not running:
        print(f"FAIL no trial has {args.only!r} in its name")
        failed = 1
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
