#!/usr/bin/env python3
"""The recordings of OpenTSDB 2.4.1 and the programs that compare with them are as they were recorded.

    recordings.py               checks each file of conformance/ against conformance.sha256
    recordings.py --self-test   checks the check

conformance.sha256 has the form of sha256sum and lists every file but the README. A file that is changed, missing or not listed is
a failure. The last line reads "N passed, N failed".
"""
import hashlib
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.dont_write_bytecode = True
from checks import judged  # noqa: E402


def listed(text):
    """Returns {path: checksum}."""
    return {path: digest for digest, path in (line.split("  ", 1) for line in text.splitlines())}


def files(folder):
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    return names - {"README.md"}


def check(folder, sums):
    """Returns (number of correct files, faults)."""
    there = files(folder)
    faults = [f"{name} is missing" for name in sorted(sums.keys() - there)]
    faults += [f"{name} is not listed" for name in sorted(there - sums.keys())]
    changed = [name for name in sorted(there & sums.keys())
               if hashlib.sha256((folder / name).read_bytes()).hexdigest() != sums[name]]
    faults += [f"{name} is not as it was recorded" for name in changed]
    return len(there & sums.keys()) - len(changed), faults


def self_test():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "suites").mkdir()
        (folder / "README.md").write_text("Not a recording.")
        (folder / "suites/a.json").write_text("abc")
        sums = listed("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  suites/a.json\n")
        checks = {"a recording passes": check(folder, sums) == (1, [])}
        (folder / "suites/b.json").write_text("")
        checks["a file that is not listed is found"] = check(folder, sums) == (1, ["suites/b.json is not listed"])
        (folder / "suites/b.json").unlink()
        (folder / "suites/a.json").write_text("abd")
        checks["a changed file is found"] = check(folder, sums) == (0, ["suites/a.json is not as it was recorded"])
        (folder / "suites/a.json").unlink()
        checks["a missing file is found"] = check(folder, sums) == (0, ["suites/a.json is missing"])
    return judged(checks)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    good, faults = check(HERE / "conformance", listed((HERE / "conformance.sha256").read_text()))
    if not good:
        faults.append("no recording was found")
    for each in faults:
        print("FAIL " + each)
    print(f"{good} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
