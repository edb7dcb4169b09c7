#!/usr/bin/env python3
"""docs/security.md has a test for each threat, the tests that it names exist, and nothing in the sources starts a program.

    security_doc.py               checks
    security_doc.py --self-test   checks the check

The last line reads "N passed, N failed".
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
import proofs  # noqa: E402
from checks import judged  # noqa: E402

HEAD = "## Threats"
ROOMS = ("compaction", "http", "query", "storage", "tsd", "uid")
# The functions of C, POSIX and Linux by which a process starts, or becomes, another program.
# A clone() without arguments is a method of an object.
STARTS = re.compile(r"\b(system|popen|exec[lv][pe]?e?|fexecve|execveat|posix_spawnp?|v?fork|dlopen)\s*\(|\bclone3?\s*\((?!\))"
                    r"|boost/process")
THREATS_MIN = 15


def threats(text):
    """Returns (threat, answer, proof) for each row of the table."""
    for line in text[text.index(HEAD):].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 3 and cells[0] != "threat" and not set(cells[0]) <= set("- |"):
            yield cells


def errors_of(text, root):
    rows = list(threats(text))
    if len(rows) < THREATS_MIN:
        yield f"{len(rows)} threats were found"
    for threat, answer, proof in rows:
        if not answer:
            yield f"{threat}: nothing answers it"
        if not proofs.named(proof):
            yield f"{threat}: names no test"
        for what in proofs.missing(proof, root):
            yield f"{threat}: {what}"


def the_sources_start_no_other_program(sources):
    """Proves `the sources start no other program`: takes {path: text} and returns a sentence for each call found."""
    for path, text in sources.items():
        for number, line in enumerate(text.splitlines(), 1):
            if STARTS.search(line.split("//")[0]):
                yield f"{path}:{number}: {line.strip()}"


def sources():
    return {path.relative_to(ROOT): path.read_text() for room in ROOMS for ending in ("*.cc", "*.h")
            for path in (ROOT / room).rglob(ending)}


def self_test():
    here = "tests/http/security_doc.py"
    row = f"| a threat | an answer | `{here}: self_test` |\n"

    def errors(line):
        return len(list(errors_of(HEAD + "\n" + row * THREATS_MIN + line, ROOT)))

    def starts(line):
        return len(list(the_sources_start_no_other_program({"x.cc": line})))

    checks = {
        "a whole table passes": errors("") == 0,
        "too few threats are found": len(list(errors_of(HEAD + "\n" + row, ROOT))) == 1,
        "a missing case is found": errors(f"| t | a | `{here}: no {'such'} case` |") == 1,
        "words that are no case are not enough": errors(f"| t | a | `{here}: words that are no case` |") == 1,
        "a function is a case": errors(f"| t | a | `{here}: the sources start no other program` |") == 0,
        "a missing file is found": errors("| t | a | `tests/none.cc: x` |") == 1,
        "a threat without a test is found": errors("| t | a | – |") == 1,
        "a program that is started is found": all(starts(call) == 1 for call in (
            "  popen(\"ls\", \"r\");", "::execvp(a, b);", "if (fork() == 0)", "clone(run, stack, 0, nullptr);", "std::system(x);",
            "#include <boost/process.hpp>")),
        "a word in a remark is none": starts("// the system(1) of old") == 0 and starts("file_system(x);") == 0,
    }
    return judged(checks)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    text = (ROOT / "docs/security.md").read_text()
    errors = [*errors_of(text, ROOT), *the_sources_start_no_other_program(sources())]
    for error in errors:
        print("FAIL " + error)
    print(f"{len(list(threats(text)))} passed, {len(errors)} failed")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
