#!/usr/bin/env python3
"""Every reference in the repository leads to a heading of a page, or to a numbered row of a page in docs/internals.

    references.py               checks all tracked files
    references.py --self-test   checks the check: planted references that lead nowhere are found

The forms of a reference are listed in docs/internals/README.md. A reference may go on in the next line of its comment. Outside
of docs/internals a § that follows neither the name of a page nor an RFC is a failure, too. The last line reads
"N passed, N failed".
"""
import posixpath
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
from checks import judged  # noqa: E402

PAGES = "docs/internals/"
QUIRKS = "opentsdb-queries.md"
# Recordings and inputs of fuzzers are data, not text of the project.
DATA = ("tests/compat/conformance/", "tests/fuzz/corpus/")

HEADING = re.compile(r"^#+ (?:([0-9]+(?:\.[0-9]+)*|[A-Z])\.? )?", re.MULTILINE)
NUMBERED_ROW = re.compile(r"^\| \**([A-Z][0-9]+)\b", re.MULTILINE)
# Joins the end of a line with the beginning of the next one in a comment, a quotation or a string.
LINE_END = re.compile(r"[ \t]*\n[ \t]*(?:(?://+|#+|\*|>|--|\|)[ \t]+)?")
SECTION = r"§(?:[0-9]+(?:\.[0-9]+)*|[A-Z]\b)(?:[–-]§?[0-9]+(?:\.[0-9]+)*)?"
ROW = r"[A-Z][0-9]{1,2}\b(?:(?:–| to )[A-Z][0-9]{1,2}\b)?"
BETWEEN = r"(?:,? and |, | to | or |,? )"
NAME = re.compile(r"(?<![\w.-])(?P<folder>[\w./-]*/)?(?P<page>[a-z]+(?:-[a-z]+)*\.md)\b")
TARGETS = re.compile(rf"[`'\")]*,? (?P<targets>(?:{SECTION}|{ROW})(?:{BETWEEN}(?:{SECTION}|{ROW}))*)")
# A heading named by its words: FORMAT.md "Log", or `storage/lsm/FORMAT.md`, *Log*.
NAMED = re.compile(r"(?<![\w./-])(?P<path>[\w./-]+\.md)`?,? (?:\"(?P<quoted>[A-Z][^\"]*)\"|\*(?P<starred>[A-Z][^*]*)\*)")
QUIRK = re.compile(r"\b[Qq]uirks? (Q[0-9]+(?:(?:, | and |–)Q[0-9]+)*)")
RFC = re.compile(r"\bRFC [0-9]+,? §")
# Pages that are not in the repository; what follows their names is not checked.
GONE = re.compile(r"\b[Ss]pec [a-z-]+\.md|\b(?:engi" r"ne|desi" r"gn)\.md|\.\./sha" r"red\b")


class Page:
    def __init__(self, text):
        self.sections = {found[1] for found in HEADING.finditer(text) if found[1]}
        self.rows = set(NUMBERED_ROW.findall(text))


def has_heading(text, words):
    """Whether a heading, or the bold beginning of a paragraph or of a list item, begins with the words."""
    return re.search(rf"^(?:#+ |(?:[-*] )?\*\*){re.escape(words)}(?!\w)", text, re.MULTILINE) is not None


def numbers(targets):
    """The sections ("9.4") and rows ("R16") in a list of targets; for a range its two ends, for rows each one."""
    for section in re.findall(SECTION, targets):
        for end in re.split("[–-]", section.replace("§", "")):
            yield "sections", end
    for row in re.findall(ROW, re.sub(SECTION, "", targets)):
        ends = re.split("–| to ", row)
        for number in range(int(ends[0][1:]), int(ends[-1][1:]) + 1):
            yield "rows", ends[0][0] + str(number)


def joined(text):
    """The text with its lines joined, and the line number of each character."""
    parts, lines, at, line = [], [], 0, 1
    for end in LINE_END.finditer(text):
        parts.append(text[at:end.start()] + " ")
        lines += [line] * len(parts[-1])
        at, line = end.end(), line + 1
    parts.append(text[at:])
    return "".join(parts), lines + [line] * (len(text) - at + 1)


def check(name, text, pages, markdown):
    """Returns (number of correct references, faults) of one file. markdown: {path: text} of all pages of the repository."""
    good, faults, followed = 0, [], set()
    flat, lines = joined(text)

    def wrong(at, what):
        faults.append(f"{name}:{lines[at]}: {what}")

    for found in GONE.finditer(flat):
        wrong(found.start(), f"{found[0]} is no page of the repository")
    for found in NAME.finditer(flat):
        page = pages.get(found["page"])
        listed = TARGETS.match(flat, found.end())
        if page is None or (found["folder"] and not (PAGES + found["page"]).endswith(found["folder"] + found["page"])):
            if page is None and (found["folder"] or "").endswith("internals/"):
                wrong(found.start(), f"there is no {found[0]}")
            continue
        if not listed:
            good += 1
            continue
        followed.update(range(listed.start("targets"), listed.end()))
        for kind, target in numbers(listed["targets"]):
            if target in getattr(page, kind):
                good += 1
            else:
                wrong(listed.start("targets"), f"{found['page']} has no {'§' if kind == 'sections' else 'row '}{target}")
    for found in NAMED.finditer(flat):
        words = found["quoted"] or found["starred"]
        places = {posixpath.normpath(folder / found["path"]) for folder in Path(name).parents} & markdown.keys()
        if any(has_heading(markdown[place], words) for place in places):
            good += 1
        else:
            wrong(found.start(), f"{found['path']} has no heading \"{words}\"")
    for found in QUIRK.finditer(flat):
        for _, target in numbers(found[1].replace("–", " to ")):
            if target in pages[QUIRKS].rows:
                good += 1
            else:
                wrong(found.start(), f"{QUIRKS} has no row {target}")
    of_rfc = {found.end() - 1 for found in RFC.finditer(flat)}
    here = pages.get(name.removeprefix(PAGES)) if name.startswith(PAGES) else None
    for found in re.finditer(f"{SECTION}|§", flat):
        if found.start() in followed or found.start() in of_rfc:
            continue
        if here is None:
            wrong(found.start(), f"{found[0]} follows no name of a page")
            continue
        for _, target in numbers(found[0]):
            if target in here.sections:
                good += 1
            else:
                wrong(found.start(), f"this page has no §{target}")
    return good, faults


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, text=True)
    names = listed.stdout.split("\0") if not listed.returncode else [str(each.relative_to(root)) for each in root.rglob("*")]

    def is_data(name):
        return name.startswith(DATA) and not name.endswith((".md", ".py"))

    return sorted(name for name in names if name and not is_data(name) and (root / name).is_file())


def check_all(root):
    pages = {each.name: Page(each.read_text()) for each in (root / PAGES).glob("*.md") if each.name != "README.md"}
    names = tracked(root)
    markdown = {name: (root / name).read_text() for name in names if name.endswith(".md")}
    good, faults = 0, []
    for name in names:
        try:
            text = (root / name).read_text()
        except UnicodeDecodeError:
            continue
        # The examples of references in this program and in the page about them intentionally lead nowhere.
        if name in (PAGES + "README.md", "tests/docs/references.py"):
            continue
        right, wrong = check(name, text, pages, markdown)
        good, faults = good + right, faults + wrong
    return good, faults


def self_test():
    page = "# Title\n\n## 9. Nine\n\n### 9.4 Four\n\n### 9.5 Five\n\n## B. Text\n\nSee §9.4.\n\n| ID | x |\n| --- | --- |\n"
    page += "".join(f"| R{number} thing | y |\n" for number in range(9, 14)) + "| **Q5** | y |\n"
    right = {
        "a section": ("// (opentsdb-queries.md §9.4).\n", 1), "a section in the next line": ("/// opentsdb-queries.md\n  /// §9.4.\n", 1),
        "sections": ("# opentsdb-queries.md §9, §9.4 and §B; RFC 4648 §4.\n", 3), "a range": ("opentsdb-queries.md §9.4–9.5\n", 2),
        "rows": ("`opentsdb-queries.md` R9, R11–R13 and R10 to R12", 7), "a quirk": ("// (quirk\n// Q5)", 1),
        "a heading": ('// docs/internals/opentsdb-queries.md\n// "Title".', 2), "a page": ("docs/internals/opentsdb-queries.md", 1), "another page of that name": ("other/opentsdb-queries.md", 0),
        "an unknown page that is none of ours": ("README.md §", None),
    }
    dangling = {
        "a section": "// (opentsdb-queries.md §9.6).\n", "a part of a number": "opentsdb-queries.md §9.40", "an appendix": "opentsdb-queries.md §C",
        "the end of a range": "opentsdb-queries.md §9.4–9.7", "a second section": "opentsdb-queries.md §9 and\n// §10",
        "a row": "opentsdb-queries.md R14", "a row in a range": "opentsdb-queries.md R8–R10", "a quirk": "quirk Q6",
        "a heading": '(docs/internals/opentsdb-queries.md, "Tit")', "a heading of no page": '(FORMAT.md "Row")',
        "a bare section": "// As §9.4 says.", "a page": "docs/internals/none.md", "a page outside": "../sha" "red/x", "an old name": "spe" "c query.md",
    }
    checks = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / PAGES).mkdir(parents=True)
        (root / PAGES / QUIRKS).write_text(page)

        def of(text):
            (root / "code.h").write_text(text)
            return check_all(root)

        for what, (text, count) in right.items():
            good, faults = of(text)
            if count is None:
                checks[f"{what} is found"] = len(faults) == 1
            else:
                checks[f"{what} is followed"] = (good, faults) == (count + 1, [])  # 1: the page's own
        for what, text in dangling.items():
            checks[f"{what} that is not there is found"] = len(of(text)[1]) == 1
        checks["the line is told"] = of("\n\n// opentsdb-queries.md\n// §8\n")[1] == ["code.h:4: opentsdb-queries.md has no §8"]
        (root / PAGES / QUIRKS).write_text(page + "\nSee §9.9.\n")
        checks["a page's own section that is not there is found"] = len(of("")[1]) == 1
    return judged(checks)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    good, faults = check_all(ROOT)
    if not good:
        faults.append("no reference was found")
    for each in faults:
        print("FAIL " + each)
    print(f"{good} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
