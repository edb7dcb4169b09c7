"""Rules of docs/languages.md that all languages but OpenTSDB's own share, told once more."""
import re

DEFAULT_TAG = {"source": "unknown"}  # of a point without any


def escaped(text):
    """A name or value as it is stored."""
    text = re.sub(r"_(?=x[0-9A-F]{4})", "\0", text)
    stays = lambda c: c in "-_./" or (c.isalnum() and c.isascii()) or (c.isalpha() and ord(c) < 256)
    escape = lambda c: f"_x{ord(c):04X}_" if ord(c) < 0x10000 else f"_x{ord(c):08X}_"
    return "".join("_x005F_" if c == "\0" else c if stays(c) else escape(c) for c in text)


def key(metric, tags, at_ms):
    """As trial.stored has it."""
    told = {escaped(name): escaped(value) for name, value in tags.items() if value}
    return escaped(metric), frozenset((told or DEFAULT_TAG).items()), at_ms
