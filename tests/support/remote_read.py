"""Requests and answers of Prometheus' remote read, without its libraries."""
import http.client
import struct

PATH = "/api/v1/read"
EQUAL, MATCHES = 0, 2  # types of matchers
HEADERS = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Read-Version": "0.1.0"}


def varint(number):
    out = b""
    while number >= 0x80:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def sized(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def request(matchers, start_s, end_s, function=""):
    """Returns a compressed prometheus.ReadRequest with one query (in snappy's format, which allows uncompressed bytes).

    matchers: [(kind, label, value)]; function: a hint that names the function for which the samples are read."""
    told = b"".join(sized(3, number(1, kind) + sized(2, label.encode()) + sized(3, value.encode())) for kind, label, value in matchers)
    hints = sized(4, sized(2, function.encode())) if function else b""
    message = sized(1, number(1, start_s * 1000) + number(2, end_s * 1000) + told + hints)
    return varint(len(message)) + bytes([61 << 2]) + (len(message) - 1).to_bytes(2, "little") + message


def answer(port, packed, timeout=60):
    """The server's answer, compressed by snappy."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    connection.request("POST", PATH, packed, HEADERS)
    reply = connection.getresponse()
    block = reply.read()
    connection.close()
    if reply.status != 200:
        raise RuntimeError(f"{PATH}: {reply.status} {block[:500]!r}")
    return block


def varint_at(data, at):
    number = shift = 0
    while True:
        byte, at = data[at], at + 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def unpacked(data):
    size, at = varint_at(data, 0)
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
        tag, at = varint_at(data, at)
        if tag & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            value, at = varint_at(data, at)
            if tag & 7 == 2:
                value, at = data[at:at + value], at + value
        yield tag >> 3, value


def read(port, metric, start_s, end_s, function=""):
    """Returns {host: [(milliseconds, value)]}; `function` is sent as a hint."""
    body = answer(port, request([(EQUAL, "__name__", metric)], start_s, end_s, function))
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
