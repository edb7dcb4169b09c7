"""A client that sends as tcollector does, in both of its ways. Written after its documented behaviour and the
survey of clients (opentsdb-http-api.md §23); it is our own.

Lines: one long connection; batches of `put` lines that nobody acknowledges; `version` now and then, and where its answer
does not come within 15 s the connection is given up and another one made; `stats` asked once.
HTTP: a batch is one JSON array; 400 means that it is dropped, every other failure that it is sent again with what came
since.
"""
import base64
import json
import socket
import time
import urllib.error
import urllib.request

ANSWER_S = 15
RECONNECT_S = 0.3
QUEUE_MAX = 100000


def line(metric, at, value, tags):
    return " ".join([metric, str(at), str(value)] + [f"{name}={text}" for name, text in tags.items()])


class LineSender:
    """`certain` has what the daemon must have: batches that an answer to a later `version` of the same connection follows,
    since lines are handled in their order."""

    def __init__(self, port, host_tag):
        self.port, self.host_tag = port, host_tag
        self.socket = None
        self.queue, self.unsure, self.certain = [], [], []
        self.connections = 0
        self.version = self.stats = ""

    def give_up(self):
        if self.socket:
            self.socket.close()
        self.socket, self.unsure = None, []

    def connect(self):
        while self.socket is None:
            try:
                self.socket = socket.create_connection(("127.0.0.1", self.port), ANSWER_S)
                self.connections += 1
            except OSError:
                time.sleep(RECONNECT_S)
                continue
            if not self.verify():
                time.sleep(RECONNECT_S)

    def ask(self, command, last):
        """Sends a command and reads until a line begins with `last`; returns None if the connection is broken."""
        if self.socket is None:
            return None
        try:
            self.socket.sendall(command + b"\n")
            answer = b""
            while not any(each.startswith(last) for each in answer.split(b"\n")[:-1]):
                data = self.socket.recv(4096)
                if not data:
                    raise OSError("closed")
                answer += data
            return answer.decode()
        except OSError:
            self.give_up()
            return None

    def verify(self):
        """Whether the daemon is alive. If it answers, it has processed everything that was sent before."""
        answer = self.ask(b"version", b"Built on")
        if answer is None:
            return False
        self.version = answer
        self.certain += self.unsure
        self.unsure = []
        return True

    def self_check(self):
        """Asks for what tcollector's check script reads; the answer to `version`, sent after it, marks the end."""
        self.connect()
        self.stats = self.ask(b"stats\nversion", b"Built on") or ""

    def send(self, points):
        """Adds points to the queue and sends it; points that could not be sent stay in the queue."""
        self.queue = (self.queue + list(points))[-QUEUE_MAX:]
        self.connect()
        text = "".join(f"put {line(metric, at, value, {**tags, 'host': self.host_tag})}\n"
                       for metric, at, value, tags in self.queue)
        try:
            self.socket.sendall(text.encode())
        except OSError:
            return self.give_up()
        self.unsure += self.queue
        self.queue = []


class HttpSender:
    """Sends by HTTP. `certain` holds points that were answered with success, `refused` points dropped because of a 400."""

    def __init__(self, port, host_tag, details=False, user="", password=""):
        self.url = f"http://127.0.0.1:{port}/api/put" + ("?details" if details else "")
        self.host_tag = host_tag
        self.authorization = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode() if user else ""
        self.queue, self.certain, self.refused = [], [], []
        self.failures = 0

    def send(self, points=()):
        """Sends the queue; returns whether it is empty afterwards."""
        self.queue = (self.queue + list(points))[-QUEUE_MAX:]
        if not self.queue:
            return True
        body = json.dumps([{"metric": metric, "timestamp": at, "value": float(value), "tags": {"host": self.host_tag, **tags}}
                           for metric, at, value, tags in self.queue]).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        if self.authorization:
            request.add_header("Authorization", self.authorization)
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
                answer.read()
            self.certain += self.queue
        except urllib.error.HTTPError as refusal:
            if refusal.code != 400:
                self.failures += 1
                return False
            self.refused += self.queue
        except OSError:
            self.failures += 1
            return False
        self.queue = []
        return True
