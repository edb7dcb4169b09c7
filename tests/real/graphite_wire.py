"""Reads what a client sent to one of Graphite's ports, by the rules of docs/ingestion.md. Strict: text that it cannot read
fails the trial."""
import io
import math
import pickle
import struct

import names


def points_of_lines(sent):
    """Returns (key, value) of each complete line, in order; NaN is left out, because the daemon refuses it."""
    for line in bytes(sent).split(b"\n")[:-1]:
        path, value, at = line.decode().split()
        yield key(path, float(at)), int(value) if value.lstrip("-").isdigit() else float(value)


def points_of_pickles(sent):
    """Returns (key, value) of each complete frame of pickles, in order."""
    sent, at = bytes(sent), 0
    while at + 4 <= len(sent):
        size, = struct.unpack(">L", sent[at:at + 4])
        frame, at = sent[at + 4:at + 4 + size], at + 4 + size
        if len(frame) < size:
            return
        for path, (when, value) in Plain(io.BytesIO(frame)).load():
            yield key(path, when), value


class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name} has nothing to do here")


def key(path, seconds):
    metric, *tags = path.split(";")
    # A double does not represent thousandths exactly: a time just below a millisecond is rounded to it.
    return names.key(metric, dict(tag.split("=", 1) for tag in tags), math.floor(seconds * 1000 + 0.001))


def numbers(pairs):
    """Returns {key: value} without NaN (the last value of each key), and the number of NaN values."""
    pairs = list(pairs)
    kept = {key: value for key, value in pairs if not math.isnan(value)}
    return kept, sum(math.isnan(value) for _, value in pairs)
