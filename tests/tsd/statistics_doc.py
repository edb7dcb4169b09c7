#!/usr/bin/env python3
"""docs/statistics.md names what a daemon shows, and nothing else; what it calls always 0 is 0 after some work. All that the page's view
of the server reads (http/page/stats.js) is shown. The last line reads "N passed, N failed"."""
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import daemon  # noqa: E402

NAME = re.compile(r"`([a-z]+\.[a-z0-9_.-]+|stopping)`")
# The names in the form that readStats of stats.js uses; the page silently leaves out names that it does not know.
READ_BY_PAGE = re.compile(r"'([a-z]+(?:\.[a-z0-9_-]+)+(?: [a-z]+=[a-z0-9_]+)*)'")
PAGE_READS_MIN = 35
NOT_ITS_OWN = ("host", "fqdn", "port", "class")


def told(text):
    """Returns {name: last cell of its row} of the documentation."""
    out = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) > 1:
            out.update((name, cells[-1]) for name in NAME.findall(cells[0]))
    return out


def after_work(tsdb, ask):
    """Returns ask(server) of a daemon that has written and answered something."""
    with tempfile.TemporaryDirectory() as folder:
        server = daemon.Daemon(tsdb, folder)
        server.start()
        try:
            server.put({"metric": "m", "timestamp": 1, "value": 1, "tags": {"a": "b"}})
            server.query(1, "sum:m", 2)
            return ask(server)
        finally:
            server.stop()


def greatest(points):
    """Returns {name: its greatest value}."""
    out = {}
    for point in points:
        name = point["metric"].removeprefix("tsd.")
        out[name] = max(out.get(name, 0), int(point["value"]))
    return out


def spelled(points):
    """The names with their own tags, for example "rpc.received type=http"."""
    return {" ".join([point["metric"].removeprefix("tsd."), *(f"{key}={value}" for key, value in point["tags"].items()
                                                            if key not in NOT_ITS_OWN)]) for point in points}


def page_faults(script, spellings):
    read = READ_BY_PAGE.findall(script)
    if len(read) < PAGE_READS_MIN:
        yield f"only {len(read)} names were found in stats.js"
    for name in sorted(set(read) - spellings):
        yield f"the page reads {name}, which is not shown"


def faults(listed, seen):
    for name in sorted(set(seen) - set(listed)):
        yield f"{name} is shown and not told"
    for name in sorted(set(listed) - set(seen)):
        if "only where" not in listed[name]:
            yield f"{name} is told and not shown"
    for name, meaning in listed.items():
        if meaning.startswith("always 0") and seen.get(name, 0):
            yield f"{name} is {seen[name]}"


def main():
    listed = told((ROOT / "docs/statistics.md").read_text())
    points = after_work(sys.argv[1], lambda server: server.get("/api/stats"))
    seen, spellings = greatest(points), spelled(points)
    script = (ROOT / "http/page/stats.js").read_text()
    wrong = [*faults(listed, seen), *page_faults(script, spellings)]
    # A test of this check: a superfluous name on either side, and a zero that should not be zero.
    canary = list(faults({"a.b": "", "c.d": "always 0"}, {"c.d": 1, "e.f": 0}))
    # Also a name and a tag that changed, and too few names.
    canary += page_faults(script, spellings - {"storage.files", "rpc.received type=http"})
    canary += page_faults("const A = 'jvm.ramused';", spellings)
    if len(canary) != 6:
        wrong.append("the canaries live")
    for fault in wrong:
        print("FAIL", fault)
    print(f"{len(seen)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
