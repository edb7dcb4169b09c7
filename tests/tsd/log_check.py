#!/usr/bin/env python3
"""What a daemon writes to standard error is one event a line, as tsd.log.format and tsd.log.level say.
    log_check.py build/release/tsdb
The last line reads "N passed, N failed"."""
import json
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402

TEXT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (debug|info|warning|error): .+")


def log_of(tsdb, settings):
    """Lines of a daemon that started, reloaded and stopped; it was given a setting that has no effect."""
    with tempfile.TemporaryDirectory() as folder:
        server = daemon.Daemon(tsdb, folder, {"tsd.http.cachedir": "/tmp", **settings})
        server.start()
        server.stop()
        return (server.folder / "tsd.log").read_text().splitlines()


def refusal(tsdb, settings):
    """What it says that does not start."""
    try:
        log_of(tsdb, settings)
        return "it started"
    except RuntimeError as error:
        return str(error)


def faults(tsdb):
    lines = log_of(tsdb, {})
    for line in lines:
        if not TEXT.fullmatch(line):
            yield f"a line of text is {line!r}"
    if not any("Ready to serve" in line for line in lines):
        yield "no line tells that the daemon is ready"
    events = [json.loads(line) for line in log_of(tsdb, {"tsd.log.format": "json"})]
    for event in events:
        if set(event) != {"time", "level", "thread", "message"}:
            yield f"an event is {event}"
    if not any(event["message"].startswith("Ready to serve") and event["level"] == "info" for event in events):
        yield "no event tells that the daemon is ready"
    if quiet := log_of(tsdb, {"tsd.log.level": "error"}):
        yield f"above its level the log has {quiet}"
    for key, value in (("tsd.log.format", "xml"), ("tsd.log.level", "loud")):
        said = refusal(tsdb, {key: value})
        if f'{key} = "{value}"' not in said:
            yield f"{key} = {value}: {said}"


def main():
    wrong = list(faults(sys.argv[1]))
    for fault in wrong:
        print("FAIL", fault)
    print(f"{5 - min(len(wrong), 5)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
