#!/usr/bin/env python3
"""Executes the commands in the table "What can be used" of docs/store.md, in order, on one data directory.

    store_doc.py build/release/tsdb
    store_doc.py --self-test

A row: | mechanism | state | command or reason |. A row with the state "usable" has exactly one command in backquotes, which must succeed. A row
with another state has a reason. The last line reads "N passed, N failed".
"""
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
from checks import Checks, judged  # noqa: E402

STATES = ("usable", "internal", "differs", "not built")
HEADER = "| mechanism of HBase | state in Hourglass | command that uses the mechanism, or reason |"
COMMAND = re.compile(r"^`(tsdb [^`]+)`$")


def rows(text):
    """Yields (mechanism, state, how) for each row of the table."""
    for line in text.partition(HEADER)[2].splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3:
            return
        yield cells


def errors_of(text):
    """Returns what is wrong with the table, without executing anything."""
    errors, seen = [], set()
    for mechanism, state, how in rows(text):
        seen.add(state)
        if state not in STATES:
            errors.append(f"{mechanism}: the state {state!r} is none of {STATES}")
        if (COMMAND.match(how) is not None) != (state == "usable"):
            errors.append(f"{mechanism}: {state!r} with {how!r}: a usable row has one command, others have a reason")
        if not how:
            errors.append(f"{mechanism}: has no reason")
    errors += [f"no row is {state!r}" for state in STATES if state not in seen]
    return errors


def self_test():
    good = ["| a | usable | `tsdb x` |", "| b | internal | why |", "| c | differs | why |", "| d | not built | why |"]

    def errors(*lines):
        return len(errors_of("\n".join([HEADER, "| --- | --- | --- |", *lines])))

    return judged({
        "a whole table passes": errors(*good) == 0,
        "a state without rows is found": errors(*good[:3]) == 1,
        "an unknown state is found": errors(*good, "| e | perhaps | why |") == 1,
        "a usable row needs a command": errors(*good, "| e | usable | see above |") == 1,
        "a reason is needed": errors(*good, "| e | differs | |") == 1,
        "a missing table is found": len(errors_of("")) == 4,
    })


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    tsdb = Path(sys.argv[1]).resolve()
    text = (ROOT / "docs/store.md").read_text()
    check = Checks()
    check.nothing(errors_of(text))
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "tsd.conf"
        config.write_text(f"tsd.storage.path = {folder}/data\n")
        # OpenTSDB's tables exist once a command has opened the store for writing.
        subprocess.run([tsdb, "mkmetric", f"--config={config}", "m"], cwd=folder, capture_output=True, timeout=60)
        for mechanism, state, how in rows(text):
            command = COMMAND.match(how)
            if state != "usable" or command is None:
                continue
            words = shlex.split(command[1])
            ran = subprocess.run([tsdb, words[1], f"--config={config}", *words[2:]], cwd=folder, capture_output=True, text=True,
                                 stdin=subprocess.DEVNULL, timeout=120)
            check(f"{mechanism}: {command[1]}: exit status, with {ran.stderr!r}", ran.returncode, 0)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
