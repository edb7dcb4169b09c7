"""Tests that a document names as proofs, `tests/FILE: CASE` or `tests/FILE`. CASE is how a TEST_CASE begins, or a function that is
defined there, by its name or the words of it: "a daemon stops" is a_daemon_stops."""
import re

PROOF = re.compile(r"`(tests/[^`:]+)(?:: ([^`]+))?`")


def named(text):
    """[(file, case or "")] of a text."""
    return PROOF.findall(text)


def words_of(path):
    """The file's text, with literals of several pieces joined."""
    return re.sub(r'"\s*\n\s*"', "", path.read_text())


def has_case(text, case):
    """Whether the text of a file has that TEST_CASE or function; that it has the words somewhere is not enough."""
    name = re.sub(r"\W+", "_", case)
    return re.search(r"\bTEST_CASE\w*\(\s*(?:\w+,\s*)?\"" + re.escape(case), text) is not None or re.search(
        r"^(?:def|[\w:<>]+[&*]?) " + name + r"\(", text, re.MULTILINE) is not None


def missing(text, root):
    """What the text names and the tree does not have, a sentence each."""
    for file, case in named(text):
        path = root / file
        if not path.is_file():
            yield f"there is no {file}"
        elif case and not has_case(words_of(path), case):
            yield f"{file} has no case {case!r}"
