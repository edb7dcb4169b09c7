#!/usr/bin/env python3
"""The cells of loaded rows in a running daemon, before and after queries, a flush, a merge and a restart.
    row_forms.py build/release/tsdb
The last line reads "N passed, N failed"."""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402
from checks import Checks  # noqa: E402

FIRST = 1_699_999_200  # the start of an hour
checks = Checks()
check = checks.must

# What a row is loaded with, what an old row shows then, and what it shows after a query with compaction. Of values of one time that
# were written together, the one with the smaller qualifier counts.
FORMS = [("00000010=2a1800 0020=07 0040=09", "00000010=2a1800 0020=07 0040=09", "0000001000200040=2a18070900"),
         ("0000=2a 0010=18 0020=07", "000000100020=2a180700", "000000100020=2a180700"),
         ("00000010=2a1800", "00000010=2a1800", "00000010=2a1800"),
         ("050000=00002a001018", "050000=00002a001018", "050000=00002a001018"),
         ("0000=2a 0011=012c f0017700=07", "00000011f0017700=2a012c0701", "00000011f0017700=2a012c0701"),
         ("0000=2a 0010=18 0011=0019", "0000=2a 0010=18 0011=0019", "00000010=2a1800"),
         ("0000=2a 0010=18 010000=7b7d", "00000010=2a1800 010000=7b7d", "00000010=2a1800 010000=7b7d")]
LOADED, SHOWN, QUERIED = ([form[i] for form in FORMS] for i in range(3))


def names():
    """Cells of a metric, a tag key, and a tag value for each form."""
    for kind, name, last in (("metrics", "m", 1), ("tagk", "host", 1), *(("tagv", f"h{n}", n) for n in range(1, len(FORMS) + 1))):
        yield f"tsdb-uid\t{last:06x}\tname\t{kind.encode().hex()}\t{name.encode().hex()}"
        yield f"tsdb-uid\t{name.encode().hex()}\tid\t{kind.encode().hex()}\t{last:06x}"


def cells(base):
    for n, row in enumerate(LOADED, 1):
        for cell in row.split():
            yield f"tsdb\t000001{base:08x}000001{n:06x}\tt\t" + cell.replace("=", "\t")


class Store:
    """A daemon with rows of every form in the hour `base`."""

    def __init__(self, tsdb, folder, base, enable_compaction):
        self.base = base
        self.server = daemon.Daemon(tsdb, folder, {"tsd.storage.enable_compaction": enable_compaction,
                                                   "tsd.storage.fix_duplicates": "true"})
        self.server.start()
        self.run("load", text="\n".join(sorted([*names(), *cells(base)])) + "\n")

    def run(self, *words, text=None):
        command = [self.server.tsdb, words[0], f"--config={self.server.folder / 'tsd.conf'}", *words[1:]]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=120)
        check(done.returncode == 0, f"{words}: {done.stderr}")
        return done.stdout

    def rows(self):
        """The cells of each row."""
        found = [[] for _ in FORMS]
        for line in self.run("dump", "tsdb").splitlines():
            row, _, qualifier, value = line.split("\t")
            found[int(row[-6:], 16) - 1].append(f"{qualifier}={value}".lower())
        return [" ".join(row) for row in found]

    def query(self):
        answer = self.server.query(self.base, "none:m{host=*}", self.base + 3599)
        check(len(answer) == len(FORMS), f"a series for each form: {answer}")

    def becomes(self, expected, when):
        """Row compaction runs in the background, so its result may take a while."""
        give_up = time.monotonic() + 60
        while (rows := self.rows()) != expected and time.monotonic() < give_up:
            time.sleep(0.05)
        for row, wanted in zip(rows, expected):
            check(row == wanted, f"{when}: {row} instead of {wanted}")


def observe(tsdb, base, enable_compaction, shown, queried):
    with tempfile.TemporaryDirectory() as folder:
        store = Store(tsdb, Path(folder), base, enable_compaction)
        try:
            store.becomes(shown, "loaded")
            store.query()
            store.becomes(queried, "after a query")
            store.run("admin", "flush")
            store.becomes(queried, "after a flush")
            store.query()
            store.run("admin", "compact", "tsdb")
            store.becomes(queried, "after a merge")
            check(store.server.stop() == 0, "the daemon stops")
            store.server.start()
            store.query()
            store.becomes(queried, "after a restart")
        finally:
            check(store.server.stop() == 0, "the daemon stops")


def main():
    tsdb = sys.argv[1]
    observe(tsdb, FIRST, "true", SHOWN, QUERIED)
    observe(tsdb, FIRST, "false", LOADED, LOADED)
    observe(tsdb, (int(time.time()) + 600) // 3600 * 3600, "true", LOADED, LOADED)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
