"""Prometheus' remote read: its requests, written by hand, and whether two answers say the same."""
import http.client

from servers import PATIENCE_S

PATH = "/api/v1/read"
EQUAL, MATCHES = 0, 2


def varint(number):
    out = b""
    while number >= 0x80:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def sized(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def request(matchers, start_s, end_s):
    """matchers: [(type, label, value)]. A packed prometheus.ReadRequest of one query; snappy may leave bytes as they are."""
    told = b"".join(sized(3, number(1, kind) + sized(2, label.encode()) + sized(3, value.encode())) for kind, label, value in matchers)
    message = sized(1, number(1, start_s * 1000) + number(2, end_s * 1000) + told)
    return varint(len(message)) + bytes([61 << 2]) + (len(message) - 1).to_bytes(2, "little") + message


def unpacked_bytes(port, packed):
    """Of a server's answer: a block of snappy begins with that number."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("POST", PATH, packed, {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"})
    answer = connection.getresponse()
    block = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{PATH}: {answer.status} {block[:500]!r}")
    size, shift = 0, 0
    for byte in block:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return size


def compare(name, packed, servers):
    """Samples and labels have one encoding: answers that say the same are of the same size, in whatever order. Or it raises."""
    sizes = {server.name: unpacked_bytes(server.query_port, packed) for server in servers}
    if len(set(sizes.values())) != 1 or min(sizes.values()) < 100:
        raise RuntimeError(f"{name}: bytes of the answers: {sizes}")
    return min(sizes.values())
