"""Reads a body of InfluxDB's line protocol by the rules of docs/ingestion.md. Strict: text that it cannot read fails the
trial."""
import re

import names

UNITS_NS = {"n": 1, "ns": 1, "u": 10 ** 3, "us": 10 ** 3, "ms": 10 ** 6, "s": 10 ** 9, "m": 60 * 10 ** 9, "h": 3600 * 10 ** 9}
FLAGS = {**dict.fromkeys(("t", "T", "true", "True", "TRUE"), 1), **dict.fromkeys(("f", "F", "false", "False", "FALSE"), 0)}


def points(body, precision):
    """Returns (key, value) of each number, in order; text fields are left out. Every line must have a time."""
    for line in body.decode().split("\n"):
        if line.strip() and not line.startswith("#"):
            yield from points_of_line(line, UNITS_NS[precision])


def points_of_line(line, unit_ns):
    head, rest = cut(line, " ", once=True)
    fields, at = cut(rest, " ", quotes=True)
    measurement, *pairs = cut(head, ",")
    tags = dict(plain(cut(pair, "=")) for pair in pairs)
    for field in cut(fields, ",", quotes=True):
        name, value = cut(field, "=", once=True)
        if value.startswith('"'):
            continue
        metric = plain_name(measurement) + ("" if name == "value" else "." + plain_name(name))
        yield names.key(metric, tags, int(at) * unit_ns // 10 ** 6), number(value)


def number(text):
    if text in FLAGS:
        return FLAGS[text]
    return int(text[:-1]) if text[-1] in "iu" else float(text)


def plain(pair):
    name, value = pair
    return plain_name(name), plain_name(value)


def plain_name(text):
    return re.sub(r"\\([,= ])", r"\1", text)


def cut(text, at, quotes=False, once=False):
    """Splits the text at characters that are not escaped by a backslash and, if `quotes` is set, not inside quotes."""
    pieces, quoted, i = [""], False, 0
    while i < len(text):
        c = text[i]
        if c == "\\" and i + 1 < len(text):
            pieces[-1] += text[i:i + 2]
            i += 2
            continue
        quoted ^= quotes and c == '"'
        if c == at and not quoted and not (once and len(pieces) > 1):
            pieces.append("")
        else:
            pieces[-1] += c
        i += 1
    return pieces
