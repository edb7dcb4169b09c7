#!/usr/bin/env python3
"""docs/internals/store.md has a row for each mechanism of the region store, and every test that it names exists.

    store_doc.py               checks the document
    store_doc.py --self-test   checks the check

A row: | ID · what | state | how | proof |. The proof of what is built names tests: `tests/FILE: CASE` (the words of the
case, or the function of a contract), or `tests/FILE` for a script. The last line reads "N passed, N failed".
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import proofs as proofs_of  # noqa: E402
from checks import judged  # noqa: E402

DOCUMENT = "docs/internals/store.md"
# The letters and last numbers of the rows in region-store.md §2 to §10.
SECTIONS = {"D": 24, "W": 19, "F": 8, "R": 22, "C": 9, "Q": 24, "A": 9, "X": 10, "O": 9, "S": 8}
IDS = [f"{letter}{number}" for letter, last in SECTIONS.items() for number in range(1, last + 1)]
BUILT = {"built", "part"}           # rows with these states need a proof
UNBUILT = {"not built", "rule", "skipped"}   # rows with these states need a reason
ROW = re.compile(r"^\| ([A-Z]\d+) · ([^|]+)\|([^|]*)\|([^|]*)\|([^|]*)\|$")


def rows(text):
    for line in text.splitlines():
        found = ROW.match(line)
        if found:
            yield [cell.strip() for cell in found.groups()]


def errors_of(text, root):
    errors, seen = [], []
    for name, what, state, how, proof in rows(text):
        seen.append(name)
        if state not in BUILT | UNBUILT:
            errors.append(f"{name}: the state {state!r} is none of {sorted(BUILT | UNBUILT)}")
        if not how:
            errors.append(f"{name}: says nothing")
        proofs = proofs_of.named(proof)
        if state in BUILT and not proofs:
            errors.append(f"{name}: names no test")
        if not proofs and proof not in ("", "–"):
            errors.append(f"{name}: {proof!r} names no test")
        errors += [f"{name}: {what}" for what in proofs_of.missing(proof, root)]
    errors += [f"{name}: has no row" for name in IDS if name not in seen]
    errors += [f"{name}: has {seen.count(name)} rows" for name in sorted(set(seen)) if seen.count(name) > 1]
    errors += [f"{name}: no such mechanism" for name in sorted(set(seen)) if name not in IDS]
    return errors


def self_test():
    here = "tests/storage/store_doc.py"
    whole = [f"| {name} · thing | rule | advice | – |" for name in IDS]

    def broken(line):
        return errors_of("\n".join([line] + whole[1:]), ROOT)

    checks = {
        "a whole document passes": not errors_of("\n".join(whole), ROOT),
        "a missing row is found": len(errors_of("\n".join(whole[:-1]), ROOT)) == 1,
        "a doubled row is found": len(errors_of("\n".join(whole + whole[:1]), ROOT)) == 1,
        "an unknown row is found": len(errors_of("\n".join(whole + ["| Z1 · x | rule | y | – |"]), ROOT)) == 1,
        "an existing case passes": not broken(f"| D1 · x | built | y | `{here}: errors_of` |"),
        "a script passes": not broken(f"| D1 · x | built | y | `{here}` |"),
        "a case that is not there is found": len(broken(f"| D1 · x | built | y | `{here}: no {'such'} case` |")) == 1,
        "a file that is not there is found": len(broken("| D1 · x | built | y | `tests/none.cc: x` |")) == 1,
        "what is built needs a proof": len(broken("| D1 · x | built | y | – |")) == 1,
        "an unknown state is found": len(broken("| D1 · x | perhaps | y | – |")) == 1,
        "a rule needs its advice": len(broken("| D1 · x | rule |  | – |")) == 1,
    }
    return judged(checks)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    errors = errors_of((ROOT / DOCUMENT).read_text(), ROOT)
    for error in errors:
        print("FAIL " + error)
    print(f"{len(IDS) - len({error.split(':')[0] for error in errors} & set(IDS))} passed, {len(errors)} failed")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
