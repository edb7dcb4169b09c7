"""A daemon with known points, and a browser that shows its page: the argument of the cases of in_chromium.py."""
import json
import time
import urllib.parse

HOSTS = 4
MINUTES = 60
WIDE = 4
MANY, MANY_SECONDS = 500, 1000
DATA = "document.querySelector('#chart').chart.data"


CASES = []


def case(function):
    CASES.append(function)
    return function


def check(good, what):
    if not good:
        raise AssertionError(what)


def equal(one, other):
    check(one == other, f"{one!r} is not {other!r}")


class Visit:
    """fill() writes an hour of points. Two metrics have many series: one of stored ones, one whose values only a query computes."""

    def __init__(self, daemon, browser):
        self.daemon, self.browser = daemon, browser
        self.base = f"http://127.0.0.1:{daemon.port}/"
        self.now = int(time.time()) // 60 * 60

    def send(self, method, path, body):
        connection = self.daemon.connection()
        connection.request(method, path, json.dumps(body))
        status = connection.getresponse().status
        connection.close()
        return status

    def fill(self):
        points = [{"metric": "room.temp", "timestamp": self.now - 60 * i, "value": self.temperature(host, i),
                   "tags": {"host": f"s{host}", "site": "b1" if host < 2 else "b2"}}
                  for i in range(MINUTES) for host in range(HOSTS)]
        points += [{"metric": "net.bytes", "timestamp": self.now - 60 * i, "value": 6000 * (MINUTES - i), "tags": {"host": "s0"}}
                   for i in range(MINUTES)]
        points += [{"metric": "wide", "timestamp": 1000000000 + at, "value": 1, "tags": {"host": str(host)}}
                   for host in range(WIDE) for at in (0, 600000)]
        equal(self.send("POST", "/api/put", points), 204)
        self.fill_many()
        equal(self.send("POST", "/api/annotation", {"startTime": self.now - 600, "description": "deploy <b>9</b>"}), 200)

    def fill_many(self):
        """Writes a point per second for each series, as lines, because half a million points are written quickly that way."""
        with self.daemon.raw() as client:
            for host in range(MANY):
                client.sendall("".join(f"put many {1000000000 + at} {self.one_of_many(host, at)} host=h{host:03}\n"
                                       for at in range(MANY_SECONDS)).encode())
            client.sendall(b"version\n")
            said = client.recv(1 << 16)
        check(said.startswith(b"net.opentsdb"), f"a line was refused: {said[:200]!r}")

    @staticmethod
    def one_of_many(host, at):
        return host + at * 7 % 100

    @staticmethod
    def temperature(host, minutes_ago):
        return 20 + host + minutes_ago % 7 / 2

    def open(self, address=""):
        self.browser.open(self.base + address)
        self.browser.wait("document.querySelectorAll('.names .name').length > 0")

    def hash(self):
        return urllib.parse.unquote(self.browser.run("location.hash"))

    def series(self, count):
        """Waits until the graph shows that many series; returns their values, with undefined as None."""
        self.browser.wait(f"document.querySelector('#chart').chart?.data.length === {count + 1}"
                          " && !document.querySelector('#chart').classList.contains('busy')")
        return self.browser.run(f"{DATA}.slice(1).map((column) => [...column])")
