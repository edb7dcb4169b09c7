"""Tests that a document names as proofs: `tests/FILE: CASE` (the words of a case, or the name of a function), or `tests/FILE`."""
import re

PROOF = re.compile(r"`(tests/[^`:]+)(?:: ([^`]+))?`")


def named(text):
    """[(file, case or "")] of a text."""
    return PROOF.findall(text)


def words_of(path):
    """The file's text, with literals of several pieces joined."""
    return re.sub(r'"\s*\n\s*"', "", path.read_text())


def missing(text, root):
    """What the text names and the tree does not have, a sentence each."""
    for file, case in named(text):
        path = root / file
        if not path.is_file():
            yield f"there is no {file}"
        elif case and case not in words_of(path):
            yield f"{file} has no case {case!r}"
