"""Prometheus' remote read without its libraries: a request for the samples of one metric, and what it is answered."""
import struct

EQUAL_NAME = b"\x12\x08__name__"  # a matcher's label; its type is 0, equality
HEADERS = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Read-Version": "0.1.0"}


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def packed(data):
    """A block of snappy with nothing but literals."""
    out = varint(len(data))
    for at in range(0, len(data), 60):
        piece = data[at:at + 60]
        out += bytes([(len(piece) - 1) << 2]) + piece
    return out


def read_varint(data, at):
    number = shift = 0
    while True:
        byte, at = data[at], at + 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def unpacked(data):
    size, at = read_varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag, at = data[at], at + 1
        if tag & 3 == 0:
            length = (tag >> 2) + 1
            if length > 60:
                width = length - 60
                length, at = int.from_bytes(data[at:at + width], "little") + 1, at + width
            out += data[at:at + length]
            at += length
            continue
        if tag & 3 == 1:
            length, offset, at = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at], at + 1
        else:
            width = 2 if tag & 3 == 2 else 4
            length, offset, at = (tag >> 2) + 1, int.from_bytes(data[at:at + width], "little"), at + width
        for _ in range(length):
            out.append(out[-offset])
    if len(out) != size:
        raise RuntimeError(f"a block of snappy has {len(out)} bytes instead of {size}")
    return bytes(out)


def fields(data):
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            value, at = read_varint(data, at)
            if tag & 7 == 2:
                value, at = data[at:at + value], at + value
        yield tag >> 3, value


def read(server, metric, start_s, end_s, function=""):
    """{host: [(milliseconds, value)]}, as for `function` of the samples."""
    matcher = EQUAL_NAME + field(3, metric.encode())
    query = field(1, start_s * 1000) + field(2, end_s * 1000) + field(3, matcher) + field(4, field(2, function.encode()))
    connection = server.connection()
    connection.request("POST", "/api/v1/read", packed(field(1, query)), HEADERS)
    reply = connection.getresponse()
    body = reply.read()
    if reply.status != 200:
        raise RuntimeError(f"remote read: {reply.status} {body[:300]!r}")
    found = {}
    for _, result in fields(unpacked(body)):
        for _, series in fields(result):
            labels, samples = {}, []
            for number, content in fields(series):
                parts = dict(fields(content))
                if number == 1:
                    labels[parts[1].decode()] = parts[2].decode()
                else:
                    samples.append((parts.get(2, 0), struct.unpack("<d", parts.get(1, bytes(8)))[0]))
            found[labels["host"]] = samples
    return found
