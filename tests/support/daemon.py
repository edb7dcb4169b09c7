"""A daemon for the script suites: started on a free port with its own settings, stopped, killed, started again."""
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import time
import urllib.parse
from pathlib import Path


given_ports = set()


def free_port():
    """A port that the system does not give to clients, so it stays free while a daemon starts again. Chosen at random, because several
    suites run at the same time. A process gets each port once only, because a daemon has several ports and opens them later."""
    of_clients = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(10_000, of_clients if of_clients > 20_000 else 60_000)
        if port in given_ports:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        given_ports.add(port)
        return port


def turn_cpu_ms_max(tsdb):
    """HOURGLASS_TURN_CPU_MS_MAX: a daemon ends itself after a turn of an event loop of more CPU time; 0: it does not. Under a sanitizer
    everything takes longer."""
    return 2500 if {"asan", "tsan"} & set(Path(tsdb).parts) else 250


class Refused(RuntimeError):
    """A response with a status other than 200."""

    def __init__(self, method, path, status, body):
        super().__init__(f"{method} {path}: {status} {body[:300]!r}")
        self.status = status


class Daemon:
    """Runs `tsdb tsd` on folder/data; the folder keeps its settings and its log, so another start finds the same data."""

    def __init__(self, tsdb, folder, settings=None):
        self.tsdb = Path(tsdb).resolve()
        self.folder = Path(folder)
        self.settings = {"tsd.network.bind": "127.0.0.1", "tsd.storage.path": self.folder / "data",
                         "tsd.core.auto_create_metrics": "true", **(settings or {})}
        self.turn_cpu_ms_max = turn_cpu_ms_max(self.tsdb)
        self.port = free_port()
        self.process = None
        self.arguments = []  # further ones of `tsdb tsd`
        if not os.access(self.tsdb, os.X_OK):
            raise SystemExit(f"there is no program {tsdb}")

    def launch(self):
        """Starts the process without waiting for an answer."""
        config = self.folder / "tsd.conf"
        config.write_text("".join(f"{key} = {value}\n" for key, value in
                                  {**self.settings, "tsd.network.port": self.port}.items()))
        with open(self.folder / "tsd.log", "ab") as log:
            self.process = subprocess.Popen([self.tsdb, "tsd", f"--config={config}", *self.arguments], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, cwd=self.folder,
                                            env={**os.environ, "HOURGLASS_TURN_CPU_MS_MAX": str(self.turn_cpu_ms_max)})

    def start(self, patience_s=60):
        """Starts the daemon; returns the seconds until it answered."""
        began = time.monotonic()
        self.launch()
        while time.monotonic() - began < patience_s and self.process.poll() is None:
            try:
                self.get("/api/version", timeout=5)
                return time.monotonic() - began
            except Refused as refused:
                if refused.status == 401:  # the daemon answers, and it requires a password
                    return time.monotonic() - began
                if refused.status != 503:  # the daemon is still starting
                    raise
                time.sleep(0.02)
            except OSError:
                time.sleep(0.02)
        self.kill()
        raise RuntimeError("the daemon did not start: " + self.log_tail())

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Sends SIGTERM; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def log_tail(self):
        return (self.folder / "tsd.log").read_bytes()[-2000:].decode("utf-8", "replace")

    def connection(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def raw(self, timeout=60):
        """A socket connected to the daemon."""
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def get(self, path, timeout=60):
        """The JSON response to a GET request."""
        return json.loads(self.ask("GET", path, None, timeout))

    def text(self, path, timeout=60):
        """The response to a GET request as text."""
        return self.ask("GET", path, None, timeout).decode("utf-8", "replace")

    def post(self, path, document, timeout=60):
        """The JSON response to a POST request with a JSON document."""
        return json.loads(self.ask("POST", path, json.dumps(document), timeout))

    def put(self, points):
        """Writes points, given as /api/put reads them."""
        self.ask("POST", "/api/put", json.dumps(points), 60)

    def statistic(self, name):
        """The first value of a statistic of /api/stats; None if there is none."""
        return next((int(float(entry["value"])) for entry in self.get("/api/stats") if entry["metric"] == "tsd." + name), None)

    def ask(self, method, path, body, timeout):
        """The bytes of a response."""
        connection = self.connection(timeout)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            body = answer.read()
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()
        if answer.status not in (200, 204):
            raise Refused(method, path, answer.status, body)
        return body

    def query(self, start, expression, end=None, **flags):
        words = {"start": start, "m": expression, **({"end": end} if end is not None else {}), **flags}
        return self.get("/api/query?" + urllib.parse.urlencode(words))
