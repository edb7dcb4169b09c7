#!/usr/bin/env python3
"""Checks that files exist that are named in comments of sources, in Markdown, and in a README's table of files.

    references.py --root CHECKOUT      checks the project
    references.py --self-test          checks the check

A path is words with / between them that end in .h, .cc or .md: from the root, from the text's folder, or from one above it.
A table of files is one in a README.md whose column is headed "file", "files", "header" or not at all: in it the words in
backticks are files (without their endings, * for any rest) or folders of the README's folder. The last line reads
"N passed, N failed".
"""
import argparse
import fnmatch
import posixpath
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PATH = re.compile(r"(?<![\w./:<>-])(?:[\w.-]+/)+[\w.-]+\.(?:h|cc|md)\b")
LISTED = re.compile(r"`([\w*./]+)`")
HEADINGS = ("", "file", "files", "header")


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else [str(path.relative_to(root)) for path in root.rglob("*")]
    return {name for name in names if (root / name).is_file()}


def comments(text):
    """Returns (line, text) of each comment; text after // in a string counts, too."""
    for number, line in enumerate(text.split("\n"), 1):
        if "//" in line:
            yield number, line[line.index("//"):]


def missing_paths(name, text, files):
    lines = enumerate(text.split("\n"), 1) if name.endswith(".md") else comments(text)
    for number, line in lines:
        for found in PATH.findall(line):
            if not any(posixpath.normpath(folder / found) in files for folder in Path(name).parents):
                yield f"{name}:{number}: {found}"


def cells(line):
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]


def missing_listed(name, text, known):
    heads = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("|"):
            heads = None
        elif heads is None:
            heads = cells(line)
            listing = [at for at, head in enumerate(heads) if head in HEADINGS and (head or at == 0)]
        else:
            for word in [word for at in listing for word in LISTED.findall(cells(line)[at])]:
                places = [posixpath.normpath(Path(name).parent / word), posixpath.normpath(word)]
                if not any(fnmatch.filter(known, place) for place in places):
                    yield f"{name}:{number}: {word}"


def missing(root):
    files = tracked(root)
    known = files | {posixpath.splitext(file)[0] for file in files} | {str(up) for file in files for up in Path(file).parents}
    wrong = []
    for name in sorted(files):
        if name.endswith((".h", ".cc", ".md")):
            text = (root / name).read_text(errors="replace")
            wrong += missing_paths(name, text, files)
            if name.endswith("README.md"):
                wrong += missing_listed(name, text, known)
    return wrong


def report(wrong, wanted=()):
    for line in wrong:
        if line not in wanted:
            print(f"FAIL there is no such file: {line}")
    for line in wanted:
        if line not in wrong:
            print(f"FAIL it was missed: {line}")
    failed = list(wrong) != list(wanted)
    print(f"{int(not failed)} passed, {int(failed)} failed")
    return int(failed)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in {
            "http/put.h": "// See http/put.cc, put/fast.h and http/put_fast.h.\n#include <sys/put.h>\n",
            "http/put.cc": "// wire/line.h; https://example.org/a/b.md\n",
            "http/wire/line.h": "",
            "http/README.md": "| file | what |\n| --- | --- |\n| `put*`, `wire/`, `line` | `anything` |\n\n"
                              "| step | files |\n| --- | --- |\n| `none` | `put`, `gone` |\n\nSee `../docs/put.md`, wire/line.h.\n",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return report(missing(root), ["http/README.md:9: ../docs/put.md", "http/README.md:3: line", "http/README.md:7: gone",
                                      "http/put.h:1: put/fast.h", "http/put.h:1: http/put_fast.h"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path)
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if not args.root:
        parser.error("--root is needed")
    return report(missing(args.root.resolve()))


if __name__ == "__main__":
    sys.exit(main())
