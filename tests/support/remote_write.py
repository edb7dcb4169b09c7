"""Prometheus' remote write without its libraries."""
import http.client
import struct

from remote_read import sized, varint

PATH = "/api/v1/write"
HEADERS = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0"}
HEADERS_2 = {"Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request", "Content-Encoding": "snappy",
             "X-Prometheus-Remote-Write-Version": "2.0.0"}
NAN_BITS, STALE_BITS = 0x7FF8000000000001, 0x7FF0000000000002  # what Prometheus sends for NaN, and at the end of a series
LITERAL_BYTES = 60000


def packed(message):
    """The message as a block of snappy without copies."""
    block = varint(len(message))
    for at in range(0, len(message), LITERAL_BYTES):
        piece = message[at:at + LITERAL_BYTES]
        block += bytes([61 << 2]) + (len(piece) - 1).to_bytes(2, "little") + piece
    return block


def bits_of(value):
    """A sample's value is a number, or the bits of a double as an int above 2**62."""
    return value if isinstance(value, int) and value > 2**62 else struct.unpack("<Q", struct.pack("<d", value))[0]


def message(series):
    """series: [({label: value}, [(milliseconds, value)])]. A prometheus.WriteRequest."""
    out = b""
    for labels, samples in series:
        one = b"".join(sized(1, sized(1, name.encode()) + sized(2, value.encode())) for name, value in sorted(labels.items()))
        for ms, value in samples:
            one += sized(2, b"\x09" + bits_of(value).to_bytes(8, "little") + b"\x10" + varint(ms % 2**64))
        out += sized(1, one)
    return out


def message_2(series):
    """series: [({label: value}, [(milliseconds, value)], more)], more: further fields. An io.prometheus.write.v2.Request."""
    places, out = {"": 0}, b""
    for labels, samples, more in series:
        words = [word for pair in sorted(labels.items()) for word in pair]
        refs = b"".join(varint(places.setdefault(word, len(places))) for word in words)
        one = sized(1, refs)
        for ms, value in samples:
            one += sized(2, b"\x09" + bits_of(value).to_bytes(8, "little") + b"\x10" + varint(ms % 2**64))
        out += sized(5, one + more)
    return b"".join(sized(4, word.encode()) for word in places) + out


def post(port, body, headers=None, timeout=60):
    """(status, text of the answer, its headers)"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    connection.request("POST", PATH, packed(body), headers or HEADERS)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def write(port, series, timeout=60):
    """(status, text of the answer)"""
    return post(port, message(series), timeout=timeout)[:2]


def write_2(port, series):
    """(status, text of the answer, (samples, histograms, exemplars that the answer counts as written))"""
    status, text, headers = post(port, message_2([(*one, b"") if len(one) == 2 else one for one in series]), HEADERS_2)
    return status, text, tuple(headers.get(f"X-Prometheus-Remote-Write-{what}-Written") for what in ("Samples", "Histograms", "Exemplars"))
