#!/usr/bin/env python3
"""About 140 operations of a Thrift2 client with their exact results, which are those of HBase. The client is generated from HBase's
published definition (hbase.thrift of hbase-thrift 2.4.17, in this folder).

    operations.py --tsdb build/release/tsdb     on the embedded store of a daemon, in each form of the protocol
    operations.py --gateway HOST:PORT           on any gateway, for example one of HBase

Without arguments, the gateway is that of the test bed: tests/testbed/testbed run -- tests/storage/thrift2/operations.py.
The last line reads "N passed, N failed".
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.path.append("/usr/lib/python3/dist-packages")  # python3-thrift of Debian, whichever Python runs this
sys.dont_write_bytecode = True
import daemon  # noqa: E402

TABLE = b"thrift2_operations"
SPACE = "thrift2_space"
GENERATED = tempfile.TemporaryDirectory()
subprocess.run(["thrift", "--gen", "py", "-out", GENERATED.name, Path(__file__).with_name("hbase.thrift")], check=True,
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
sys.path.insert(0, GENERATED.name)
from hbase import THBaseService, ttypes as t  # noqa: E402
from thrift.Thrift import TApplicationException  # noqa: E402
from thrift.protocol import TBinaryProtocol, TCompactProtocol  # noqa: E402
from thrift.transport import TSocket, TTransport  # noqa: E402


class Client:
    def __init__(self, host, port, framed=False, compact=False):
        socket = TSocket.TSocket(host, port)
        socket.setTimeout(60_000)
        self.transport = TTransport.TFramedTransport(socket) if framed else TTransport.TBufferedTransport(socket)
        protocol = TCompactProtocol.TCompactProtocol if compact else TBinaryProtocol.TBinaryProtocol
        self.calls = THBaseService.Client(protocol(self.transport))
        self.transport.open()

    def close(self):
        self.transport.close()


# Requests.


def name(table=TABLE):
    space, _, qualifier = table.rpartition(b":")
    return t.TTableName(ns=space or None, qualifier=qualifier)


def columns(*names):
    return [t.TColumn(*full.split(b":", 1)) if b":" in full else t.TColumn(full) for full in names]


def get(row, *names, **more):
    return t.TGet(row=row, columns=columns(*names) or None, **more)


def put(row, cells, timestamp=None):
    """cells: {b"family:qualifier": value}"""
    return t.TPut(row=row, columnValues=[t.TColumnValue(*full.split(b":", 1), value=value, timestamp=timestamp)
                                         for full, value in cells.items()])


def delete(row, kind, *names, timestamp=None):
    wanted = columns(*names)
    for column in wanted:
        column.timestamp = timestamp
    return t.TDelete(row=row, columns=wanted or None, deleteType=kind, timestamp=None if wanted else timestamp)


def mutations(row, *parts):
    return t.TRowMutations(row=row, mutations=[t.TMutation(put=part) if isinstance(part, t.TPut) else t.TMutation(deleteSingle=part)
                                               for part in parts])


# Filters, as HBase serializes them: protobuf messages.


def field(number, value):
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2]) + (bytes([len(value)]) if len(value) < 128 else bytes([len(value) & 0x7F | 0x80, len(value) >> 7])) + value


def named(kind, content):
    return field(1, b"org.apache.hadoop.hbase.filter." + kind) + field(2, content)


def compare(kind, op, comparator):
    return named(kind, field(1, field(1, op) + field(2, comparator)))


def binary(kind, value):
    return named(kind, field(1, field(1, value)))


LESS, EQUAL = 0, 2
PREFIX_R = named(b"PrefixFilter", field(1, b"r"))
REGEX = compare(b"RowFilter", EQUAL, named(b"RegexStringComparator",
                                           field(1, b"^r[23]$") + field(2, 0) + field(3, b"ISO-8859-1")))
VALUE_BELOW = compare(b"ValueFilter", LESS, binary(b"BinaryComparator", b"y"))
KEYS_ONLY = named(b"KeyOnlyFilter", field(1, 0))
FIRST = named(b"FirstKeyOnlyFilter", b"")
RANGE = named(b"ColumnRangeFilter", field(1, b"c2") + field(2, 1) + field(3, b"c4") + field(4, 0))


# Results, without what every run changes.


def cells(result):
    """[(family:qualifier, value)]"""
    return [(cell.family + b":" + cell.qualifier, cell.value) for cell in result.columnValues]


def dated(result):
    return [(full, value, cell.timestamp) for (full, value), cell in zip(cells(result), result.columnValues)]


class Fails:
    """Expects an exception: its class, a part of its text ("=" before it: the whole text), and canRetry."""

    def __init__(self, kind, text, can_retry=None):
        self.kind, self.text, self.can_retry = kind, text, can_retry

    def __eq__(self, other):
        if type(other) is not self.kind:
            return False
        text = other.message or ""
        fits = text == self.text[1:] if self.text.startswith("=") else self.text in text
        return fits and (self.can_retry is None or other.canRetry == self.can_retry)

    def __repr__(self):
        return f"{self.kind.__name__}({self.text!r}, {self.can_retry})"


def refuses(method):
    return Fails(TApplicationException, f"Internal error processing {method}")


class Cases:
    """The operations, in order; later ones see what earlier ones have stored."""

    def __init__(self, client):
        self.client = client
        self.passed = self.failed = 0

    def expect(self, what, expected, operation):
        # HBase hides a put in the millisecond of a delete.
        time.sleep(0.002)
        try:
            got = operation(self.client)
        except (t.TIOError, t.TIllegalArgument, TApplicationException) as e:
            got = e
        if expected == got:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAIL {what}: expected {expected!r}, got {got!r}")

    def scan(self, rows=100, table=TABLE, **wanted):
        """An operation: opens a scanner, fetches by `rows`, closes it; [(row, cells)]."""
        def run(client):
            scanner = client.openScanner(table, t.TScan(**wanted))
            out = []
            while found := client.getScannerRows(scanner, rows):
                out += [(one.row, cells(one)) for one in found]
            client.closeScanner(scanner)
            return out
        return run

    def tables(self):
        e = self.expect
        family = t.TColumnFamilyDescriptor
        new = t.TTableDescriptor(tableName=name(), columns=[family(name=b"a", maxVersions=3), family(name=b"b")])
        e("the type of the server", t.TThriftServerType.TWO, lambda c: c.getThriftServerType())
        e("no table yet", False, lambda c: c.tableExists(name()))
        e("create a table with two regions", None, lambda c: c.createTable(new, [b"m"]))
        e("the table exists", True, lambda c: c.tableExists(name()))
        e("create it again", Fails(t.TIOError, "TableExistsException", False), lambda c: c.createTable(new, None))
        e("enabled, disabled, available", (True, False, True), lambda c: (
            c.isTableEnabled(name()), c.isTableDisabled(name()), c.isTableAvailable(name())))
        e("its families", [(b"a", 3), (b"b", 1)], lambda c: [
            (one.name, one.maxVersions) for one in c.getTableDescriptor(name()).columns])
        e("a missing table is not described", Fails(t.TIOError, "=nosuch", False), lambda c: c.getTableDescriptor(name(b"nosuch")))
        e("names by pattern", [(b"default", TABLE)], lambda c: [
            (one.ns, one.qualifier) for one in c.getTableNamesByPattern("thrift2_op.*", False)])
        e("no names by a part of a name", [], lambda c: c.getTableNamesByPattern("thrift2_op", False))
        e("regions", [(b"", b"m"), (b"m", b"")], lambda c: [
            (one.regionInfo.startKey or b"", one.regionInfo.endKey or b"") for one in c.getAllRegionLocations(TABLE)])
        e("no regions of a missing table", [], lambda c: c.getAllRegionLocations(b"nosuch"))
        e("the region of a row", b"m", lambda c: c.getRegionLocation(TABLE, b"zz", False).regionInfo.startKey)

    def rows(self):
        e = self.expect
        for number in (1, 2, 3, 4):
            e(f"put version {number}", None, lambda c: c.put(TABLE, put(b"v", {b"a:q": b"v%d" % number}, 1000 * number)))
        e("get the newest version", [(b"a:q", b"v4", 4000)], lambda c: dated(c.get(TABLE, get(b"v"))))
        e("get two versions", [(b"a:q", b"v4", 4000), (b"a:q", b"v3", 3000)], lambda c: dated(c.get(TABLE, get(b"v", maxVersions=2))))
        e("no more versions than the family keeps", [4000, 3000, 2000], lambda c: [
            one[2] for one in dated(c.get(TABLE, get(b"v", maxVersions=10)))])
        e("get a range of times", [(b"a:q", b"v3", 3000)], lambda c: dated(c.get(TABLE, get(b"v", timeRange=t.TTimeRange(2000, 4000)))))
        e("get one time", [(b"a:q", b"v2", 2000)], lambda c: dated(c.get(TABLE, get(b"v", timestamp=2000))))
        e("get a missing row", (None, []), lambda c: (lambda r: (r.row, r.columnValues))(c.get(TABLE, get(b"nosuch"))))
        e("exists", (True, False), lambda c: (c.exists(TABLE, get(b"v")), c.exists(TABLE, get(b"v", b"b"))))
        e("exists, of several rows", [True, False], lambda c: c.existsAll(TABLE, [get(b"v"), get(b"nosuch")]))
        e("put several rows", None, lambda c: c.putMultiple(TABLE, [
            put(b"r%d" % i, {b"a:c%d" % i: b"x%d" % i, b"b:c": b"z"}, 1000) for i in range(1, 6)]))
        e("get several rows in their order", [b"r2", None, b"r1", b"r2"], lambda c: [
            one.row for one in c.getMultiple(TABLE, [get(b"r2"), get(b"nosuch"), get(b"r1"), get(b"r2")])])
        e("get a family", [(b"b:c", b"z")], lambda c: cells(c.get(TABLE, get(b"r1", b"b"))))
        e("get columns of two families", [(b"a:c1", b"x1"), (b"b:c", b"z")], lambda c: cells(c.get(TABLE, get(b"r1", b"a:c1", b"b:c", b"a:no"))))
        e("get with a filter", [(b"a:c1", b"x1")], lambda c: cells(c.get(TABLE, get(b"r1", filterBytes=VALUE_BELOW))))
        e("get with a filter in text", [(b"a:c1", b"x1")], lambda c: cells(c.get(TABLE, get(b"r1", filterString=b"ValueFilter(<, 'binary:y')"))))
        e("get with a filter that is no text of the language", refuses("get"), lambda c: c.get(TABLE, get(b"r1", filterString=b"ValueFilter(<)")))
        e("get with a filter in bytes and in text", [(b"a:c1", b"x1")], lambda c: cells(c.get(
            TABLE, get(b"r1", filterBytes=VALUE_BELOW, filterString=b"PrefixFilter('x')"))))
        e("an empty row key", refuses("get"), lambda c: c.get(TABLE, get(b"")))
        e("a put without cells", refuses("put"), lambda c: c.put(TABLE, put(b"p", {})))
        e("a missing family", Fails(t.TIOError, "NoSuchColumnFamilyException", False), lambda c: c.get(TABLE, get(b"v", b"nosuch")))
        e("a missing table", Fails(t.TIOError, "=nosuch", False), lambda c: c.get(b"nosuch", get(b"v")))
        e("a batch with a bad row fails", Fails(t.TIOError, "NoSuchColumnFamilyException"), lambda c: c.putMultiple(TABLE, [
            put(b"p1", {b"a:q": b"1"}), put(b"p2", {b"nosuch:q": b"2"})]))
        e("but its other row is stored", [(b"a:q", b"1")], lambda c: cells(c.get(TABLE, get(b"p1"))))

    def conditions(self):
        e = self.expect
        check = lambda c, value, new: c.checkAndPut(TABLE, b"cas", b"a", b"q", value, put(b"cas", {b"a:q": new}))  # noqa: E731
        e("put if absent", True, lambda c: check(c, b"", b"5"))
        e("not if present", False, lambda c: check(c, b"", b"6"))
        e("put if equal", True, lambda c: check(c, b"5", b"5"))
        e("not if different", False, lambda c: check(c, b"4", b"6"))
        ops = t.TCompareOp
        for op, given, expected in ((ops.LESS, b"4", True), (ops.LESS, b"5", False), (ops.GREATER, b"6", True), (ops.EQUAL, b"5", True),
                                    (ops.NOT_EQUAL, b"5", False), (ops.LESS_OR_EQUAL, b"5", True), (ops.NOT_EQUAL, b"", True)):
            e(f"operator {op} with {given}", expected, lambda c: c.checkAndMutate(
                TABLE, b"cas", b"a", b"q", op, given, mutations(b"cas", put(b"cas", {b"b:n": b"1"}))))
        e("a value never compares to an absent column", False, lambda c: c.checkAndMutate(
            TABLE, b"cas", b"a", b"no", ops.NOT_EQUAL, b"5", mutations(b"cas", put(b"cas", {b"b:n": b"1"}))))
        e("a condition on another row", Fails(t.TIOError, ""), lambda c: c.checkAndPut(
            TABLE, b"cas", b"a", b"q", b"5", put(b"other", {b"a:q": b"1"})))
        e("delete if equal", (False, True), lambda c: tuple(
            c.checkAndDelete(TABLE, b"cas", b"a", b"q", value, delete(b"cas", t.TDeleteType.DELETE_COLUMNS, b"a:q")) for value in (b"4", b"5")))
        e("what is left", [(b"b:n", b"1")], lambda c: cells(c.get(TABLE, get(b"cas"))))

    def counters(self):
        e = self.expect
        count = lambda c, by, **more: c.increment(TABLE, t.TIncrement(  # noqa: E731
            row=b"n", columns=[t.TColumnIncrement(b"a", b"n", by)], **more))
        eight = lambda n: n.to_bytes(8, "big")  # noqa: E731
        e("increment", [(b"a:n", eight(5))], lambda c: cells(count(c, 5)))
        e("increment again", [(b"a:n", eight(12))], lambda c: cells(count(c, 7)))
        e("increment without results", None, lambda c: count(c, 1, returnResults=False).row)
        e("increment what is no number", Fails(t.TIOError, "not a long"), lambda c: c.increment(
            TABLE, t.TIncrement(row=b"v", columns=[t.TColumnIncrement(b"a", b"q", 1)])))
        join = lambda c, value: c.append(TABLE, t.TAppend(row=b"n", columns=[t.TColumnValue(b"b", b"t", value)]))  # noqa: E731
        e("append", [(b"b:t", b"one")], lambda c: cells(join(c, b"one")))
        e("append again", [(b"b:t", b"onetwo")], lambda c: cells(join(c, b"two")))

    def times_to_live(self):
        e = self.expect
        for_8_s = {b"_ttl": (8000).to_bytes(8, "big")}
        join = lambda c, column, **more: c.append(TABLE, t.TAppend(  # noqa: E731
            row=b"ttl", columns=[t.TColumnValue(b"a", column, b"+")], **more))
        e("a put with a time to live", None, lambda c: c.put(TABLE, t.TPut(
            row=b"ttl", columnValues=[t.TColumnValue(b"a", b"kept", b"x")], attributes=for_8_s)))
        e("an append keeps that of the cell", [(b"a:kept", b"x+")], lambda c: cells(join(c, b"kept")))
        e("an append with one", [(b"a:own", b"+")], lambda c: cells(join(c, b"own", attributes=for_8_s)))
        e("an increment with one", [(b"a:sum", bytes(7) + b"\5")], lambda c: cells(c.increment(TABLE, t.TIncrement(
            row=b"ttl", columns=[t.TColumnIncrement(b"a", b"sum", 5)], attributes=for_8_s))))
        e("an append without one", [(b"a:stays", b"+")], lambda c: cells(join(c, b"stays")))
        time.sleep(8.5)
        e("cells are gone after their time", [(b"a:stays", b"+")], lambda c: cells(c.get(TABLE, get(b"ttl"))))
        e("the row is deleted", None, lambda c: c.deleteSingle(TABLE, delete(b"ttl", t.TDeleteType.DELETE_COLUMNS)))

    def deletes(self):
        e = self.expect
        kind = t.TDeleteType
        versions = lambda c: [one[2] for one in dated(c.get(TABLE, get(b"v", maxVersions=3)))]  # noqa: E731
        e("delete the newest version", None, lambda c: c.deleteSingle(TABLE, delete(b"v", kind.DELETE_COLUMN, b"a:q")))
        e("older versions are left", [3000, 2000], lambda c: versions(c)[:2])
        e("delete one version", None, lambda c: c.deleteSingle(TABLE, delete(b"v", kind.DELETE_COLUMN, b"a:q", timestamp=3000)))
        e("the others are left", 2000, lambda c: versions(c)[0])
        e("delete versions up to a time", None, lambda c: c.deleteSingle(TABLE, delete(b"v", kind.DELETE_COLUMNS, b"a:q", timestamp=2000)))
        e("none is left", [], versions)
        e("a put after the deleted times", [5000], lambda c: (c.put(TABLE, put(b"v", {b"a:q": b"v5"}, 5000)), versions(c))[1])
        e("delete a family", [(b"a:c1", b"x1")], lambda c: (
            c.deleteSingle(TABLE, delete(b"r1", kind.DELETE_FAMILY, b"b")), cells(c.get(TABLE, get(b"r1"))))[1])
        e("a column without qualifier is the empty one", [(b"a:c2", b"x2"), (b"b:c", b"z")], lambda c: (
            c.deleteSingle(TABLE, delete(b"r2", kind.DELETE_COLUMNS, b"b")), cells(c.get(TABLE, get(b"r2"))))[1])
        e("versions of a family without a time", refuses("deleteSingle"), lambda c: c.deleteSingle(
            TABLE, delete(b"r2", kind.DELETE_FAMILY_VERSION, b"b")))
        e("delete rows", [], lambda c: c.deleteMultiple(TABLE, [delete(b"p1", kind.DELETE_COLUMNS), delete(b"cas", kind.DELETE_COLUMNS)]))
        e("they are gone", [False, False], lambda c: c.existsAll(TABLE, [get(b"p1"), get(b"cas")]))
        e("puts and deletes of one row", [(b"a:new", b"1"), (b"b:c", b"z")], lambda c: (
            c.mutateRow(TABLE, mutations(b"r3", put(b"r3", {b"a:new": b"1"}), delete(b"r3", kind.DELETE_COLUMNS, b"a:c3"))),
            cells(c.get(TABLE, get(b"r3"))))[1])
        e("mutations of another row", Fails(t.TIOError, "doesn't match the original one"), lambda c: c.mutateRow(
            TABLE, mutations(b"r3", put(b"r4", {b"a:q": b"1"}))))
        e("no mutations", refuses("mutateRow"), lambda c: c.mutateRow(TABLE, mutations(b"r3")))

    def scans(self):
        e = self.expect
        keys = lambda operation: lambda c: [row for row, _ in operation(c)]  # noqa: E731
        every = [b"n", b"r1", b"r2", b"r3", b"r4", b"r5", b"v"]
        e("scan a table", every, keys(self.scan()))
        e("scan it row by row", every, keys(self.scan(rows=1)))
        e("scan a range", [b"r2", b"r3"], keys(self.scan(startRow=b"r2", stopRow=b"r4")))
        e("scan backwards", [b"r4", b"r3"], keys(self.scan(startRow=b"r4", stopRow=b"r2", reversed=True)))
        e("from a key to itself", [b"r2"], keys(self.scan(startRow=b"r2", stopRow=b"r2")))
        e("from a key to a smaller one", [], keys(self.scan(startRow=b"r3", stopRow=b"r2")))
        e("at most two rows", [b"n", b"r1"], keys(self.scan(limit=2)))
        e("a family", [(b"r2", [(b"b:c", b"z")]), (b"r3", [(b"b:c", b"z")])], self.scan(startRow=b"r2", stopRow=b"r4", columns=columns(b"b")))
        e("a filter of prefixes", every[1:6], keys(self.scan(filterBytes=PREFIX_R)))
        e("a filter of expressions", [b"r2", b"r3"], keys(self.scan(filterBytes=REGEX)))
        e("a filter of columns", [(b"r2", [(b"a:c2", b"x2")])], self.scan(stopRow=b"r4", filterBytes=RANGE))
        e("keys only", [(b"r4", [(b"a:c4", b""), (b"b:c", b"")])], self.scan(startRow=b"r4", stopRow=b"r5", filterBytes=KEYS_ONLY))
        e("first cells only", [(b"r4", [(b"a:c4", b"x4")])], self.scan(startRow=b"r4", stopRow=b"r5", filterBytes=FIRST))
        e("an unknown filter", Fails(t.TIOError, "ClassNotFoundException", False), self.scan(filterBytes=named(b"NoSuchFilter", b"")))
        text = lambda filter, **wanted: self.scan(filterString=filter, **wanted)  # noqa: E731
        for filter, found in ((b"PrefixFilter('r')", every[1:6]),
                              (b"RowFilter(=, 'regexstring:^r[23]$')", [b"r2", b"r3"]),
                              (b"RowFilter(!=, 'substring:R')", [b"n", b"v"]),
                              (b"RowFilter(>, 'binary:r4') AND RowFilter(<=,'binary:v')", [b"r5", b"v"]),
                              (b"RowFilter(=, 'binary:n') OR RowFilter(=, 'binaryprefix:r') AND RowFilter(>=, 'binary:r5')", [b"n", b"r5"]),
                              (b"(RowFilter(=, 'binary:n') OR RowFilter(=, 'binary:r5'))AND(PrefixFilter('r'))", [b"r5"]),
                              (b" ( PrefixFilter ( 'v' ) ) ", [b"v"]),
                              (b"PrefixFilter('it''s')", []),
                              (b"MultipleColumnPrefixFilter('t', 'c5')", [b"n", b"r5"]),
                              (b"FamilyFilter(=, 'binary:b') AND ValueFilter(=, 'substring:TWO')", [b"n"])):
            e(f"a filter in text: {filter.decode()}", found, keys(text(filter)))
        e("a range of columns in text", [(b"r2", [(b"a:c2", b"x2")])], text(b"ColumnRangeFilter('c2', true, 'c4', false)", stopRow=b"r4"))
        one = {"startRow": b"r4", "stopRow": b"r5"}
        e("a prefix of columns in text", [(b"r4", [(b"a:c4", b"x4")])], text(b"ColumnPrefixFilter('c4')", **one))
        e("a qualifier in text", [(b"r4", [(b"b:c", b"z")])], text(b"QualifierFilter(=, 'binary:c')", **one))
        e("keys only in text", [(b"r4", [(b"a:c4", b""), (b"b:c", b"")])], text(b"KeyOnlyFilter()", **one))
        e("lengths of values in text", [(b"r4", [(b"a:c4", b"\0\0\0\2"), (b"b:c", b"\0\0\0\1")])], text(b"KeyOnlyFilter(true)", **one))
        e("first cells only in text", [(b"r4", [(b"a:c4", b"x4")])], text(b"FirstKeyOnlyFilter()", **one))
        for filter in (b"", b"()", b"PrefixFilter('r'", b"PrefixFilter(r)", b"PrefixFilter('r') AND", b"NoSuchFilter()", b"TimeStampsFilter(1)",
                       b"RowFilter('=', 'binary:r')", b"RowFilter(<, 'substring:r')", b"RowFilter(=, 'other:r')", b"KeyOnlyFilter('')",
                       b"RowFilter(=, 'regexstring:(')", b"PrefixFilter('r') PrefixFilter('r')"):
            e(f"a text that is no filter: {filter.decode()}", refuses("openScanner"), text(filter))
        e("rows in pieces", [(b"r4", 1, True), (b"r4", 1, False)], lambda c: [
            (one.row, len(one.columnValues), bool(one.partial)) for one in
            c.getScannerResults(TABLE, t.TScan(startRow=b"r4", stopRow=b"r5", batchSize=1), 10)])
        e("scan in one call", [b"n", b"r1"], lambda c: [one.row for one in c.getScannerResults(TABLE, t.TScan(), 2)])
        e("a missing table fails at the first fetch", Fails(t.TIOError, "=nosuch", False), self.scan(table=b"nosuch"))
        e("an unknown scanner", Fails(t.TIllegalArgument, "Invalid scanner Id"), lambda c: c.getScannerRows(2**31 - 5, 1))
        e("close twice", None, lambda c: [c.closeScanner(scanner) for scanner in [c.openScanner(TABLE, t.TScan())] * 2][-1])
        e("fetch no rows, or fewer", (0, refuses("getScannerRows")), self.odd_fetches)

    @staticmethod
    def odd_fetches(client):
        scanner = client.openScanner(TABLE, t.TScan())
        none = len(client.getScannerRows(scanner, 0))
        try:
            client.getScannerRows(scanner, -1)
        except TApplicationException as e:
            return none, e
        return none, None

    def changes(self):
        e = self.expect
        family = t.TColumnFamilyDescriptor
        names = lambda c: [one.name for one in c.getTableDescriptor(name()).columns]  # noqa: E731
        e("add a family", [b"a", b"b", b"c"], lambda c: (c.addColumnFamily(name(), family(name=b"c")), names(c))[1])
        e("change a family", 5, lambda c: (c.modifyColumnFamily(name(), family(name=b"c", maxVersions=5)),
                                           c.getTableDescriptor(name()).columns[2].maxVersions)[1])
        e("delete a family", [b"a", b"b"], lambda c: (c.deleteColumnFamily(name(), b"c"), names(c))[1])
        e("an enabled table is not deleted", Fails(t.TIOError, "TableNotDisabledException", False), lambda c: c.deleteTable(name()))
        e("disable", (False, True), lambda c: (c.disableTable(name()), (c.isTableEnabled(name()), c.isTableDisabled(name())))[1])
        e("no rows of a disabled table", Fails(t.TIOError, "is disabled.", False), lambda c: c.get(TABLE, get(b"v")))
        e("enable", [(b"a:q", b"v5")], lambda c: (c.enableTable(name()), cells(c.get(TABLE, get(b"v"))))[1])
        e("truncate, with the regions", ([], [b"", b"m"]), lambda c: (
            c.disableTable(name()), c.truncateTable(name(), True),
            (self.scan()(c), [one.regionInfo.startKey or b"" for one in c.getAllRegionLocations(TABLE)]))[2])
        package, length = b"org.apache.hadoop.hbase.regionserver.", b"KeyPrefixRegionSplitPolicy.prefix_length"
        described = lambda attributes: t.TTableDescriptor(  # noqa: E731
            tableName=name(), columns=[family(name=b"a", maxVersions=3), family(name=b"b")], attributes=attributes)
        policy = lambda c: [(c.getTableDescriptor(name()).attributes or {}).get(key) for key in (b"SPLIT_POLICY", length)]  # noqa: E731
        e("no split policy", [None, None], policy)
        for attributes in ({b"SPLIT_POLICY": package + b"KeyPrefixRegionSplitPolicy", length: b"4"},
                           {b"SPLIT_POLICY": package + b"ConstantSizeRegionSplitPolicy"}):
            e(f"a split policy: {attributes}", [attributes[b"SPLIT_POLICY"], attributes.get(length)], lambda c: (
                c.modifyTable(described(attributes)), policy(c))[1])
        e("an unknown split policy", Fails(t.TIOError, "DoNotRetryIOException"), lambda c: c.modifyTable(
            described({b"SPLIT_POLICY": b"no.such.Policy"})))
        e("the split policy is removed", [None, None], lambda c: (c.modifyTable(described(None)), policy(c))[1])
        e("create a namespace", True, lambda c: (c.createNamespace(t.TNamespaceDescriptor(name=SPACE)), SPACE in c.listNamespaces())[1])
        e("create it again", Fails(t.TIOError, "NamespaceExistException", False), lambda c: c.createNamespace(
            t.TNamespaceDescriptor(name=SPACE)))
        e("a table in it", [b"t"], lambda c: (
            c.createTable(t.TTableDescriptor(tableName=name(SPACE.encode() + b":t"), columns=[family(name=b"f")]), None),
            [one.qualifier for one in c.getTableNamesByNamespace(SPACE)])[1])
        e("its rows", [(b"f:q", b"1")], lambda c: (c.put(SPACE.encode() + b":t", put(b"k", {b"f:q": b"1"})),
                                                   cells(c.get(SPACE.encode() + b":t", get(b"k"))))[1])
        e("a namespace in use is not deleted", Fails(t.TIOError, "ConstraintException"), lambda c: c.deleteNamespace(SPACE))
        self.drop()
        e("all is gone", (False, False), lambda c: (c.tableExists(name()), SPACE in c.listNamespaces()))

    def drop(self):
        for table in (TABLE, SPACE.encode() + b":t"):
            if self.client.tableExists(name(table)):
                if self.client.isTableEnabled(name(table)):
                    self.client.disableTable(name(table))
                self.client.deleteTable(name(table))
        if SPACE in self.client.listNamespaces():
            self.client.deleteNamespace(SPACE)

    def run(self):
        self.drop()
        for part in (self.tables, self.rows, self.conditions, self.counters, self.times_to_live, self.deletes, self.scans, self.changes):
            part()


def run(host, port, **form):
    client = Client(host, port, **form)
    cases = Cases(client.calls)
    cases.run()
    client.close()
    print(f"{cases.passed} passed, {cases.failed} failed on {host}:{port} {form or ''}", flush=True)
    return cases.passed, cases.failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tsdb")
    parser.add_argument("--gateway")
    options = parser.parse_args()
    if options.tsdb is None:
        host, _, port = (options.gateway or f"127.0.0.1:{os.environ['TESTBED_THRIFT_PORT']}").rpartition(":")
        counts = [run(host, int(port))]
    else:
        with tempfile.TemporaryDirectory() as folder:
            port = daemon.free_port()
            node = daemon.Daemon(options.tsdb, folder, {"tsd.thrift2.port": port})
            node.start()
            try:
                counts = [run("127.0.0.1", port, **form) for form in
                          ({}, {"compact": True}, {"framed": True}, {"framed": True, "compact": True})]
            finally:
                node.stop()
    passed, failed = (sum(each) for each in zip(*counts))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
