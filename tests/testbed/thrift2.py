"""A small client of HBase's Thrift2 gateway, for the test bed's own needs.

Speaks the gateway's default wire form: no framing, binary protocol. Structs are dicts from field id to
(type, value); the ids and types are those of hbase-backend.md §4 and §5.
"""

import socket
import struct

STOP, BOOL, BYTE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 0, 2, 3, 6, 8, 10, 11, 12, 13, 14, 15
CALL, EXCEPTION = 1, 3

BLOOM_ROW, ENCODING_DIFF = 1, 3


class Error(Exception):
    """The gateway answered with an error: a declared one, or 'internal error'."""


class Disconnected(Exception):
    """The connection could not be made or was lost."""


def text(message):
    """The message without the stack trace that Java puts behind it."""
    lines = [line for line in message.decode("utf-8", "replace").split("\n") if line]
    return " ".join(lines[:2] if lines and lines[0].endswith(":") else lines[:1])


class Client:
    """One connection; one call at a time."""

    def __init__(self, port, host="127.0.0.1", timeout_s=60):
        try:
            self.socket = socket.create_connection((host, port), timeout_s)
        except OSError as e:
            raise Disconnected(f"cannot connect to {host}:{port}: {e}") from e
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")
        self.sequence = 0

    def close(self):
        self.input.close()
        self.socket.close()

    # The calls.

    def namespaces(self):
        """Answered only once the master has finished starting."""
        return self._call("listNamespaces", {})

    def table_names(self):
        found = self._call("getTableNamesByPattern", {1: (STRING, b".*"), 2: (BOOL, False)})
        return [(t[1] + b":" if t.get(1, b"default") != b"default" else b"") + t[2] for t in found]

    def table_exists(self, table):
        return self._call("tableExists", {1: (STRUCT, _table_name(table))})

    def table_available(self, table):
        return self._call("isTableAvailable", {1: (STRUCT, _table_name(table))})

    def families(self, table):
        return [f[1] for f in self._call("getTableDescriptor", {1: (STRUCT, _table_name(table))})[2]]

    def create_table(self, table, families, splits=()):
        columns = [
            {1: (STRING, f), 5: (I32, BLOOM_ROW), 8: (I32, ENCODING_DIFF), 10: (I32, 1)} for f in families
        ]
        descriptor = {1: (STRUCT, _table_name(table)), 2: (LIST, (STRUCT, columns))}
        self._call("createTable", {1: (STRUCT, descriptor), 2: (LIST, (STRING, list(splits)))})

    def create_namespace(self, name):
        """If it is not there."""
        if name not in [space[1] for space in self.namespaces_described()]:
            self._call("createNamespace", {1: (STRUCT, {1: (STRING, name)})})

    def namespaces_described(self):
        return self._call("listNamespaceDescriptors", {})

    def drop_table(self, table):
        name = {1: (STRUCT, _table_name(table))}
        if self._call("isTableEnabled", name):
            self._call("disableTable", name)
        self._call("deleteTable", name)

    def start_keys(self, table):
        return [r[2].get(3, b"") for r in self._call("getAllRegionLocations", {1: (STRING, table)})]

    def put(self, table, rows):
        """rows: list of (row, [(family, qualifier, value, timestamp or None)])."""
        puts = []
        for row, cells in rows:
            values = [
                {1: (STRING, f), 2: (STRING, q), 3: (STRING, v), **({4: (I64, t)} if t is not None else {})}
                for f, q, v, t in cells
            ]
            puts.append({1: (STRING, row), 2: (LIST, (STRUCT, values))})
        self._call("putMultiple", {1: (STRING, table), 2: (LIST, (STRUCT, puts))})

    def scan(self, table, batch=500):
        """Yields (row, family, qualifier, value, timestamp) in the table's order."""
        scan = {4: (I32, batch), 12: (BOOL, False)}
        scanner = self._call("openScanner", {1: (STRING, table), 2: (STRUCT, scan)})
        try:
            while rows := self._call("getScannerRows", {1: (I32, scanner), 2: (I32, batch)}):
                for row in rows:
                    for cell in row[2]:
                        yield row[1], cell[1], cell[2], cell[3], cell[4]
        except GeneratorExit:
            self._call("closeScanner", {1: (I32, scanner)})
            raise

    # The wire.

    def _call(self, method, arguments):
        self.sequence += 1
        name = method.encode()
        out = [struct.pack(">II", 0x80010000 | CALL, len(name)), name, struct.pack(">i", self.sequence)]
        _write_struct(out, arguments)
        try:
            self.socket.sendall(b"".join(out))
            version, length = struct.unpack(">II", self._read(8))
            self._read(length)
            self._read(4)
            result = self._read_value(STRUCT)
        except (OSError, EOFError) as e:
            raise Disconnected(f"{method}: connection lost: {e}") from e
        if version & 0xFF == EXCEPTION:
            raise Error(f"{method}: {text(result.get(1, b''))} (see the gateway's log)")
        for field, value in result.items():
            if field != 0:
                raise Error(f"{method}: {text(value.get(1, b''))}")
        return result.get(0)

    def _read(self, n):
        data = self.input.read(n)
        if len(data) < n:
            raise EOFError("the gateway closed it")
        return data

    def _read_value(self, kind):
        if kind == STRING:
            return self._read(*struct.unpack(">i", self._read(4)))
        if kind == STRUCT:
            fields = {}
            while (kind := self._read(1)[0]) != STOP:
                (field,) = struct.unpack(">h", self._read(2))
                fields[field] = self._read_value(kind)
            return fields
        if kind in (LIST, SET):
            kind, n = struct.unpack(">bi", self._read(5))
            return [self._read_value(kind) for _ in range(n)]
        if kind == MAP:
            key_kind, value_kind, n = struct.unpack(">bbi", self._read(6))
            return {self._read_value(key_kind): self._read_value(value_kind) for _ in range(n)}
        form = {BOOL: ">?", BYTE: ">b", I16: ">h", I32: ">i", I64: ">q"}[kind]
        return struct.unpack(form, self._read(struct.calcsize(form)))[0]


def _table_name(table):
    namespace, _, qualifier = table.rpartition(b":")
    return {2: (STRING, qualifier), **({1: (STRING, namespace)} if namespace else {})}


def _write_struct(out, fields):
    for field, (kind, value) in fields.items():
        out.append(struct.pack(">bh", kind, field))
        _write_value(out, kind, value)
    out.append(b"\0")


def _write_value(out, kind, value):
    if kind == STRING:
        out.append(struct.pack(">i", len(value)))
        out.append(value)
    elif kind == STRUCT:
        _write_struct(out, value)
    elif kind == LIST:
        element, items = value
        out.append(struct.pack(">bi", element, len(items)))
        for item in items:
            _write_value(out, element, item)
    else:
        out.append(struct.pack({BOOL: ">?", I32: ">i", I64: ">q"}[kind], value))
