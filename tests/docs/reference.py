#!/usr/bin/env python3
"""No endpoint is kept secret: each of http/endpoints.cc stands on some page of docs/, as /NAME or /api/NAME.
The last line reads "N passed, N failed"."""
import re
import sys

import pages

ENTRY = re.compile(r'^\s*\{"([^"]+)", Place::', re.MULTILINE)


def missing(names, text):
    return [name for name in names
            if not re.search(rf"(/api|/api/v1|(?<![A-Za-z0-9/])){re.escape('/' + name.lstrip('/'))}(?![A-Za-z0-9_])", text)]


def main():
    names = sorted(set(ENTRY.findall((pages.ROOT / "http/endpoints.cc").read_text())))
    text = "\n".join(page.read_text() for page in (pages.ROOT / "docs").glob("*.md"))
    wrong = [f"/{name} is on no page of docs/" for name in missing(names, text)]
    # The test itself: a name that stands nowhere, or only within another, is seen.
    if missing(["put", "pu", "nowhere"], "`/api/put`") != ["pu", "nowhere"] or len(names) < 20:
        wrong.append("the canaries live, or the table was not found")
    for each in wrong:
        print("FAIL " + each)
    print(f"{len(names) + 1 - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
