"""Reading the fenced blocks of the pages, and comparing answers in which "…" stands for anything."""
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPEN = "…"  # any text, any value, more members, more elements
FENCE = re.compile(r"^```([a-z]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """Returns (language, contents, line) for each fenced block."""
    for found in FENCE.finditer(text):
        yield found[1], found[2], text.count("\n", 0, found.start()) + 1


def agree(got, shown):
    """Whether an answer matches what a page shows; numbers are compared by value."""
    if shown == OPEN:
        return True
    if isinstance(shown, dict):
        rest = OPEN in shown
        shown = {key: value for key, value in shown.items() if key != OPEN}
        return (isinstance(got, dict) and (rest or got.keys() == shown.keys())
                and all(key in got and agree(got[key], value) for key, value in shown.items()))
    if isinstance(shown, list):
        rest = shown[-1:] == [OPEN]
        shown = shown[:-1] if rest else shown
        return (isinstance(got, list) and (len(got) >= len(shown) if rest else len(got) == len(shown))
                and all(agree(*pair) for pair in zip(got, shown)))
    if isinstance(shown, str):
        return isinstance(got, str) and agree_text(got, shown)
    return got == shown and isinstance(got, bool) == isinstance(shown, bool)


def agree_text(got, shown):
    pattern = ".*".join(re.escape(part) for part in shown.strip().split(OPEN))
    return re.fullmatch(pattern, got.strip(), re.DOTALL) is not None


def agree_body(got, shown):
    """Compares JSON by value and other text byte by byte, except for white space at its ends."""
    try:
        return agree(json.loads(got), json.loads(shown))
    except ValueError:
        return agree_text(got, shown)
