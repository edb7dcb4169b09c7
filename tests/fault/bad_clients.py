#!/usr/bin/env python3
"""Clients that are slow, give wrong sizes, break off or send unreadable data: each is refused or disconnected, and the daemon keeps working.

    bad_clients.py --tsdb build/release/tsdb [--only TEXT] [--connections 10000]

After each case the daemon must answer a question, take a point and give it back. The last line reads "N passed, N failed".
"""
import argparse
import gzip
import json
import resource
import socket
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import Checks  # noqa: E402
from daemon import Daemon  # noqa: E402

PATIENCE_S = 30
IDLE_TIMEOUT_S = 5
BODY_MAX = 1 << 20
OPEN_FILES_FEW = 200
OPEN_FILE, SECRET = "open.txt", "secret"
CASES, DEFAULT_CASES = [], []


def case(function):
    CASES.append(function)
    return function


def default_case(function):
    """Marks a case for a daemon with default settings, except for less memory."""
    DEFAULT_CASES.append(function)
    return function


class Wrong(Exception):
    pass


def check(good, what):
    if not good:
        raise Wrong(what)


class Client:
    def __init__(self, port, receive_bytes=None):
        self.socket = socket.socket()
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(("127.0.0.1", port))
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, content):
        """Sends the bytes; returns False if the daemon has closed the connection."""
        try:
            self.socket.sendall(content)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def more(self):
        try:
            content = self.socket.recv(1 << 16)
        except ConnectionResetError:
            return False
        except socket.timeout:
            raise Wrong(f"silent for {PATIENCE_S} s") from None
        self.received += content
        return bool(content)

    def rest(self):
        """Reads everything until the daemon closes the connection."""
        while self.more():
            pass
        return self.received

    def reply(self):
        """Returns (status, body) of one response that has a Content-Length."""
        while b"\r\n\r\n" not in self.received:
            check(self.more(), f"closed instead of an answer, behind {self.received[-100:]!r}")
        head, _, rest = self.received.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        self.received = rest
        while len(self.received) < length:
            check(self.more(), "closed in the middle of an answer")
        body, self.received = self.received[:length], self.received[length:]
        return int(head.split()[1]), body


GET = b"GET /api/version HTTP/1.1\r\n\r\n"


def post(path, body, *fields):
    head = [f"POST {path} HTTP/1.1", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def point(at=1700000000, metric="m", value="1", host="a"):
    return f'{{"metric":"{metric}","timestamp":{at},"value":{value},"tags":{{"host":"{host}"}}}}'.encode()


def exchange(daemon, content):
    """The status of the response to one request, or None if the daemon closes the connection without a response."""
    with Client(daemon.port) as client:
        client.send(content)
        if not client.more():
            return None
        return client.reply()[0]


# Clients that are slow or never finish.

@case
def a_request_may_come_a_byte_at_a_time(daemon):
    with Client(daemon.port) as client:
        for byte in GET:
            client.send(bytes([byte]))
            time.sleep(0.005)
        check(client.reply()[0] == 200, "no answer")


@case
def heads_and_bodies_that_never_end_are_closed_after_the_timeout_and_hold_up_nobody(daemon):
    clients = [Client(daemon.port) for _ in range(300)]
    for number, client in enumerate(clients):
        client.send([b"G", b"POST /api/put HTTP/1.1\r\nA: b", b"POST /api/put HTTP/1.1\r\nContent-Length: 1000\r\n\r\n[{",
                     b"POST /api/put HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", b"put m 17"][number % 5])
    began = time.monotonic()
    check(exchange(daemon, GET) == 200, "another client got no answer")
    check(time.monotonic() - began < 20, "another client waited")
    for client in clients:
        check(client.rest() == b"", "an answer to half a request")


@case
def who_closes_its_half_is_answered_for_what_was_whole(daemon):
    for content, status in [(GET, 200), (post("/api/put", point()), 204), (GET[:20], None),
                            (post("/api/put", point())[:-5], None),
                            (b"POST /api/put HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", None)]:
        with Client(daemon.port) as client:
            client.send(content)
            client.socket.shutdown(socket.SHUT_WR)
            if status is None:
                check(client.rest() == b"", f"an answer to {content[:30]!r}")
            else:
                check(client.reply()[0] == status, f"another answer to {content[:30]!r}")
                check(client.rest() == b"", "more than one answer")
    with Client(daemon.port) as client:
        client.send(b"version\nput half 17")
        client.socket.shutdown(socket.SHUT_WR)
        check(b"built" in client.rest(), "no answer to the whole line")


@case
def many_requests_at_once_are_answered_in_order_errors_among_them(daemon):
    kinds = [(GET, 200), (post("/api/put", point()), 204), (post("/api/put", b"{"), 400),
             (b"GET /api/nothing HTTP/1.1\r\n\r\n", 404), (b"PUT /api/put HTTP/1.1\r\n\r\n", 405),
             (post("/api/put", point(value='"x"')), 400), (b"GET /api/suggest?type=metrics%zz HTTP/1.1\r\n\r\n", 400),
             (post("/api/query", b'{"start":"x","queries":[{"aggregator":"sum","metric":"m"}]}'), 400)]
    with Client(daemon.port) as client:
        client.send(b"".join(kinds[i % len(kinds)][0] for i in range(800)) + b"no such thing\r\n\r\n" + GET)
        for i in range(800):
            status = client.reply()[0]
            check(status == kinds[i % len(kinds)][1], f"answer {i}: {status}")
        check(client.rest() == b"", "an answer behind what is no request")


# Requests that are too large or give a wrong size.

@case
def heads_beyond_the_limits_close_the_connection(daemon):
    def head(target_bytes=10, field_bytes=0):
        line = b"GET /" + b"x" * (target_bytes - 1) + b" HTTP/1.1\r\n"
        return line + (b"A: " + b"b" * (field_bytes - 3 - 4) + b"\r\n" if field_bytes else b"") + b"\r\n"

    check(exchange(daemon, head(target_bytes=4096 - 13)) == 404, "a line of 4096 bytes")
    check(exchange(daemon, head(target_bytes=4097 - 13)) is None, "a line of 4097 bytes")
    check(exchange(daemon, head(field_bytes=8000)) == 404, "8000 bytes of fields")
    check(exchange(daemon, head(field_bytes=8300)) is None, "8300 bytes of fields")
    check(exchange(daemon, b"GET /" + b"x" * (1 << 22)) is None, "a line of 4 MiB")
    check(exchange(daemon, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100000) is None, "600 kB of fields")


@case
def lengths_that_lie_are_refused_or_close(daemon):
    for length, status in [(b"1000000000000000000", 413), (b"99999999999999999999999", 400), (b"-1", 400),
                           (b"1e3", 400), (b"0x10", 400), (b"5, 6", 400), (str(BODY_MAX + 1).encode(), 413)]:
        got = exchange(daemon, b"POST /api/put HTTP/1.1\r\nContent-Length: " + length + b"\r\n\r\n" + point())
        check(got == status, f"length {length!r}: {got}")
    got = exchange(daemon, b"POST /api/put HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n123456")
    check(got == 400, f"two lengths: {got}")
    got = exchange(daemon, b"POST /api/put HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    check(got == 400, f"a length and chunks: {got}")
    # After a body whose length is given too small, the rest is read as the next request, which is invalid.
    with Client(daemon.port) as client:
        body = point()
        client.send(b"POST /api/put HTTP/1.1\r\nContent-Length: 10\r\n\r\n" + body)
        check(client.reply()[0] == 400 and client.rest() == b"", "a length below the body's")


@case
def no_request_hides_in_what_another_may_take_for_a_body(daemon):
    """The end of a body must be unambiguous; otherwise a proxy might pass on as a body what is a request here."""
    hidden = post("/api/put", point(metric="hidden"))
    for fields in (b"Content-Length: 5\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nContent-Length: 5",
                   b"Content-Length: 0\r\nTransfer-Encoding: chunked", b"Content-Length: 5\r\nContent-Length: 6",
                   b"Content-Length: 5\r\nA: b\r\ncontent-length: 0", b"Content-Length: 5, 6", b"Content-Length: +5", b"Content-Length : 5",
                   b"Content-Length:", b"Transfer-Encoding : chunked", b"Transfer-Encoding:\x0bchunked",
                   b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", b"Transfer-Encoding: xchunked",
                   b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding:", b"A: b\rTransfer-Encoding: chunked",
                   b"Content-Length: 5\r\nContent-Length: 5", b"Host: a\r\nHost: b", b"Content-Length: 5\nTransfer-Encoding: chunked",
                   b"Content-Length: 5\r\n Transfer-Encoding: chunked", b"Transfer-Encoding:\r\n chunked"):
        with Client(daemon.port) as client:
            client.send(b"POST /api/put HTTP/1.1\r\n" + fields + b"\r\n\r\n0\r\n\r\n" + hidden)
            status, rest = client.reply()[0], client.rest()
            check(status == 400 and rest == b"", f"behind {fields!r}: {status} {rest[:100]!r}")
    check("hidden" not in daemon.get("/api/suggest?type=metrics&q=hidden"), "a hidden request was heard")
    # Bodies that allow one reading only: chunks, followed by another request.
    for fields in (b"TRANSFER-ENCODING: Chunked",):
        with Client(daemon.port) as client:
            client.send(b"POST /api/put HTTP/1.1\r\n" + fields + b"\r\n\r\n0\r\n\r\n" + hidden)
            check([client.reply()[0], client.reply()[0]] == [400, 204], f"{fields!r} is no body and the next request")


@case
def no_path_leads_out_of_the_folder_of_files(daemon):
    def asked(path):
        with Client(daemon.port) as client:
            client.send(b"GET /s/" + path.encode("latin-1") + b" HTTP/1.1\r\nConnection: close\r\n\r\n")
            head, _, body = client.rest().partition(b"\r\n\r\n")
            return int(head.split()[1]) if head else None, body

    secret = daemon.folder / SECRET
    check(asked(OPEN_FILE) == (200, b"open"), "a file in the folder")
    for path in (f"../{SECRET}", f"{OPEN_FILE}/../../{SECRET}", f"..%2f{SECRET}", f"..%5c{SECRET}", f"..\\{SECRET}", f"..;/{SECRET}", "..",
                 f"%00/../{SECRET}"):
        check(asked(path)[0] == 400, f"{path}: {asked(path)}")
    for path in (f"%2e%2e/{SECRET}", f"%2E%2E%2F{SECRET}", f".%2e/{SECRET}", f"%2e./{SECRET}", f"%252e%252e/{SECRET}", f"x/%2e%2e/%2e%2e/{SECRET}",
                 f"%c0%ae%c0%ae/{SECRET}", str(secret), f"/{secret}", str(secret).replace("/", "%2f"), f"{OPEN_FILE}%00", "%2e%2e", ""):
        status, body = asked(path)
        check(status == 404 and b"hidden" not in body, f"{path}: {status} {body[:100]!r}")


@case
def chunks_that_lie_are_refused_or_close(daemon):
    def send(chunks):
        return exchange(daemon, b"POST /api/put HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)

    body = point()
    good = f"{len(body):x}".encode() + b"\r\n" + body + b"\r\n0\r\n\r\n"
    check(send(good) == 204, "good chunks")
    for chunks in (b"ffffffffffffffff\r\n", b"fffffffffffffffff\r\n", b"-5\r\nhello\r\n", b"5\r\nhello!\r\n", b"x\r\n",
                   b"\r\n", b"5;" + b"e" * 20000, b"0\r\n" + b"T: t\r\n" * 20000):
        got = send(chunks)
        check(got in (400, 413), f"{chunks[:20]!r}: {got}")
    check(send(b"1\r\n \r\n" * (1 << 20)) == 413, "a million small chunks")


def peak_kb(daemon):
    for line in Path(f"/proc/{daemon.process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])


@case
def bodies_that_unpack_to_too_much_are_refused_without_their_memory(daemon):
    before = peak_kb(daemon)
    bomb = gzip.compress(b" " * (256 << 20))
    check(len(bomb) < BODY_MAX, "the bomb is larger than what may be sent")
    for _ in range(5):
        check(exchange(daemon, post("/api/put", bomb, "Content-Encoding: gzip")) == 413, "256 MiB of blanks")
    many = gzip.compress(b" " * 60000) * 1000
    check(exchange(daemon, post("/api/put", many, "Content-Encoding: gzip")) == 413, "60 MB in a thousand members")
    check(peak_kb(daemon) - before < 64 << 10, f"{peak_kb(daemon) - before} kB for bodies that were refused")
    check(exchange(daemon, post("/api/put", bomb[:1000], "Content-Encoding: gzip")) == 400, "half a body")
    check(exchange(daemon, post("/api/put", b"\0" * 100, "Content-Encoding: deflate")) == 400, "no body")


@case
def documents_nested_without_end_are_refused(daemon):
    """Deeply nested documents and expressions must not overflow a reader's stack; if one did, exchange() would return None."""
    deep = 100000
    for path in ("/api/put", "/api/query", "/api/query/exp", "/api/query/last", "/api/annotation", "/api/tree", "/api/uid/assign",
                 "/api/search/lookup", "/api/search/uidmeta", "/api/annotation/bulk", "/api/tree/rule", "/api/tree/rules",
                 "/api/tree/test", "/api/uid/tsmeta", "/api/rollup", "/api/suggest", "/v1/metrics"):
        for opened in (b"[", b'{"a":'):
            got = exchange(daemon, post(path, opened * deep, "Content-Type: application/json"))
            check(got == 400, f"{opened!r} on {path}: {got}")
    for expression in (b"(" * deep + b"1" + b")" * deep, b"-" * deep + b"1", b"abs(" * deep + b"1" + b")" * deep):
        got = exchange(daemon, post("/api/v1/query", b"time=1&query=" + expression, "Content-Type: application/x-www-form-urlencoded"))
        check(got == 400, f"{expression[:4]!r}: {got}")


# Requests that are not text.

@case
def what_is_no_utf8_is_refused_or_kept_as_it_came(daemon):
    for bad in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\0", b"\\u0000", b"\\ud800", b"\x01"):
        body = point(metric="m@").replace(b"@", bad)
        got = exchange(daemon, post("/api/put?details", body))
        check(got == 400, f"metric with {bad!r}: {got}")
        body = point(host="h@").replace(b"@", bad)
        got = exchange(daemon, post("/api/put?details", body))
        check(got == 400, f"tag with {bad!r}: {got}")
    for target in ("/api/query?start=1h-ago&m=sum:%00", "/api/query?start=%ff&m=sum:m", "/api/suggest?type=%c3%28",
                   "/api/annotation?start_time=%00"):
        got = exchange(daemon, f"GET {target} HTTP/1.1\r\n\r\n".encode())
        check(got is not None and 400 <= got < 600, f"{target}: {got}")
    serves(daemon)
    for bad in (b"\xff", b"\xed\xb0\x80", b"\\udc00"):
        note = b'{"startTime":1700000000,"description":"' + bad + b'","custom":{"' + bad + b'":"' + bad + b'"}}'
        check(exchange(daemon, post("/api/annotation", note)) == 200, f"an annotation with {bad!r}")
        for target in ("/api/annotation?start_time=1700000000",
                       "/api/query?start=1699999000&end=1700001000&m=sum:alive&global_annotations"):
            got = exchange(daemon, f"GET {target} HTTP/1.1\r\n\r\n".encode())
            check(got == 200, f"{target} behind an annotation with {bad!r}: {got}")
    check(exchange(daemon, b"GET /api/ver\0sion HTTP/1.1\r\n\r\n") == 400, "NUL in a target")
    check(exchange(daemon, b"GET / HTTP/1.1\r\nA: b\0c\r\n\r\n") == 400, "NUL in a field")
    with Client(daemon.port) as client:
        client.send(b"put m\0 1700000000 1 host=a\nput m 17\0 1 host=a\n\0\nput m 1700000000 1 host=\x80\nversion\n")
        while b"Built on" not in client.received:
            check(client.more(), "closed")
        for text in (b"Invalid metric name", b"invalid value", b"unknown command", b"Invalid tag value"):
            check(text in client.received, f"{text!r} is not said")


# The line protocol (telnet).

@case
def a_line_without_end_closes_the_connection(daemon):
    for count in (1025, 100_000, 10_000_000):
        with Client(daemon.port) as client:
            client.send(b"put " + b"x" * count)
            check(client.rest() == b"", "something is said about half a line")
    with Client(daemon.port) as client:
        client.send(b"put m 1700000000 1 host=a\n" * 1000 + b"x" * 5000)
        check(client.rest() == b"", "something is said")


@case
def a_connection_keeps_its_dialect(daemon):
    with Client(daemon.port) as client:
        client.send(b"version\n" + GET)
        while client.received.count(b"unknown command") < 2:
            check(client.more(), "closed")
        check(b"HTTP" not in client.received.replace(b"unknown command: GET", b""), "an HTTP answer")
    with Client(daemon.port) as client:
        client.send(GET + b"put m 1700000000 1 host=a\n\n" + GET)
        check(client.reply()[0] == 200 and client.rest() == b"", "lines behind a request")
    check(exchange(daemon, b"PUT m 1700000000 1 host=a\n\n") is None, "a line in capitals")
    # The first bytes of TLS and of other protocols that are sent to the wrong port.
    for knock in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500), b"\x00" * 2000, b"SSH-2.0-x\r\n\r\n",
                  b"*1\r\n$4\r\nPING\r\n"):
        with Client(daemon.port) as client:
            client.send(knock)
            client.socket.shutdown(socket.SHUT_WR)
            check(b"HTTP/1" not in client.rest(), f"an HTTP answer to {knock[:10]!r}")


# Many clients at once.

@case
def clients_that_never_read_hold_up_no_writer(daemon):
    refused = b"[" + b",".join([point(value='"x"')] * 9000) + b"]"
    deaf = [Client(daemon.port, receive_bytes=4096) for _ in range(30)]
    try:
        for client in deaf:
            client.send(post("/api/put?details", refused))
        with Client(daemon.port) as client:
            for i in range(100):
                client.send(post("/api/put", point(1700000000 + i, "alive")))
                check(client.reply()[0] == 204, "a writer")
    finally:
        for client in deaf:
            client.socket.close()


# Limits that hold with default settings.

@default_case
def bodies_whose_documents_would_take_gigabytes_are_refused(daemon):
    before = peak_kb(daemon)
    for path, element in (("/api/put", b"{},"), ("/api/query", b"1,"), ("/api/annotation/bulk", b'{"":0},')):
        body = b"[" + element * ((63 << 20) // len(element)) + element[:-1] + b"]"
        got = exchange(daemon, post(path, gzip.compress(body, 1), "Content-Encoding: gzip"))
        check(got == 413, f"{path} of {element!r}: {got}")
    # Memory for the body, a copy of it, and what one request may use (half of 384 MiB, three times the largest body).
    peak = peak_kb(daemon) - before
    check(peak < 400 << 10, f"{peak} kB for bodies of some kilobytes")


@default_case
def lists_of_very_many_names_cost_their_length(daemon):
    tags = ",".join(f'"t{i}":"v"' for i in range(200_000))
    put = '{"metric":"m","timestamp":1700000000,"value":1,"tags":{%s}}' % tags
    check(exchange(daemon, post("/api/put", put.encode())) == 400, "a point of 200000 tags")
    query = '{"start":1,"queries":[{"aggregator":"sum","metric":"m","tags":{%s}}]}' % tags
    check(exchange(daemon, post("/api/query", query.encode())) == 400, "a query of 200000 tags")
    literals = "|".join(f"v{i}" for i in range(200_000))
    query = '{"start":1,"queries":[{"aggregator":"sum","metric":"m","tags":{"host":"%s"}}]}' % literals
    check(exchange(daemon, post("/api/query", query.encode())) == 400, "a query of 200000 literals")
    query = '{"start":1,"queries":[%s]}' % ",".join(["{}"] * 200_000)
    check(exchange(daemon, post("/api/query", query.encode())) == 413, "200000 sub-queries")


def rss_kb(daemon):
    for line in Path(f"/proc/{daemon.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])


@default_case
def buffers_of_waiting_connections_are_bounded(daemon):
    before = rss_kb(daemon)
    body = b"[" + b" " * 1_000_000 + point() + b"]"
    clients = [Client(daemon.port) for _ in range(400)]
    try:
        for client in clients:
            client.send(post("/api/put", body))
            check(client.reply()[0] == 204, "a body was refused")
        began = time.monotonic()
        while (more := rss_kb(daemon) - before) > 200 << 10:
            check(time.monotonic() - began < PATIENCE_S, f"{more} kB for connections that wait")
            time.sleep(0.2)
    finally:
        for client in clients:
            client.socket.close()



@default_case
def bodies_that_lie_half_sent_take_their_share_and_no_more(daemon):
    before = peak_kb(daemon)
    size = 60 << 20
    head = f"POST /api/put HTTP/1.1\r\nContent-Length: {size}\r\n\r\n".encode()
    clients = [Client(daemon.port) for _ in range(8)]  # there is room for six of the largest bodies
    refused = 0
    for client in clients:
        client.send(head + b"[" + b" " * (size - 2))
    for client in clients:
        client.socket.settimeout(0.3)
        try:
            refused += client.socket.recv(12) == b"HTTP/1.1 503"
        except (socket.timeout, ConnectionResetError):
            pass
    check(refused >= 1, "none of 8 was refused")
    check(exchange(daemon, post("/api/put", point())) == 204, "a small body beside them")
    peak = peak_kb(daemon) - before
    check(peak < 450 << 10, f"{peak} kB for bodies that do not come")
    for client in clients:
        client.socket.close()
    began = time.monotonic()
    while exchange(daemon, post("/api/put", b"[" + b" " * (30 << 20) + point() + b"]")) != 204:
        check(time.monotonic() - began < PATIENCE_S, "the memory of clients that are gone is not given back")
        time.sleep(0.1)


def begin_requests(daemon):
    """Opens connections that send a part of a request and then nothing, and some that are merely idle."""
    begun, idle = [Client(daemon.port) for _ in range(30)], [Client(daemon.port) for _ in range(2)]
    for number, client in enumerate(begun):
        client.send([b"G", b"POST /api/put HTTP/1.1\r\nA: b", b"POST /api/put HTTP/1.1\r\nContent-Length: 1000\r\n\r\n[{"][number % 3])
    idle[0].send(GET)
    check(idle[0].reply()[0] == 200, "no answer")
    idle[1].send(b"put alive 17")
    return begun, idle


def unfinished_requests_are_closed(daemon, begun, idle):
    """Checks, a good minute later, that the unfinished requests were closed and the idle connections were not."""
    for client in begun:
        client.socket.settimeout(90)
        check(client.rest() == b"", "an answer to half a request")
    idle[0].send(GET)
    check(idle[0].reply()[0] == 200, "an idle connection was closed")
    idle[1].send(b"00000000 1 host=a\nversion\n")
    while b"Built on" not in idle[1].received:
        check(idle[1].more(), "an idle connection of lines was closed")


def open_idle(daemon, count):
    """Opens as many connections as possible, at most `count`; half of them send one request and then stay open."""
    clients = []
    for number in range(count):
        client = Client(daemon.port)
        clients.append(client)
        if number % 2:
            client.send(GET)
    for client in clients[1::2]:
        check(client.reply()[0] == 200, "an answer among the many")
    return clients


def close_all(daemon, clients):
    for client in clients:
        client.socket.close()
    began = time.monotonic()
    while connections(daemon) > 10:
        check(time.monotonic() - began < PATIENCE_S, "connections that are gone are still counted")
        time.sleep(0.1)


def connections(daemon):
    stats = {entry["metric"]: entry for entry in daemon.get("/api/stats")
             if entry["metric"] == "tsd.connectionmgr.connections" and entry["tags"].get("type") == "open"}
    return int(stats["tsd.connectionmgr.connections"]["value"])


def serves(daemon):
    """Whether the daemon answers, accepts a point and returns it."""
    daemon.value = getattr(daemon, "value", 0) + 1
    check(exchange(daemon, GET) == 200, "no answer any more")
    check(exchange(daemon, post("/api/put", point(1700000000, "alive", str(daemon.value), "s"))) == 204, "takes no point")
    query = "/api/query?" + urllib.parse.urlencode({"start": 1699990000, "end": 1700010000, "m": "sum:alive{host=s}"})
    with Client(daemon.port) as client:
        client.send(f"GET {query} HTTP/1.1\r\n\r\n".encode())
        status, body = client.reply()
    check(status == 200 and json.loads(body)[0]["dps"] == {"1700000000": daemon.value}, f"another answer: {body[:200]!r}")


def run(name, work):
    """Runs a case and returns the list of what went wrong."""
    try:
        work()
        return []
    except (Wrong, OSError, RuntimeError) as error:
        return [f"{name}: {error}"]


def many_idle(tsdb, folder, count):
    """Opens as many idle connections as the machine allows for this process and the daemon."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(count, hard - 2000)
    daemon = Daemon(tsdb, folder)
    try:
        daemon.start()
        clients = open_idle(daemon, count)
        check(connections(daemon) > count, "some were closed")
        for _ in range(5):
            serves(daemon)
        close_all(daemon, clients)
        serves(daemon)
        check(daemon.stop() == 0, "no clean stop")
        print(f"{count} idle connections, and the daemon served")
    finally:
        daemon.kill()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def few_open_files(tsdb, folder):
    """Clients cannot use up the file descriptors that the store needs; connections beyond the limit are closed."""
    program = folder / "few_files"
    program.write_text(f'#!/bin/sh\nulimit -n {OPEN_FILES_FEW}\nexec {Path(tsdb).resolve()} "$@"\n')
    program.chmod(0o755)
    daemon = Daemon(program, folder)
    try:
        daemon.start()
        with Client(daemon.port) as first:
            first.send(GET)
            check(first.reply()[0] == 200, "the first client")
            clients = [Client(daemon.port) for _ in range(2 * OPEN_FILES_FEW)]
            closed = 0
            for client in clients:
                client.socket.settimeout(0.05)
                try:
                    closed += client.socket.recv(1) == b""
                except socket.timeout:
                    pass
            check(closed >= OPEN_FILES_FEW, f"only {closed} were closed")
            first.send(post("/api/put", point()))
            check(first.reply()[0] == 204, "a point while all connections are taken")
            for client in clients:
                client.socket.close()
        began = time.monotonic()
        while not run_quietly(lambda: serves(daemon)):
            check(time.monotonic() - began < PATIENCE_S, "no room again")
            time.sleep(0.1)
        check(daemon.stop() == 0, "no clean stop")
    finally:
        daemon.kill()


def run_quietly(work):
    try:
        work()
        return True
    except (Wrong, OSError):
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--connections", type=int, default=10000)
    args = parser.parse_args()
    checks = Checks()

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "defaults")
        folder.mkdir()
        defaults = Daemon(args.tsdb, folder, {"tsd.memory.limit": 2 << 30})
        begun = []
        unfinished = unfinished_requests_are_closed.__name__.replace("_", " ")
        if args.only in unfinished_requests_are_closed.__name__ or any(args.only in f.__name__ for f in DEFAULT_CASES):
            checks.nothing(run("a start with defaults", lambda: (defaults.start(), begun.extend(begin_requests(defaults)))))

        folder = Path(scratch, "cases")
        folder.mkdir()
        (folder / "static").mkdir()
        (folder / "static" / OPEN_FILE).write_text("open")
        (folder / SECRET).write_text("hidden")
        daemon = Daemon(args.tsdb, folder, {"tsd.core.socket.timeout": IDLE_TIMEOUT_S, "tsd.http.staticroot": folder / "static",
                                            "tsd.http.request.max_chunk": BODY_MAX})
        try:
            daemon.start()
            for function in CASES:
                if args.only not in function.__name__:
                    continue
                name = function.__name__.replace("_", " ")
                began = time.monotonic()
                checks.nothing(run(name, lambda f=function: (f(daemon), serves(daemon))))
                print(f"{name} ({time.monotonic() - began:.1f} s)", flush=True)
            checks.nothing(run("a clean stop", lambda: check(daemon.stop() == 0, "another exit status")))
        except RuntimeError as error:
            checks.nothing([error])
        finally:
            daemon.kill()
        if checks.failed:
            print(f"the daemon's last words:\n{daemon.log_tail()}")
        try:
            for function in DEFAULT_CASES if begun else []:
                if args.only in function.__name__:
                    began = time.monotonic()
                    checks.nothing(run(function.__name__, lambda f=function: (f(defaults), serves(defaults))))
                    print(f"{function.__name__.replace('_', ' ')} ({time.monotonic() - began:.1f} s)", flush=True)
            if begun and args.only in unfinished_requests_are_closed.__name__:
                checks.nothing(run(unfinished, lambda: unfinished_requests_are_closed(defaults, *begun)))
                print(unfinished)
                checks.nothing(run("a clean stop", lambda: check(defaults.stop() == 0, "another exit status")))
        finally:
            if defaults.process:
                defaults.kill()
        for function, arguments in ((many_idle, [args.connections]), (few_open_files, [])):
            if args.only not in function.__name__:
                continue
            folder = Path(scratch, function.__name__)
            folder.mkdir()
            checks.nothing(run(function.__name__.replace("_", " "), lambda: function(args.tsdb, folder, *arguments)))
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
