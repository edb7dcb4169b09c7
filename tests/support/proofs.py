"""Tests that a document names as proofs, `tests/FILE: CASE` or `tests/FILE`. CASE is how a TEST_CASE begins, or a function that is
defined there, by its name or the words of it: "a daemon stops" is a_daemon_stops."""
import re

PROOF = re.compile(r"`(tests/[^`:]+)(?:: ([^`]+))?`")


def named(text):
    """Returns [(file, name of the case or "")] for the proofs that a text names."""
    return PROOF.findall(text)


def words_of(path):
    """The file's text, in which string literals of several pieces are joined."""
    return re.sub(r'"\s*\n\s*"', "", path.read_text())


def has_case(text, case):
    """Whether the file has a TEST_CASE or function of that name; the words in another place do not count."""
    name = re.sub(r"\W+", "_", case)
    return re.search(r"\bTEST_CASE\w*\(\s*(?:\w+,\s*)?\"" + re.escape(case), text) is not None or re.search(
        r"^(?:def|[\w:<>]+[&*]?) " + name + r"\(", text, re.MULTILINE) is not None


def missing(text, root):
    """The files and cases that the text names but the tree does not have, one sentence each."""
    for file, case in named(text):
        path = root / file
        if not path.is_file():
            yield f"there is no {file}"
        elif case and not has_case(words_of(path), case):
            yield f"{file} has no case {case!r}"
