"""Access for this folder's scripts to the test bed in TESTBED_DIR: tables, OpenTSDB's daemons and Hourglass' daemons."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "compat" / "conformance"), str(HERE.parent / "support"), str(HERE.parent / "testbed")]
import daemon  # noqa: E402

TABLES = {"data": "tsdb", "uid": "tsdb-uid", "tree": "tsdb-tree", "meta": "tsdb-meta"}
ROLLUP_TABLE = re.compile(r'("(?:table|preAggregationTable)"\s*:\s*"[^"]*)"')


def testbed(*words, may_fail=False):
    done = subprocess.run([HERE.parent / "testbed" / "testbed", *words], capture_output=True, text=True)
    if done.returncode and not may_fail:
        raise RuntimeError(f"testbed {' '.join(words)}: {done.stderr[-500:]}")
    return done.stdout


def admin(*words):
    """Runs a command of HBase's own administration shell; the gateway does not offer these."""
    folder, library = os.environ["TESTBED_DIR"], testbed("fetch").splitlines()[0]
    done = subprocess.run(["java", "-Xmx128m", "--add-modules=jdk.unsupported", "-cp", f"{folder}/thrift:{library}/*",
                           HERE / "admin/Regions.java", *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"admin {' '.join(words)}: {(done.stderr or done.stdout)[-600:]}")
    return done.stdout


def gateway_port():
    return int(os.environ["TESTBED_THRIFT_PORT"])


def with_suffix(config, suffix):
    """A suite's settings, with the suffix added to the names of its rollup tables."""
    return {key: ROLLUP_TABLE.sub(rf'\g<1>{suffix}"', value) if key == "tsd.rollups.config" else value
            for key, value in config.items()}


def table_words(config, suffix):
    buckets = config.get("tsd.storage.salt.buckets", "0") if config.get("tsd.storage.salt.width", "0") != "0" else "0"
    return [f"--suffix={suffix}", "--salt", buckets] + (["--rollups"] if "tsd.rollups.config" in config else [])


class OpenTsdb:
    """An OpenTSDB daemon on tables with the suffix, which it creates."""

    def __init__(self, name, config, suffix):
        self.part = f"opentsdb-{name}"
        settings = {key: value for key, value in with_suffix(config, suffix).items()
                    if not key.startswith("tsd.storage.salt")}
        if config.get("tsd.storage.salt.width", "0") != "0":
            settings |= {key: config[key] for key in config if key.startswith("tsd.storage.salt")}
        sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        self.port = int(testbed("opentsdb", name, *table_words(config, suffix), *sets).strip().rpartition("=")[2])

    def stop(self):
        testbed("stop", self.part)


class Hourglass(daemon.Daemon):
    """A Hourglass daemon on the same tables."""

    def __init__(self, config, suffix, tsdb=None):
        self.own = tempfile.TemporaryDirectory(prefix="cluster-")
        tables = {f"tsd.storage.hbase.{key}_table": name + suffix for key, name in TABLES.items()}
        super().__init__(tsdb or os.environ["HOURGLASS_TSDB"], self.own.name,
                         {"tsd.storage.backend": "hbase", "tsd.storage.hbase.thrift": f"127.0.0.1:{gateway_port()}",
                          **tables, **with_suffix(config, suffix)})
