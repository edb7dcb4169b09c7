"""Tables of comma-separated values: points written to files, imported and exported by each server's own means."""
import http.client
import os
import random
import time
import urllib.parse
from pathlib import Path

import servers
from questions import METRICS

TAGS = ("datacenter", "hostname", "rack", "region")  # in the order in which `tsdb export` writes them
REGIONS = ("eu-west-1", "eu-central-1", "us-east-1", "us-west-2")
HEAD = ",".join(("metric", "time", "value", *TAGS)) + "\n"


class Tables:
    """Writes one file per metric, sorted by time and then by host: random walks with two decimals that continue from file to file."""

    def __init__(self, folder, hosts):
        self.folder = Path(folder)
        self.tags = [f"{REGIONS[host % 4]}{'abc'[host // 7 % 3]},host_{host},{host % 100},{REGIONS[host % 4]}\n"
                     for host in range(hosts)]
        self.walks = {metric: [50.0] * hosts for metric in METRICS}
        self.random = random.Random(1)

    def write(self, begin, steps, step_s):
        """Writes the files and returns their paths; the first row of each names the columns."""
        step_of = self.random.gauss
        files = []
        for metric, walk in self.walks.items():
            files.append(self.folder / f"{metric}.csv")
            with open(files[-1], "w", encoding="ascii") as out:
                out.write(HEAD)
                for now in range(begin, begin + steps * step_s, step_s):
                    walk[:] = [min(100.0, max(0.0, value + step_of(0, 1))) for value in walk]
                    out.writelines(f"{metric},{now},{value:.2f},{tags}" for value, tags in zip(walk, self.tags))
        return files


def cpu_s(pid):
    """The processor time, in seconds, that a process has used."""
    words = Path("/proc", str(pid), "stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def measured(server, work, points):
    """Measures work(), which returns the processor seconds used by processes other than the server."""
    before, began = cpu_s(server.pid), time.monotonic()
    beside = work()
    took = time.monotonic() - began
    return {"rate": points / took, "cpu_ns": (cpu_s(server.pid) - before + beside) / points * 1e9}


def run_tool(server, *words, **options):
    """Runs one of Hourglass' tools while its daemon runs; returns the processor seconds that the tool used."""
    process = server.tool(*words, **options)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"tsdb {' '.join(map(str, words[:2]))} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def import_to(server, files, points):
    """Imports the files one after the other: Hourglass by `tsdb import --csv` with a running daemon, VictoriaMetrics over HTTP."""
    if server.product == "Hourglass":
        with open(files[0].parent / "import.log", "ab") as log:
            return measured(server, lambda: run_tool(server, "import", "--csv", *files, stderr=log), points)
    return measured(server, lambda: send_files(server, files), points)


def send_files(server, files):
    connection = http.client.HTTPConnection("127.0.0.1", server.query_port, timeout=servers.PATIENCE_S, blocksize=1 << 20)
    for file in files:
        form = ",".join(["2:time:unix_s", f"3:metric:{file.stem}", *(f"{i}:label:{tag}" for i, tag in enumerate(TAGS, 4))])
        with open(file, "rb") as body:
            body.seek(len(HEAD))
            connection.request("POST", "/api/v1/import/csv?" + urllib.parse.urlencode({"format": form}), body,
                               {"Content-Length": str(file.stat().st_size - len(HEAD))})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 204:
            raise RuntimeError(f"import/csv: {answer.status} {text[:500]!r}")
    return 0


def export_words(metric, begin, end):
    return "export", str(begin), str(end), "none", metric


def export_from(server, metric, begin, end, file):
    """Writes an export to the file; returns the processor seconds used by processes other than the server."""
    if server.product == "Hourglass":
        with open(file, "wb") as out:
            return run_tool(server, *export_words(metric, begin, end), stdout=out)
    file.write_bytes(HEAD.encode() + without_head(servers.get(server.query_port, export_path(metric, begin, end))))
    return 0


def without_head(text):
    """Returns the rows of an export of VictoriaMetrics. Newer versions put a line with the fields of the format before the rows."""
    return text.partition(b"\n")[2] if text.startswith(b"__name__,") else text


def export_path(metric, begin, end):
    form = ",".join(("__name__", "__timestamp__:unix_s", "__value__", *TAGS))
    return "/api/v1/export/csv?" + urllib.parse.urlencode(
        {"format": form, "match[]": f'{{__name__="{metric}"}}', "start": begin, "end": end})


def rows_of(text):
    """Returns {(metric, time, tags): value} for the rows of an export, without its header row."""
    rows = {}
    for line in text.splitlines():
        metric, at, value, tags = line.split(",", 3)
        rows[metric, at, tags] = float(value)
    return rows


def compare_exports(ours, peer, metric, begin, end, file):
    """Returns the number of rows if both exports hold the same rows; raises an error otherwise."""
    tables = []
    for server in filter(None, (ours, peer)):
        export_from(server, metric, begin, end, file)
        head, _, text = file.read_text().partition("\n")
        if head + "\n" != HEAD:
            raise RuntimeError(f"the export of {server.name} begins with {head!r}")
        tables.append(rows_of(text))
    here, there = tables[0], tables[-1]
    if here != there:
        raise RuntimeError(f"exports differ: {len(here)} rows here, {len(there)} in {peer.name}, "
                           f"such as {list(here.items() ^ there.items())[:3]}")
    return len(here)
