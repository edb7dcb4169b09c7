#!/usr/bin/env python3
"""The pages make a site in which every link leads somewhere (docs/site).

    site.py             builds it in a folder of its own and looks at every page
    site.py --self-test

mkdocs itself is strict about links to pages; here are those to places on them, and pictures, and that a page brings
all it needs along: no style, script or font comes from elsewhere. Ends with status 77 and "skipped:" where mkdocs cannot be had.
The last line reads "N passed, N failed".
"""
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from checks import judged  # noqa: E402

SKIPPED = 77


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.places, self.links, self.parts = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        self.places.update(has[name] for name in ("id", "name") if has.get(name))
        if tag == "a" and has.get("href"):
            self.links.append(has["href"])
        elif tag in ("img", "script", "iframe", "source") and has.get("src"):
            self.parts.append(has["src"])
        elif tag == "link" and has.get("href") and has.get("rel") not in ("canonical", "alternate"):
            self.parts.append(has["href"])


def faults(pages, files):
    """pages: {path: text} with / between names; files: all paths of the site."""
    read = {path: Page(text) for path, text in pages.items()}
    for path, page in read.items():
        for link in page.links + page.parts:
            target = urlsplit(link)
            if target.scheme or target.netloc:
                if link in page.parts:
                    yield f"{path}: {link} comes from elsewhere"
                continue
            to = resolved(path, unquote(target.path))
            if to not in files:
                yield f"{path}: {link} leads nowhere"
            elif target.fragment and to in read and unquote(target.fragment) not in read[to].places:
                yield f"{path}: {link}: no such place on that page"


def resolved(path, link):
    if not link:
        return path
    parts = [] if link.startswith("/") else path.split("/")[:-1]
    for part in link.split("/"):
        if part == "..":
            if not parts:
                return "above the site"
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if link.endswith(("/", "..", ".")):
        parts.append("index.html")
    return "/".join(parts)


def self_test():
    files = {"index.html", "a/b.html", "p.png"}
    pages = {"index.html": '<a href="a/b.html#x">',
             "a/b.html": '<h1 id="x"><a href="../index.html"><a href=".."><img src="../p.png">'}
    whole = list(faults(pages, files))
    dead = {
        "a page": '<a href="c.html">', "a place": '<a href="#y">', "a place elsewhere": '<a href="../index.html#y">',
        "a picture": '<img src="q.png">', "above the site": '<a href="../../x.html">',
        "a foreign script": '<script src="https://e.example/x.js">',
    }
    checks = {"a whole site passes": not whole}
    for name, text in dead.items():
        checks[f"{name} is found"] = len(list(faults({**pages, "a/b.html": pages["a/b.html"] + text}, files))) == 1
    return judged(checks)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    installed = subprocess.run([ROOT / "setup/install", "docs"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if installed.returncode:
        words = installed.stderr.strip().splitlines() or ["no reason was told"]
        print("skipped: the site: mkdocs cannot be installed: " + words[-1])
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="site-") as folder:
        built = subprocess.run([ROOT / "docs/site", folder], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if built.returncode:
            print("FAIL docs/site:\n" + built.stdout[-2000:] + built.stderr[-4000:])
            print("0 passed, 1 failed")
            return 1
        files = {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()}
        pages = {path: Path(folder, path).read_text() for path in files if path.endswith(".html")}
        wrong = list(faults(pages, files))
        # The most important pages; if they were missing, all links to them might be missing, too, and nothing else would fail.
        wrong += [f"there is no {path}" for path in ("index.html", "docs/http.html", "docs/settings.html",
                                                     "storage/points/FORMAT.html", "bench/RESULTS.html") if path not in files]
    for each in wrong[:50]:
        print("FAIL " + each)
    print(f"{len(pages)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
