"""The servers that are measured: each starts on free ports with its data in a folder, says which processes are its own,
counts what it holds, and goes away again.

All have: product, name (of the side: two builds of one product have different names), durability (what an acknowledgement means),
pids (for --pid), port(wire), stop(), count(metric, start, end).
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from daemon import Daemon, free_port  # noqa: E402

TESTBED = ROOT / "tests" / "testbed" / "testbed"
PATIENCE_S = 900


def wait_until(answers, what, patience_s=60, pause_s=0.05):
    """Calls answers() until it is true; a connection error means that the server is not ready yet."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        try:
            if answers():
                return
        except OSError:
            pass
        time.sleep(pause_s)
    raise RuntimeError(f"{what} within {patience_s} s")


def get(port, path, timeout=PATIENCE_S):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=timeout) as answer:
        return answer.read()


def tree_bytes(folder):
    """The bytes of all files below the folder, without reserved but unused space; a file that vanishes meanwhile is skipped."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                file = os.stat(os.path.join(parent, name))
                total += min(file.st_size, file.st_blocks * 512)
            except FileNotFoundError:
                pass
    return total


def count_opentsdb(port, metric, start, end):
    """Counts the points of all series by a query that OpenTSDB supports, too."""
    words = urllib.parse.urlencode({"start": start, "end": end, "m": f"sum:0all-count:{metric}"})
    return sum(sum(series["dps"].values()) for series in json.loads(get(port, "/api/query?" + words)))


class Program:
    """A server that is one program started here."""
    process = None

    def spawn(self, folder, *command):
        with open(Path(folder, "log"), "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    @property
    def pid(self):
        return self.process.pid

    @property
    def pids(self):
        return str(self.process.pid)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Hourglass:
    product = name = "Hourglass"

    def __init__(self, tsdb, folder, durability="logged", settings=None, name=product):
        self.name = name
        folder = Path(folder, name.lower().replace(" ", "-"))
        folder.mkdir()
        self.durability = f"`{durability}`"
        self.graphite_port, self.pickle_port = free_port(), free_port()
        # The cache of query results is off here, as it is in the peer (-search.disableCache).
        self.daemon = Daemon(tsdb, folder, {"tsd.storage.durability": durability, "tsd.graphite.port": self.graphite_port,
                                            "tsd.graphite.pickle.port": self.pickle_port, "tsd.query.cache.bytes": 0,
                                            **(settings or {})})
        self.daemon.turn_cpu_ms_max = 0  # off, because reading the thread's clock costs a little time
        self.data = folder / "data"
        self.start()

    def start(self, patience_s=60):
        """Starts the daemon; returns the seconds until it answered."""
        took = self.daemon.start(patience_s)
        self.query_port = self.daemon.port
        self.pid = self.daemon.process.pid
        self.pids = str(self.pid)
        return took

    def port(self, wire):
        return {"graphite": self.graphite_port, "pickle": self.pickle_port}.get(wire, self.daemon.port)

    def stop(self):
        status = self.daemon.stop()
        # None: it did not end in time and was killed now. -SIGKILL: it was killed before.
        if status not in (0, None, -signal.SIGKILL):
            raise RuntimeError(f"{self.name} ended with {status}: {self.daemon.log_tail()}")

    def kill(self):
        self.daemon.kill()

    def state(self):
        """For the report of a failure: how the process ended, or that it runs, and the end of its log."""
        status = self.daemon.process.poll()
        return f"{self.name} {'runs' if status is None else f'ended with {status}'}: {self.daemon.log_tail()[-700:]}"

    def restart(self, settings):
        """Restarts the daemon with these settings in addition to the earlier ones."""
        self.stop()
        self.daemon.settings.update(settings)
        self.start()

    def count(self, metric, start, end):
        return count_opentsdb(self.query_port, metric, start, end)

    def tool(self, *words, **options):
        """Runs another of the program's tools while the daemon runs."""
        return subprocess.Popen([self.daemon.tsdb, *words[:1], f"--config={self.daemon.folder}/tsd.conf", *words[1:]],
                                stdin=subprocess.DEVNULL, **options)


def count_prometheus(port, metric, start, end):
    # The name is a regular expression; the dot also matches the underscore in names that came as InfluxDB's lines.
    query = f'sum(count_over_time({{__name__=~"{metric}"}}[{end - start + 1}s]))'
    answer = json.loads(get(port, "/api/v1/query?" + urllib.parse.urlencode({"query": query, "time": end, "nocache": 1})))
    result = answer["data"]["result"]
    return float(result[0]["value"][1]) if result else 0


class VictoriaMetrics(Program):
    product = name = "VictoriaMetrics"
    durability = "acknowledged from memory, in files some 7 s later at most; no log"

    def __init__(self, folder):
        self.folder = Path(folder, "victoria-metrics")
        self.folder.mkdir()
        self.query_port, self.put_port, self.lines_port, self.graphite_port = (free_port() for _ in range(4))
        self.start()

    def start(self):
        """Starts the server; returns the seconds until it answered."""
        began = time.monotonic()
        self.spawn(self.folder, "victoria-metrics", f"-storageDataPath={self.folder}/data", "-retentionPeriod=100y",
                   f"-httpListenAddr=127.0.0.1:{self.query_port}", f"-opentsdbHTTPListenAddr=127.0.0.1:{self.put_port}",
                   f"-opentsdbListenAddr=127.0.0.1:{self.lines_port}", f"-graphiteListenAddr=127.0.0.1:{self.graphite_port}", "-search.latencyOffset=0s", "-search.disableCache",
                   "-search.maxUniqueTimeseries=20000000", "-search.maxSamplesPerQuery=10000000000",
                   "-search.maxQueryDuration=10m")
        wait_until(lambda: self.get("/health"), "VictoriaMetrics did not start", pause_s=0.01)
        return time.monotonic() - began

    def port(self, wire):
        return {"put": self.put_port, "telnet": self.lines_port, "graphite": self.graphite_port}.get(wire, self.query_port)

    def restart(self, settings):
        """Does nothing: this server needs no restart to change what `settings` says."""

    def get(self, path):
        return get(self.query_port, path)

    def count(self, metric, start, end):
        self.get("/internal/force_flush")
        return count_prometheus(self.query_port, metric, start, end)

    def settled_bytes(self):
        """The bytes of its files once all parts are merged; merged parts are removed a little later."""
        self.get("/internal/force_merge")
        sizes = []
        while len(sizes) < 8 or self.merging() or len(set(sizes[-6:])) > 1:
            time.sleep(1)
            sizes.append(tree_bytes(self.folder / "data" / "data") + tree_bytes(self.folder / "data" / "indexdb"))
        return sizes[-1]

    def merging(self):
        metrics = self.get("/metrics").decode()
        return any(float(number) > 0
                   for number in re.findall(r"^vm_active_(?:force_)?merges\S* (\S+)$", metrics, re.MULTILINE))


class Prometheus(Program):
    """Prometheus as a receiver of remote write, over one connection: the samples of a series must arrive in order."""
    product = name = "Prometheus"
    durability = "log written before the acknowledgement"

    def __init__(self, folder):
        self.folder = Path(folder, "prometheus")
        self.folder.mkdir()
        self.query_port = free_port()
        (self.folder / "prometheus.yml").touch()
        self.spawn(self.folder, "prometheus", f"--config.file={self.folder}/prometheus.yml",
                   f"--storage.tsdb.path={self.folder}/data", "--storage.tsdb.retention.time=100y",
                   f"--web.listen-address=127.0.0.1:{self.query_port}", "--web.enable-remote-write-receiver",
                   "--query.max-samples=1000000000", "--log.level=warn")
        wait_until(lambda: get(self.query_port, "/-/ready"), "Prometheus did not start")

    def port(self, _wire):
        return self.query_port

    def count(self, metric, start, end):
        return count_prometheus(self.query_port, metric, start, end)


class InfluxDB(Program):
    product = name = "InfluxDB"
    durability = "log written and synced before the acknowledgement (`wal-fsync-delay` 0)"
    CONFIG = """reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
  query-log-enabled = false
  max-series-per-database = 0
  max-values-per-tag = 0
  cache-max-memory-size = "4g"
  cache-snapshot-write-cold-duration = "10s"
  compact-full-write-cold-duration = "15s"
[http]
  bind-address = "127.0.0.1:{http}"
  log-enabled = false
  max-body-size = 0
[monitor]
  store-enabled = false
[subscriber]
  enabled = false
[continuous_queries]
  enabled = false
[[opentsdb]]
  enabled = true
  bind-address = "127.0.0.1:{put}"
  database = "opentsdb"
"""

    def __init__(self, folder):
        self.folder = Path(folder, "influxdb")
        self.folder.mkdir()
        self.query_port, self.put_port = free_port(), free_port()
        config = self.folder / "influxdb.conf"
        config.write_text(self.CONFIG.format(folder=self.folder, rpc=free_port(), http=self.query_port, put=self.put_port))
        self.spawn(self.folder, "influxd", "run", "-config", str(config))
        wait_until(lambda: get(self.query_port, "/ping", timeout=5) is not None, "InfluxDB did not start")
        # Its OpenTSDB listener answers 500 until the database exists.
        self.query("CREATE DATABASE opentsdb", method="POST")

    def port(self, wire):
        return self.query_port if wire == "influx" else self.put_port

    def restart(self, settings):
        """Does nothing: this server needs no restart to change what `settings` says."""

    def query(self, text, method="GET"):
        words = urllib.parse.urlencode({"db": "opentsdb", "q": text, "epoch": "s"})
        request = urllib.request.Request(f"http://127.0.0.1:{self.query_port}/query?{words}", method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            result = json.loads(answer.read())["results"][0]
        if "error" in result:
            raise RuntimeError(f"InfluxDB: {text}: {result['error']}")
        return result

    def count(self, metric, start, end):
        """Counts points that were written through the OpenTSDB listener, or as lines with the measurement "cpu"."""
        measurement, field = metric, "value"
        if "series" not in self.query(f'SHOW MEASUREMENTS WITH MEASUREMENT = "{metric}"'):
            measurement, field = metric.split(".")
        result = self.query(f'SELECT count("{field}") FROM "{measurement}" '
                            f"WHERE time >= {start}s AND time <= {end}s")
        return result["series"][0]["values"][0][1] if "series" in result else 0

    def settled_bytes(self):
        """The bytes of its files and its index, once the cache is written and the size no longer changes."""
        sizes = []
        while len(sizes) < 40 or len(set(sizes[-20:])) > 1:
            time.sleep(1)
            sizes.append(tree_bytes(self.folder / "data") + tree_bytes(self.folder / "wal"))
        return sizes[-1]


class OpenTSDB:
    """OpenTSDB 2.4.1 on HBase 2.6.0, both on this machine (tests/testbed). HBase's Thrift gateway is not measured."""
    product = name = "OpenTSDB"
    durability = "acknowledged before it is stored; HBase's log is not synced"

    def __init__(self, folder):
        self.folder = Path(folder, "opentsdb")
        self.testbed("up", "--with-opentsdb", "--heap", "2g")
        self.query_port = self.put_port = int(self.variable("TESTBED_OPENTSDB_PORT"))
        self.read_pids()

    @staticmethod
    def is_here():
        return TESTBED.exists()

    def testbed(self, *words):
        done = subprocess.run([TESTBED, *words, "--dir", self.folder], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise RuntimeError(f"testbed {' '.join(words)}: {done.stderr.strip()[-1000:]}")
        return done.stdout

    def variable(self, name):
        return re.search(rf"^{name}=(.*)$", self.testbed("env"), re.MULTILINE).group(1)

    def read_pids(self):
        parts = dict(re.findall(r"^(\S+)\tpid (\d+)", self.testbed("status"), re.MULTILINE))
        self.pids = ",".join(parts[part] for part in ("hbase", "opentsdb"))

    def port(self, _wire):
        return self.put_port

    def stop(self):
        self.testbed("down")

    def restart(self, settings):
        """Does nothing: this server needs no restart to change what `settings` says."""

    def count(self, metric, start, end):
        try:
            return count_opentsdb(self.query_port, metric, start, end)
        except urllib.error.HTTPError as error:
            if error.code == 400:  # the name does not exist yet
                return 0
            raise

    def settled_bytes(self):
        """The bytes of HBase's files once they hold everything: a regular stop writes the contents of memory to them."""
        self.testbed("stop", "opentsdb")
        self.testbed("stop", "hbase")
        return sum(tree_bytes(path) for path in self.folder.rglob("data/default") if path.is_dir())
