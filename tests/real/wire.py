"""Reads what a client sent over one connection (lines, or HTTP with any format of body) and how it was answered. Strict: what
it cannot read is an error of the trial, since a number that nobody understood could not be missed."""
import gzip
import json
import urllib.parse

import influx_lines
import otlp_body

LINE_COMMANDS = (b"version", b"stats")
MILLIS_FROM = 1 << 32  # times from this value on are in milliseconds
LAST_WORDS = 200


class Unreadable(RuntimeError):
    pass


def number(text):
    return float(text) if any(c in ".eEnN" for c in text) else int(text)


def key(metric, at, tags):
    at = int(at)
    return metric, frozenset(tags.items()), at if at >= MILLIS_FROM else at * 1000


def is_http(sent):
    """Whether the stream is HTTP; decided by its first byte, as the daemon does."""
    return b"A" <= bytes(sent[:1]) <= b"Z"


def points(sent):
    """Returns {key: value}; the last write of a key counts. An incomplete line or request is ignored."""
    return dict(points_of_requests(sent) if is_http(sent) else points_of_lines(sent))


def points_of_lines(sent):
    for line in bytes(sent).split(b"\n")[:-1]:
        words = line.decode().split()
        if not words or words[0] != "put":
            if line.strip() and line.split()[0] not in LINE_COMMANDS:
                raise Unreadable(f"a line that is no put: {line[:LAST_WORDS]!r}")
            continue
        metric, at, value, *tags = words[1:]
        yield key(metric, at, dict(tag.split("=", 1) for tag in tags)), number(value)


def messages(stream):
    """Returns (first line, fields by lower-case name, unpacked body) of each complete request or response."""
    stream = bytes(stream)
    at = 0
    while (end := stream.find(b"\r\n\r\n", at)) >= 0:
        first, *rest = stream[at:end].decode("latin-1").split("\r\n")
        fields = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in rest)}
        at = end + 4
        if "chunked" in fields.get("transfer-encoding", ""):
            body, at = chunks(stream, at)
        else:
            body = stream[at:at + int(fields.get("content-length", 0))]
            at += len(body)
            if len(body) < int(fields.get("content-length", 0)):
                return
        if at < 0:
            return
        yield first, fields, gzip.decompress(body) if fields.get("content-encoding") == "gzip" and body else body


def chunks(stream, at):
    """Returns the body and the position of its end; -1 if it is incomplete."""
    body = b""
    while (end := stream.find(b"\r\n", at)) >= 0:
        size = int(stream[at:end].split(b";")[0], 16)
        piece = stream[end + 2:end + 2 + size]
        at = end + 2 + size + 2
        if len(stream) < at:
            return body, -1
        if size == 0:
            return body, at
        body += piece
    return body, -1


def points_of_requests(sent):
    for first, _, body in messages(sent):
        address = urllib.parse.urlsplit(first.split()[1])
        if address.path.rstrip("/") == "/api/put":
            yield from points_of_json(body)
        elif address.path in ("/write", "/api/v2/write"):
            parameters = dict(urllib.parse.parse_qsl(address.query))
            yield from influx_lines.points(body, parameters.get("precision", "ns"))
        elif address.path == "/v1/metrics":
            yield from otlp_body.points(body)


def points_of_json(body):
    told = json.loads(body)
    for point in told if isinstance(told, list) else [told]:
        value = point["value"]
        yield (key(point["metric"], point["timestamp"], point["tags"]),
               number(value) if isinstance(value, str) else value)


def complaints(sent, answered):
    """The daemon's complaints: answers to lines that asked for none, and statuses other than 2xx."""
    if is_http(sent):
        return [f"{first}: {body[:LAST_WORDS]!r}" for first, _, body in messages(answered)
                if not first.split()[1].startswith("2")]
    return [line.decode("utf-8", "replace")[:LAST_WORDS] for line in bytes(answered).split(b"\n")
            if line.startswith(b"put:") or b"unknown command" in line]
