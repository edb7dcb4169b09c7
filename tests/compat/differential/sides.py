"""The two programs that are compared: OpenTSDB in a test bed (tests/testbed) and Hourglass on a directory of its own.

Both offer the same: answers(requests), dump(tables), close(). A request is one of conformance's suites ("method" and
"path", or "telnet"); an answer is {"status", "headers", "body"}, {"body"} for telnet, or {"lost": why} where none came.
"""

import concurrent.futures
import fcntl
import http.client
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))
sys.dont_write_bytecode = True
import conformance  # noqa: E402  (the recorded suites' runner: its calls and its comparison)

ANSWER_WAIT_S = 8  # OpenTSDB never answers some requests
TABLES = ("tsdb", "tsdb-uid", "tsdb-tree", "tsdb-meta")
ROLLUP_TABLES = ("tsdb-preagg", "tsdb-rollup-1h", "tsdb-rollup-agg-1h", "tsdb-rollup-1d", "tsdb-rollup-agg-1d")


def answer(port, request, idle=0.5, wait_s=ANSWER_WAIT_S):
    """The answer to one request; a step {"wait": seconds} pauses. A telnet answer is complete when nothing arrives for `idle` seconds."""
    if "wait" in request:
        time.sleep(request["wait"])
        return {"body": ""}
    try:
        if "telnet" in request:
            return conformance.telnet_call(
                port, request["telnet"], request.get("pieces"), idle=request.get("idle", idle)
            )
        return conformance.http_call(port, request, timeout=wait_s)
    except TimeoutError:
        return {"lost": "no answer"}
    except (OSError, http.client.HTTPException, EOFError) as e:
        return {"lost": type(e).__name__}


class OpenTsdb:
    """Another OpenTSDB daemon in a running test bed, on its own tables."""

    serial = itertools.count()

    def __init__(self, testbed, config):
        self.testbed = testbed
        self.name = f"d{os.getpid()}n{int(time.time()) % 10**6}n{next(OpenTsdb.serial)}"
        self.suffix = "-" + self.name
        self.rollups = "tsd.rollups.config" in config
        settings = dict(config)
        if self.rollups:
            settings["tsd.rollups.config"] = re.sub(
                r'"(tsdb[a-z0-9-]*)"', rf'"\1{self.suffix}"', config["tsd.rollups.config"]
            )
        salted = int(config.get("tsd.storage.salt.width", "0")) == 1 and int(
            config.get("tsd.storage.salt.buckets", "20")
        )
        options = (
            ["--suffix", self.suffix]
            + (["--salt", str(salted)] if salted else [])
            + (["--rollups"] if self.rollups else [])
        )
        out = self.run(
            "opentsdb", self.name, *options, *itertools.chain(*(("--set", f"{k}={v}") for k, v in settings.items()))
        )
        self.port = int(re.search(r"_PORT=(\d+)", out).group(1))

    def run(self, *words):
        # One at a time, because each reads and rewrites the test bed's list of parts.
        with open(Path(tempfile.gettempdir(), "differential.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = subprocess.run([self.testbed, *words], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"testbed {words[0]}: {done.stderr[-400:]}")
        return done.stdout

    def answers(self, requests):
        return [answer(self.port, r, idle=1.2) for r in requests]  # on a busy machine it may take long to answer

    def dump(self):
        """Stops the daemon; returns {table: its cells, one per line}."""
        self.run("stop", "opentsdb-" + self.name)
        tables = TABLES + (ROLLUP_TABLES if self.rollups else ())
        lines = self.run("dump", *tables, "--suffix", self.suffix).splitlines()
        return {t: [l.split("\t", 1)[1] for l in lines if l.startswith(t + "\t")] for t in tables}

    def close(self):
        self.run("stop", "opentsdb-" + self.name, "--kill")
        self.run("drop", "--suffix", self.suffix)


class Hourglass:
    def __init__(self, tsdb, config):
        self.tsdb = tsdb
        self.rollups = "tsd.rollups.config" in config
        self.server = conformance.Server(f"{tsdb} tsd --config={{config}}", defaults(config))
        self.server.start()
        self.port = self.server.port

    def answers(self, requests):
        return [answer(self.port, r, idle=3, wait_s=60) for r in requests]

    def alive(self):
        return self.server.proc.poll() is None

    def dump(self):
        self.server.stop()
        cells = {}
        for table in TABLES + (ROLLUP_TABLES if self.rollups else ()):
            done = subprocess.run(
                self.server.command(f"{self.tsdb} dump --config={{config}} {{table}}", table=table),
                capture_output=True,
                text=True,
            )
            cells[table] = done.stdout.splitlines() if done.returncode == 0 else ["dump failed: " + done.stderr[-200:]]
        return cells

    def close(self):
        self.server.clean()


def defaults(config):
    """The settings of the test bed's opentsdb.conf, so that both sides start with the same ones."""
    return {
        "tsd.http.request.enable_chunked": "true",
        "tsd.http.request.max_chunk": "33554432",
        "tsd.core.auto_create_metrics": "true",
        **config,
    }


def pair(testbed, tsdb, config):
    """Starts both sides at the same time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        theirs = pool.submit(OpenTsdb, testbed, config)
        ours = pool.submit(Hourglass, tsdb, config)
        try:
            return theirs.result(), ours.result()
        except Exception:
            for side in (theirs, ours):
                if not side.exception():
                    side.result().close()
            raise


def both(theirs, ours, requests):
    """Returns [(OpenTSDB's answer, Hourglass's answer)]; each side gets the requests in order."""
    requests = json.loads(conformance.timed(json.dumps(requests)))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        a, b = pool.submit(theirs.answers, requests), pool.submit(ours.answers, requests)
        return list(zip(a.result(), b.result()))
