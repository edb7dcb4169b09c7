#!/usr/bin/env python3
"""What a daemon writes to standard error is one event a line, as tsd.log.format and tsd.log.level say, whatever clients send.
    log_check.py build/release/tsdb
The last line reads "N passed, N failed"."""
import json
import re
import sys
import tempfile
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402

TEXT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (debug|info|warning|error): .+")
FIELD = r'[a-z_]+=(?:"(?:[^"\\]|\\.)*"|[^\s"=]+)'
BEHIND = re.compile(rf"(?: {FIELD})+")  # the fields that may follow a text message
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ALWAYS = {"time", "level", "thread", "component", "message"}
# The fields that each message must have.
FIELDS = {"a setting has no effect": {"setting", "why"},
          "starting": {"version", "pid", "connections_max", "open_files_max"},
          "Ready to serve": {"address", "duration_ms"},
          "query ended early": {"id", "remote", "duration_ms", "memory_kb", "query", "error"},
          "stopping": {"signal"}, "stopped": {"duration_ms"}}
FORGED = "sum:m{host=a\n2026-01-01 00:00:00.000 error: forged \" component=forged"


def log_of(tsdb, settings):
    """Log lines of a daemon that started, refused a query and stopped, with a setting that has no effect."""
    with tempfile.TemporaryDirectory() as folder:
        server = daemon.Daemon(tsdb, folder, {"tsd.http.cachedir": "/tmp", "tsd.query.memory.per_query": 100000, **settings})
        server.start()
        server.put([{"metric": "m", "timestamp": 1700000000, "value": 1, "tags": {"host": "a"}}])
        connection = server.connection()
        for query in ("sum:m{host=*}", FORGED):
            connection.request("GET", "/api/query?start=1700000000&end=1700000010&m=" + urllib.parse.quote(query))
            connection.getresponse().read()
        connection.close()
        server.stop()
        return (server.folder / "tsd.log").read_text().splitlines()


def refusal(tsdb, settings):
    """The message of a daemon that does not start because of these settings."""
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
    for message, keys in FIELDS.items():
        told = [line.partition(": ")[2] for line in lines if f": {message} component=" in line]
        if not told:
            yield f"no line tells of {message!r}"
        for text in told:
            fields = text[len(message):]
            if not BEHIND.fullmatch(fields) or not keys | {"component"} <= set(re.findall(r" ([a-z_]+)=", fields)):
                yield f"a line has not the fields of {message!r}: {text!r}"
    events = [json.loads(line) for line in log_of(tsdb, {"tsd.log.format": "json"})]
    for event in events:
        if set(event) != ALWAYS | FIELDS.get(event["message"], set(event)) or not TIME.fullmatch(event["time"]):
            yield f"an event is {event}"
    for message in FIELDS:
        if message not in [event["message"] for event in events]:
            yield f"no event tells of {message!r}"
    if not all(event["level"] == "info" for event in events if event["message"] == "Ready to serve"):
        yield "being ready is no information"
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
