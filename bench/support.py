"""What the measuring scripts share: the two servers, the description of the machine, the page of results."""
import datetime
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from daemon import Daemon, free_port  # noqa: E402

RESULTS = ROOT / "bench" / "RESULTS.md"


class Hourglass:
    name = "Hourglass"

    def __init__(self, tsdb, folder, durability):
        folder = Path(folder, "hourglass")
        folder.mkdir()
        self.daemon = Daemon(tsdb, folder, {"tsd.storage.durability": durability})
        self.data = folder / "data"
        self.start()

    def start(self):
        self.daemon.start()
        self.put_port = self.query_port = self.lines_port = self.daemon.port
        self.pid = self.daemon.process.pid

    def stop(self):
        self.daemon.stop()

    def restart(self, settings):
        """With settings beside those that it had."""
        self.stop()
        self.daemon.settings.update(settings)
        self.start()


class VictoriaMetrics:
    name = "VictoriaMetrics"

    def __init__(self, folder):
        self.put_port, self.query_port = free_port(), free_port()
        self.lines_port = free_port()
        with open(Path(folder, "victoria-metrics.log"), "wb") as log:
            self.process = subprocess.Popen(
                ["victoria-metrics", f"-storageDataPath={folder}/victoria-metrics", "-retentionPeriod=100y",
                 f"-httpListenAddr=127.0.0.1:{self.query_port}", f"-opentsdbHTTPListenAddr=127.0.0.1:{self.put_port}",
                 f"-opentsdbListenAddr=127.0.0.1:{self.lines_port}",
                 "-search.latencyOffset=0s", "-search.disableCache", "-search.maxUniqueTimeseries=2000000"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.pid = self.process.pid
        for _ in range(200):
            try:
                self.get("/health")
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("VictoriaMetrics did not start: " + Path(folder, "victoria-metrics.log").read_text()[-2000:])

    def restart(self, settings):
        """What a restart is for, this server needs none for."""

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.query_port}{path}", timeout=600) as answer:
            return answer.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def client(program, *arguments):
    """Runs put_client or query_client; its last line as {name: number}."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{Path(program).name}: {done.stderr.strip()}")
    words = done.stdout.split("\n")[-2].split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def median(rows, field):
    return statistics.median(row[field] for row in rows)


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text()).group(1)) / 2**20
    return (f"{model.group(1) if model else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
            f"Linux {platform.release()}")


def versions():
    def output(*command):
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    commit = output("git", "rev-parse", "--short", "HEAD") or "unknown"
    dirty = "+" if output("git", "status", "--porcelain", "--untracked-files=no") else ""
    package = output("dpkg-query", "-W", "-f=${Version}", "victoria-metrics")
    return f"Hourglass {commit}{dirty}, VictoriaMetrics {package} (Debian)"


def header(command, durability):
    return (f"{datetime.date.today().isoformat()}, {machine()}.\n{versions()}. Durability of Hourglass: `{durability}`; "
            f"VictoriaMetrics has no log.\nCommand: `{command}`. Client, server and peer on the same cores; load average "
            f"before: {os.getloadavg()[0]:.1f}.\n")


def write_section(title, text):
    """Puts the section into RESULTS.md in place of the former one of that title."""
    page = RESULTS.read_text() if RESULTS.exists() else (
        "# Results\n\nWritten by `bench/put_vs_vm`, `bench/query_bench` and `bench/size_bench` (`bench/README.md`). Absolute figures "
        "hold on no other\nmachine: read the ratios, and the CPU time of the server process.\n")
    section = f"## {title}\n\n{text.strip()}\n"
    found = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if found:
        page = page[:found.start()] + section + ("\n" + page[found.end():] if page[found.end():] else "")
    else:
        page = page.rstrip("\n") + "\n\n" + section
    RESULTS.write_text(page)


def scratch():
    """A folder on the disk that holds build/, not in a memory file system."""
    (ROOT / "build").mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="bench-", dir=ROOT / "build")
