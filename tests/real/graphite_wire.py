"""Reads what a client sent to one of Graphite's ports, by the rules of docs/languages.md. Strict: what it cannot read is an
error of the trial."""
import io
import math
import pickle
import struct

import names


def points_of_lines(sent):
    """(key, value) of each line that has its end, in their order; NaN is refused."""
    for line in bytes(sent).split(b"\n")[:-1]:
        path, value, at = line.decode().split()
        yield key(path, float(at)), int(value) if value.lstrip("-").isdigit() else float(value)


def points_of_pickles(sent):
    """The same of whole frames."""
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
    # Thousandths are not exact in a double: what is a hair below one is meant as it.
    return names.key(metric, dict(tag.split("=", 1) for tag in tags), math.floor(seconds * 1000 + 0.001))


def numbers(pairs):
    """{key: value} without NaN, of several for one key the last; and how many NaN there were."""
    pairs = list(pairs)
    kept = {key: value for key, value in pairs if not math.isnan(value)}
    return kept, sum(math.isnan(value) for _, value in pairs)
