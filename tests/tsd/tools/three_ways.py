#!/usr/bin/env python3
"""`tsdb cell` and `tsdb table` give the same results on a stopped store, next to a running daemon, through the HBase client and on HBase.

    three_ways.py TSDB HBASE_TSDB
    tests/testbed/testbed run -- tests/tsd/tools/three_ways.py TSDB    only on the HBase whose gateway TESTBED_THRIFT_PORT names

HBASE_TSDB is the program with the HBase client and a gateway over a store in memory (tests/support/hbase/hbase_tsdb.cc). The last line
reads "N passed, N failed".
"""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
sys.dont_write_bytecode = True
from checks import Checks  # noqa: E402
from daemon import Daemon  # noqa: E402

FAR = 4_000_000_000_000  # ms, in the future: cells of this time are never expired
ONE = r"\x00\x00\x00\x00\x00\x00\x00\x01"
# (words, exit status, standard output or None, part of the error text). Times are explicit, so that the output is the same.
OPERATIONS = [
    ("table create t1 --family f1 --versions 3 --family f2 --splits g,n", 0, None, ""),
    (f"cell put t1 row1 f1:q one --timestamp {FAR}", 0, "", ""),
    (f"cell put t1 row1 f1:q two --timestamp {FAR + 1} --durability synced", 0, "", ""),
    (f"cell put t1 row1 f2:p other --timestamp {FAR}", 0, "", ""),
    (f"cell put t1 row2 f1:q three --timestamp {FAR} --json", 0, '{"done":true}\n', ""),
    (f"cell put t1 row3 f1:r four --timestamp {FAR}", 0, "", ""),
    (f"cell put t1 zebra f1:q five --timestamp {FAR}", 0, "", ""),
    ("cell get t1 row1", 0, f"row1\tf1:q\t{FAR + 1}\ttwo\nrow1\tf2:p\t{FAR}\tother\n", ""),
    ("cell get t1 row1 f1:q --versions 3", 0, f"row1\tf1:q\t{FAR + 1}\ttwo\nrow1\tf1:q\t{FAR}\tone\n", ""),
    (f"cell get t1 row1 --to-time {FAR + 1}", 0, f"row1\tf1:q\t{FAR}\tone\nrow1\tf2:p\t{FAR}\tother\n", ""),
    (f"cell get t1 row1 --from-time {FAR + 1}", 0, f"row1\tf1:q\t{FAR + 1}\ttwo\n", ""),
    ("cell get t1 row1 f1:q f2:p --json", 0,
     f'[\n{{"row":"row1","column":"f1:q","timestamp":{FAR + 1},"value":"two"}}\n'
     f',{{"row":"row1","column":"f2:p","timestamp":{FAR},"value":"other"}}]\n', ""),
    ("cell get t1 none --json", 0, "[]\n", ""),
    ("cell scan t1 f1:q f2:p --prefix row", 0,
     f"row1\tf1:q\t{FAR + 1}\ttwo\nrow1\tf2:p\t{FAR}\tother\nrow2\tf1:q\t{FAR}\tthree\n", ""),
    ("cell scan t1 f2:q f1:r --limit 1", 0, f"row3\tf1:r\t{FAR}\tfour\n", ""),
    ("cell scan t1 f1 --reversed", 0,
     f"zebra\tf1:q\t{FAR}\tfive\nrow3\tf1:r\t{FAR}\tfour\nrow2\tf1:q\t{FAR}\tthree\nrow1\tf1:q\t{FAR + 1}\ttwo\n", ""),
    ("cell scan t1 f1 --reversed --prefix row --limit 2", 0, f"row3\tf1:r\t{FAR}\tfour\nrow2\tf1:q\t{FAR}\tthree\n", ""),
    ("cell scan t1 f1 --reversed --prefix row1", 0, f"row1\tf1:q\t{FAR + 1}\ttwo\n", ""),
    ("cell scan t1 f1 --reversed --start row2 --stop row1", 0, f"row2\tf1:q\t{FAR}\tthree\n", ""),
    ("cell scan t1 f1 --start row2 --stop s", 0, f"row2\tf1:q\t{FAR}\tthree\nrow3\tf1:r\t{FAR}\tfour\n", ""),
    (f"cell scan t1 --from-time {FAR + 1}", 0, f"row1\tf1:q\t{FAR + 1}\ttwo\n", ""),
    # Filters.
    (["cell", "scan", "t1", "--filter", "PrefixFilter('row') AND SingleColumnValueFilter('f1','q',=,'binary:three',true,true)"], 0,
     f"row2\tf1:q\t{FAR}\tthree\n", ""),
    (["cell", "scan", "t1", "f1", "--filter",
      "PrefixFilter('r') AND (SingleColumnValueFilter('f1','q',=,'binary:three',true,true) OR PageFilter(1))"], 0,
     f"row1\tf1:q\t{FAR + 1}\ttwo\nrow2\tf1:q\t{FAR}\tthree\n", ""),
    (["cell", "scan", "t1", "--filter", "PageFilter(1) AND RowFilter(>=,'binary:row2')"], 0, f"row2\tf1:q\t{FAR}\tthree\n", ""),
    (["cell", "scan", "t1", "--filter", "ColumnPrefixFilter('r')"], 0, f"row3\tf1:r\t{FAR}\tfour\n", ""),
    (["cell", "scan", "t1", "--filter", "FamilyFilter(=,'binary:f2')"], 0, f"row1\tf2:p\t{FAR}\tother\n", ""),
    (["cell", "scan", "t1", "--filter", "QualifierFilter(=,'binary:r') AND KeyOnlyFilter()"], 0, f"row3\tf1:r\t{FAR}\t\n", ""),
    (["cell", "scan", "t1", "--filter", "ColumnRangeFilter('p',true,'q',false)"], 0, f"row1\tf2:p\t{FAR}\tother\n", ""),
    (["cell", "scan", "t1", "--filter", "InclusiveStopFilter('row1') AND FirstKeyOnlyFilter()"], 0, f"row1\tf1:q\t{FAR + 1}\ttwo\n", ""),
    (["cell", "scan", "t1", "f1", "--filter", "RowFilter(=,'substring:EB')"], 0, f"zebra\tf1:q\t{FAR}\tfive\n", ""),
    (["cell", "count", "t1", "--filter", "RowFilter(!=,'binaryprefix:row')"], 0, "1\n", ""),
    (["cell", "scan", "t1", "--filter", "NoSuchFilter()"], 2, "", "'NoSuchFilter' is not supported"),
    (["cell", "scan", "t1", "--filter", "RowFilter(=,'regexstring:x')"], 2, "", "'regexstring' is not supported"),
    (["cell", "scan", "t1", "--filter", "PrefixFilter('r'"], 2, "", "at byte 16"),
    # Counts and aggregates.
    ("cell count t1", 0, "4\n", ""),
    ("cell count t1 --limit 2", 0, "2\n", ""),
    ("cell count t1 f2 --json", 0, '{"result":1,"rows":1}\n', ""),
    ("cell increment t1 a f1:n 5", 0, "5\n", ""),
    ("cell increment t1 a f1:n -- -7", 0, "-2\n", ""),
    ("cell increment t1 h f1:n --json", 0, '{"value":1}\n', ""),
    ("cell increment t1 z f1:n 40 --durability logged", 0, "40\n", ""),
    ("cell increment t1 row1 f1:q", 1, "", ""),
    ("cell sum t1 f1:n", 0, "39\n", ""),
    ("cell min t1 f1:n", 0, "-2\n", ""),
    ("cell max t1 f1:n", 0, "40\n", ""),
    ("cell avg t1 f1:n", 0, "13.0\n", ""),
    ("cell sum t1 f1 --json", 0, '{"result":39,"rows":7,"values":3,"left_out":4}\n', ""),
    ("cell max t1 f2:none", 0, "null\n", ""),
    ("cell sum t1 f1:n --prefix z", 0, "40\n", ""),
    (["cell", "put", "t1", "z", "f1:n", ONE, "--timestamp", str(FAR)], 0, "", ""),
    ("cell increment t1 z f1:n", 0, "2\n", ""),
    # Append and checks.
    ("cell append t1 app f1:q ab", 0, "", ""),
    ("cell append t1 app f1:q cd --json", 0, '{"done":true}\n', ""),
    (["cell", "count", "t1", "--filter", "SingleColumnValueFilter('f1','q',=,'binary:abcd',true,true)"], 0, "1\n", ""),
    (f"cell check-and-put t1 c f1:q first --expect-absent --timestamp {FAR}", 0, "true\n", ""),
    (f"cell check-and-put t1 c f1:q again --expect-absent --timestamp {FAR}", 0, "false\n", ""),
    (f"cell check-and-put t1 c f2:q second --check f1:q --expect first --timestamp {FAR} --json", 0, '{"done":true}\n', ""),
    ("cell get t1 c", 0, f"c\tf1:q\t{FAR}\tfirst\nc\tf2:q\t{FAR}\tsecond\n", ""),
    ("cell check-and-delete t1 c f1:q --expect other", 0, "false\n", ""),
    (f"cell check-and-delete t1 c f1:q --expect first --timestamp {FAR}", 0, "true\n", ""),
    (f"cell check-and-delete t1 c --check f2:q --expect second --timestamp {FAR}", 0, "true\n", ""),
    ("cell get t1 c", 0, "", ""),
    # Deletes.
    (f"cell put t1 d f1:q v1 --timestamp {FAR}", 0, "", ""),
    (f"cell put t1 d f1:q v2 --timestamp {FAR + 1}", 0, "", ""),
    (f"cell put t1 d f1:q v3 --timestamp {FAR + 2}", 0, "", ""),
    (f"cell delete t1 d f1:q --version {FAR + 1}", 0, "", ""),
    ("cell get t1 d --versions 9", 0, f"d\tf1:q\t{FAR + 2}\tv3\nd\tf1:q\t{FAR}\tv1\n", ""),
    ("cell delete t1 d f1:q --version newest", 0, "", ""),
    ("cell get t1 d --versions 9", 0, f"d\tf1:q\t{FAR}\tv1\n", ""),
    (f"cell put t1 d f1:r v4 --timestamp {FAR}", 0, "", ""),
    (f"cell put t1 d f1:s v5 --timestamp {FAR + 1}", 0, "", ""),
    (f"cell delete t1 d f1 --version {FAR}", 0, "", ""),
    ("cell get t1 d", 0, f"d\tf1:s\t{FAR + 1}\tv5\n", ""),
    (f"cell put t1 d f2:q v6 --timestamp {FAR + 1}", 0, "", ""),
    (f"cell delete t1 d f1:s --timestamp {FAR}", 0, "", ""),
    ("cell get t1 d", 0, f"d\tf1:s\t{FAR + 1}\tv5\nd\tf2:q\t{FAR + 1}\tv6\n", ""),
    (f"cell delete t1 d f1 --timestamp {FAR + 1}", 0, "", ""),
    ("cell get t1 d", 0, f"d\tf2:q\t{FAR + 1}\tv6\n", ""),
    (f"cell delete t1 d --timestamp {FAR + 1}", 0, "", ""),
    ("cell get t1 d", 0, "", ""),
    # The TTL of a cell counts from its time.
    ("cell put t1 e f1:q short --timestamp 1000000000000 --ttl 90m", 0, "", ""),
    ("cell put t1 e f1:r long --ttl 400d", 0, "", ""),
    ("cell count t1 f1:q --prefix e", 0, "0\n", ""),
    ("cell count t1 f1:r --prefix e", 0, "1\n", ""),
    # An append and an increment have a TTL, or keep that of the cell.
    ("cell append t1 e f1:a more --ttl SHORT", 0, "", ""),
    ("cell append t1 e f1:a more", 0, "", ""),
    ("cell increment t1 e f1:n 5 --ttl SHORT", 0, "5\n", ""),
    ("cell append t1 e f1:b more --ttl 1h", 0, "", ""),
    ("sleep SHORT", 0, "", ""),
    ("cell count t1 f1:a --prefix e", 0, "0\n", ""),
    ("cell count t1 f1:n --prefix e", 0, "0\n", ""),
    ("cell count t1 f1:b --prefix e", 0, "1\n", ""),
    # Refusals name what is wrong.
    ("cell get t1 row1 --limit 2", 2, "", "does not take --limit"),
    ("cell delete t1 r f1:q --ttl 1h", 2, "", "does not take --ttl"),
    ("cell put t1 r f1:q v --durability always", 2, "", "always"),
    ("cell delete t1 r f1 --version newest", 2, "", "qualifier"),
    ("cell check-and-put t1 r f1:q v", 2, "", "--expect"),
    ("cell increment t1 r f1:q many", 2, "", "many"),
    ("cell sum t1", 2, "", "sum needs 2"),
    ("cell increment tsdb-uid r id:metrics", 1, "", "tsdb-uid"),
    ("cell scan none", 1, "", "none"),
    ("table drop t1 --yes", 0, None, ""),
    ("cell scan t1", 1, "", "t1"),
]


def outcomes(program, config):
    """Runs all operations; returns (words, exit status, output, errors) of each. SHORT is a time in which a few of them run."""
    short, slowest = None, 0
    for words, *_ in OPERATIONS:
        words = words.split(" ") if isinstance(words, str) else words
        if "SHORT" in words and short is None:
            short = 8 + int(5 * slowest)
        said = [f"{short}s" if word == "SHORT" else word for word in words]
        command = ["sleep", f"{short + 1}"] if said[0] == "sleep" else [program, said[0], f"--config={config}", *said[1:]]
        began = time.monotonic()
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=config.parent)
        slowest = max(slowest, time.monotonic() - began)
        yield " ".join(words), ran.returncode, ran.stdout, ran.stderr


def compare(check, way, program, config):
    for (_, exit_status, out, error), (words, got_status, got_out, got_error) in zip(OPERATIONS, outcomes(program, config)):
        check(f"{way}: {words}: exit status, with {got_error!r}", got_status, exit_status)
        if out is not None:
            check(f"{way}: {words}: output", got_out, out)
        check(f"{way}: {words}: error text {got_error!r} has {error!r}", error in got_error, True)


def make_folder(folder, way, settings=""):
    """Returns the settings file of a new folder with a store of its own."""
    (folder / way).mkdir()
    config = folder / way / "tsd.conf"
    config.write_text(f"tsd.storage.path = {folder / way / 'data'}\n{settings}")
    return config


def compare_without_hbase(check, folder, tsdb, hbase_tsdb):
    compare(check, "stopped", tsdb, make_folder(folder, "stopped"))
    config = make_folder(folder, "daemon")
    daemon = Daemon(tsdb, config.parent)
    daemon.start()
    try:
        compare(check, "daemon", tsdb, config)
    finally:
        check("the daemon stops", daemon.stop(), 0)
    compare(check, "hbase", hbase_tsdb, make_folder(folder, "hbase"))


def compare_on_hbase(check, folder, tsdb):
    gateway = f"127.0.0.1:{os.environ['TESTBED_THRIFT_PORT']}"
    compare(check, "HBase itself", tsdb,
            make_folder(folder, "hbase", f"tsd.storage.backend = hbase\ntsd.storage.hbase.thrift = {gateway}\n"))


def main():
    programs = [Path(path).resolve() for path in sys.argv[1:]]
    check = Checks()
    with tempfile.TemporaryDirectory() as folder:
        (compare_without_hbase if len(programs) > 1 else compare_on_hbase)(check, Path(folder), *programs)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
