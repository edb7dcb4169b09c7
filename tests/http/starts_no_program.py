#!/usr/bin/env python3
"""Checks that no source of the daemon and its tools starts another program. The last line reads "N passed, N failed"."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
from checks import Checks  # noqa: E402

FOLDERS = ("compaction", "http", "query", "storage", "tsd", "uid")
# The functions of C, POSIX and Linux by which a process starts, or becomes, another program.
# A clone() without arguments is a method of an object.
STARTS = re.compile(r"\b(system|popen|exec[lv][pe]?e?|fexecve|execveat|posix_spawnp?|v?fork|dlopen)\s*\(|\bclone3?\s*\((?!\))"
                    r"|boost/process")


def starts(line):
    return STARTS.search(line.split("//")[0]) is not None


def main():
    check = Checks()
    for call in ("  popen(\"ls\", \"r\");", "::execvp(a, b);", "if (fork() == 0)", "clone(run, stack, 0, nullptr);", "std::system(x);",
                 "#include <boost/process.hpp>"):
        check(f"{call} is found", starts(call), True)
    for line in ("// the system(1) of old", "file_system(x);", "options.clone()"):
        check(f"{line} starts no program", starts(line), False)
    for folder in FOLDERS:
        sources = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".cc", ".h")]
        check.must(sources, f"{folder} has no sources")
        check.nothing([f"{path.relative_to(ROOT)}:{number}: {line.strip()}" for path in sources
                       for number, line in enumerate(path.read_text().splitlines(), 1) if starts(line)])
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
