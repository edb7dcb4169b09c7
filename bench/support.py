"""What the measuring scripts share: the clients, the description of the machine, places."""
import hashlib
import os
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "build" / "release"


def client(program, *arguments):
    """Runs put_client or query_client and returns the last line of its output as {name: number}."""
    return finish(start_client(program, *arguments))


def start_client(program, *arguments):
    return subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            stdin=subprocess.DEVNULL)


def finish(process):
    return figures_of(lines_of(process)[-1])


def lines_of(process):
    """Waits for the process and returns the lines of its output."""
    out, error = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"{Path(process.args[0]).name}: {error.strip()[-2000:]}")
    return out.splitlines()


def figures_of(line):
    """Returns {name: number} of a line of names and numbers."""
    words = line.split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def median(rows, field):
    return statistics.median(row[field] for row in rows)


def medians(rows):
    """The median of each number over the rounds."""
    return {field: median(rows, field) for field in rows[0]}


def memory_of(pids):
    """Returns (resident bytes, anonymous bytes) of the processes, given as "12,34"."""
    total = {"resident": 0, "anonymous": 0}
    for pid in pids.split(","):
        status = Path("/proc", pid, "status").read_text()
        total["resident"] += int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024
        total["anonymous"] += int(re.search(r"RssAnon:\s+(\d+)", status).group(1)) * 1024
    return total


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text()).group(1)) / 2**20
    return (f"{model.group(1) if model else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
            f"Linux {platform.release()}")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def versions():
    """Returns {server: version} of all servers that can be measured here."""
    commit = output("git", "rev-parse", "--short", "HEAD") or "unknown"
    # Ignores differences that earlier parts of this run have made by writing their own results.
    dirty = "+" if output("git", "status", "--porcelain", "--untracked-files=no", ":!bench/RESULTS.md", ":!bench/results") else ""
    found = {"Hourglass": commit + dirty}
    for name, package, command in (("VictoriaMetrics", "victoria-metrics", "victoria-metrics"), ("InfluxDB", "influxdb", "influxd"),
                                   ("Prometheus", "prometheus", "prometheus")):
        program = shutil.which(command)
        if program is None:
            continue
        if output("dpkg-query", "-S", program).startswith(package):
            found[name] = output("dpkg-query", "-W", "-f=${Version}", package) + " (Debian)"
        else:
            found[name] = f"another build than Debian's, SHA-256 {hashlib.sha256(Path(program).read_bytes()).hexdigest()[:12]}"
    found["OpenTSDB"] = "2.4.1 on HBase 2.6.0 (tests/testbed)"
    return found


def scratch():
    """A new folder on the disk that holds build/, not in a file system in memory."""
    (ROOT / "build").mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="bench-", dir=ROOT / "build", ignore_cleanup_errors=True)
