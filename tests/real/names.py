"""A second implementation of those rules of docs/ingestion.md that all protocols except OpenTSDB's share."""
import re

DEFAULT_TAG = {"source": "unknown"}  # the tag of a point that has no tags


def escaped(text):
    """A name or value in the form in which it is stored."""
    text = re.sub(r"_(?=x[0-9A-F]{4})", "\0", text)
    stays = lambda c: c in "-_./" or (c.isalnum() and c.isascii()) or (c.isalpha() and ord(c) < 256)
    escape = lambda c: f"_x{ord(c):04X}_" if ord(c) < 0x10000 else f"_x{ord(c):08X}_"
    return "".join("_x005F_" if c == "\0" else c if stays(c) else escape(c) for c in text)


def key(metric, tags, at_ms):
    """The key of a point in the form that trial.stored uses."""
    told = {escaped(name): escaped(value) for name, value in tags.items() if value}
    return escaped(metric), frozenset((told or DEFAULT_TAG).items()), at_ms
