"""Reads a body of OTLP metrics in protobuf by the rules of docs/ingestion.md, without any library of it: sums, gauges, and
histograms with explicit bounds. Strict: anything else fails the trial."""
import collections
import struct

import names

RESOURCE_TAGS = ("service.name", "service.namespace", "service.instance.id", "host.name")
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # protobuf's kinds of fields
GAUGE, SUM, HISTOGRAM, EXPONENTIAL, SUMMARY = 5, 7, 9, 10, 11  # fields of a metric


def points(body):
    """Returns (key, value) of each point, in order."""
    for of_resource in message(body)[1]:
        of_resource = message(of_resource)
        resource = attributes(entries(of_resource[1], 1))
        shared = {name: resource[name] for name in RESOURCE_TAGS if name in resource}
        for of_scope in of_resource[2]:
            of_scope = message(of_scope)
            tags = {**shared, **attributes(entries(of_scope[1], 3))}
            for metric in of_scope[2]:
                yield from points_of_metric(message(metric), tags)


def points_of_metric(metric, shared):
    name = metric[1][0].decode()
    if metric[EXPONENTIAL] or metric[SUMMARY]:
        raise ValueError(f"{name} is of a kind that is not read here")
    for data in metric[GAUGE] + metric[SUM]:
        for point in map(message, message(data)[1]):
            value = struct.unpack("<d", point[4][0])[0] if point[4] else struct.unpack("<q", point[6][0])[0]
            yield names.key(name, {**shared, **attributes(point[7])}, milliseconds(point)), value
    for data in metric[HISTOGRAM]:
        for point in map(message, message(data)[1]):
            tags, at = {**shared, **attributes(point[9])}, milliseconds(point)
            for suffix, more, value in parts_of_histogram(point):
                yield names.key(name + suffix, {**tags, **more}, at), value


def parts_of_histogram(point):
    """Returns (suffix, tags, value) of each part of a histogram, as Prometheus names them."""
    count, = struct.unpack("<Q", point[4][0])
    below = 0
    for bound, of_bucket in zip(numbers("d", point[7]), numbers("Q", point[6])):
        below += of_bucket
        yield "_bucket", {"le": repr(bound).removesuffix(".0")}, below
    yield "_bucket", {"le": "+Inf"}, count
    if point[5]:
        yield "_sum", {}, struct.unpack("<d", point[5][0])[0]
    yield "_count", {}, count


def milliseconds(point):
    return struct.unpack("<Q", point[3][0])[0] // 10 ** 6


def numbers(letter, fields):
    """The values of repeated fields with eight bytes each, packed or not."""
    data = b"".join(fields)
    return struct.unpack(f"<{len(data) // 8}{letter}", data)


def entries(messages, number):
    return [entry for each in messages for entry in message(each)[number]]


def attributes(pairs):
    """Returns {name: text} of the attributes."""
    out = {}
    for pair in map(message, pairs):
        out[pair[1][0].decode()] = text(message(pair[2][0])) if pair[2] else ""
    return out


def text(value):
    if value[1]:
        return value[1][0].decode()
    if value[2]:
        return "true" if value[2][0] else "false"
    if value[3]:
        return str(value[3][0] - (value[3][0] >> 63 << 64))
    if any(value.values()):
        raise ValueError(f"an attribute of a kind that is not read here: {dict(value)}")
    return ""


def message(data):
    """Returns {field number: [value of each such field]}; varints as numbers, other fields as bytes."""
    out, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = varint(data, at)
        else:
            size = {FIXED64: 8, FIXED32: 4}.get(kind)
            if kind == BYTES:
                size, at = varint(data, at)
            if size is None or at + size > len(data):
                raise ValueError(f"no protobuf: kind {kind} at {at} of {len(data)} bytes")
            value, at = data[at:at + size], at + size
        out[tag >> 3].append(value)
    return out


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
