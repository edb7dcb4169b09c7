#!/usr/bin/env python3
"""docs/limits.md says what the sources say: each setting is known and has that default, each fixed number stands where the
table names it. The last line reads "N passed, N failed"."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETTING = re.compile(r"`(tsd\.[a-zA-Z_.]+)`")


def rows(text):
    """Returns (limit, default, setting, "kept in") of each row of each table."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 5 and not set(cells[0]) <= set("-") and cells[0] != "limit":
            yield cells[0], cells[1], cells[2], cells[4].strip("`")


def defaults():
    source = (ROOT / "tsd/known_settings.cc").read_text()
    return dict(re.findall(r'\{"(tsd\.[^"]+)",\s*"([^"]*)"[,}]', source))


def constant(place):
    """The value of the constant that `FILE NAME` refers to."""
    path, name = place.split()
    found = re.search(rf"\b{name} = ([^;]+);", (ROOT / path).read_text())
    if not found:
        raise ValueError(f"{path} has no {name}")
    expression = re.sub(r"[a-z_0-9]+\{(\d+)\}", r"\1", found[1]).replace("'", "")
    if not re.fullmatch(r"[0-9 *<()+-]+", expression):
        raise ValueError(f"{name} is not a plain number: {expression}")
    return eval(expression)  # the expression contains only digits and operators


def number(cell):
    """The number with which a cell begins, or None."""
    found = re.match(r"\d+", cell)
    return int(found[0]) if found else None


def fault(limit, default, setting, place, known):
    """What is wrong with a row; empty if nothing is."""
    key = SETTING.fullmatch(setting)
    if key:
        if key[1] not in known:
            return f"there is no setting {key[1]}"
        value = known[key[1]]
        told = {"none": "0"}.get(default, str(number(default)) if number(default) is not None else "")
        return "" if value == told else f"{key[1]} is {value!r}"
    if setting != "fixed":
        return f"neither a setting nor fixed: {setting}"
    value = constant(place)
    return "" if number(default) == value else f"{place} is {value}"


def main():
    known = defaults()
    passed = failed = 0
    for row in rows((ROOT / "docs/limits.md").read_text()):
        try:
            wrong = fault(*row, known)
        except (OSError, ValueError) as error:
            wrong = str(error)
        if wrong:
            print(f"FAIL {row[0]}, {row[1]}: {wrong}")
        passed, failed = passed + (not wrong), failed + bool(wrong)
    # A test of this check: a wrong default and a missing setting are noticed.
    canaries = [("x", "9", "`tsd.storage.max_tags`", ""), ("x", "1", "`tsd.no.such`", ""),
                ("x", "4097", "fixed", "http/wire/request_head.h kRequestLineBytesMax")]
    for canary in canaries:
        passed, failed = passed + bool(fault(*canary, known)), failed + (not fault(*canary, known))
    if passed < 20:
        print("FAIL the tables were not found")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
