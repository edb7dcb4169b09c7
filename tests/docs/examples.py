#!/usr/bin/env python3
"""The examples of the pages are true: each page's requests are sent, in their order, to a daemon of its own.

    examples.py build/release/tsdb [PAGE...]
    examples.py --self-test

A request is a fenced block `http` that begins with a method; the next `http` block is its answer: "HTTP/1.1", the status,
fields that must be there, an empty line, the body. A block `telnet` is lines; the `text` block behind it is all that they are
answered. "…" stands for what may be anything (pages.py). Blank lines in JSON do not count. A first block `properties` has
the daemon's settings, a block `users` is the file of that name where it runs. The last line reads "N passed, N failed".
"""
import http.client
import sys
import tempfile
from pathlib import Path

import pages

sys.path.insert(0, str(pages.ROOT / "tests/support"))
sys.dont_write_bytecode = True
from checks import judged  # noqa: E402
from daemon import Daemon  # noqa: E402

METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS")


class Unread(ValueError):
    """An example that this program does not understand."""


def split(block):
    """(first line, {field: value}, body)"""
    head, _, body = block.partition("\n\n")
    first, *fields = head.strip().splitlines()
    return first, dict(line.split(": ", 1) for line in fields), body.strip()


def examples(text):
    """(kind, asked, expected, line) of each example of a page."""
    waiting = None
    for language, block, line in pages.blocks(text):
        if waiting and language == {"http": "http", "telnet": "text"}[waiting[0]] and (
                language == "text" or block.startswith("HTTP/1.1")):
            yield waiting[0], waiting[1], block, waiting[2]
            waiting = None
        elif language in ("http", "telnet"):
            if waiting:
                raise Unread(f"line {waiting[2]}: a request without an answer")
            if language == "http" and not block.startswith(METHODS):
                raise Unread(f"line {line}: an answer without a request")
            waiting = (language, block, line)
    if waiting:
        raise Unread(f"line {waiting[2]}: a request without an answer")


def settings(text):
    for language, block, _ in pages.blocks(text):
        if language == "properties":
            return dict(line.split(" = ", 1) for line in block.splitlines() if " = " in line)
    return {}


def write_users(text, folder):
    for language, block, _ in pages.blocks(text):
        if language == "users":
            (Path(folder) / "users").write_text(block)


def ask_http(daemon, block):
    """(status, fields, body)"""
    first, fields, body = split(block)
    method, target = first.split(" ", 1)
    connection = daemon.connection()
    try:
        connection.request(method, target.removesuffix(" HTTP/1.1"), body.encode() or None, fields)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    finally:
        connection.close()


def ask_lines(daemon, block):
    with daemon.raw() as line:
        line.sendall(block.encode() + b"exit\n")
        answer = b""
        while data := line.recv(1 << 16):
            answer += data
    return answer.decode()


def fault(daemon, kind, asked, expected):
    """What is wrong with an example; empty if nothing."""
    if kind == "telnet":
        got = ask_lines(daemon, asked)
        return "" if pages.agree_text(got, expected) else f"answered {got!r}"
    status, fields, body = ask_http(daemon, asked)
    first, shown_fields, shown = split(expected)
    if status != int(first.split()[1]):
        return f"answered {status} {body[:500]}"
    for name, value in shown_fields.items():
        if not pages.agree_text(fields.get(name.lower(), ""), value):
            return f"{name} is {fields.get(name.lower())}"
    return "" if pages.agree_body(body, shown) else f"answered {body[:1500]}"


def run(tsdb, page):
    """(good, faults) of a page."""
    text = page.read_text()
    known = list(examples(text))
    if not known:
        return 0, []
    faults = []
    with tempfile.TemporaryDirectory(prefix="examples-") as folder:
        write_users(text, folder)
        daemon = Daemon(tsdb, folder, settings(text))
        daemon.start()
        try:
            for kind, asked, expected, line in known:
                wrong = fault(daemon, kind, asked, expected)
                if wrong:
                    faults.append(f"{page.relative_to(pages.ROOT)}:{line}: {wrong}")
        except (OSError, http.client.HTTPException) as error:
            faults.append(f"{page.relative_to(pages.ROOT)}: {error}")
        finally:
            daemon.kill()
    return len(known) - len(faults), faults


def self_test():
    page = "```http\nGET /a\n```\n\nwords\n\n```http\nHTTP/1.1 200 OK\n\n{}\n```\n"
    checks = {
        "an example is found": [each[:2] for each in examples(page)] == [("http", "GET /a\n")],
        "what is equal agrees": pages.agree_body('{"a":[1,2.0]}', '{ "a": [1, 2] }'),
        "another value does not": not pages.agree_body('{"a":1}', '{"a":2}'),
        "true is not 1": not pages.agree(1, True),
        "a member too many does not": not pages.agree({"a": 1, "b": 2}, {"a": 1}),
        "members may be left open": pages.agree({"a": 1, "b": 2}, {"a": 1, "…": "…"}),
        "a member that is shown must be there": not pages.agree({"b": 2}, {"a": 1, "…": "…"}),
        "elements may be left open": pages.agree([1, 2, 3], [1, "…"]) and not pages.agree([], [1, "…"]),
        "text may be left open": pages.agree_text("version 3 of today", "version … of today"),
        "other text does not agree": not pages.agree_text("version 3", "release …"),
    }
    for broken in (page.replace("HTTP/1.1 200 OK", "HTTP/2"), "```http\nHTTP/1.1 200 OK\n```\n", page + "```http\nGET /b\n```\n"):
        try:
            list(examples(broken))
            checks[f"{broken!r} is not understood"] = False
        except Unread:
            checks[f"{broken!r} is not understood"] = True
    return judged(checks)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    tsdb, *names = sys.argv[1:]
    passed, faults = 0, []
    for page in sorted((pages.ROOT / "docs").glob("*.md")):
        if names and page.name not in names:
            continue
        try:
            good, wrong = run(tsdb, page)
        except Unread as unread:
            good, wrong = 0, [f"{page.name}: {unread}"]
        passed, faults = passed + good, faults + wrong
    for each in faults:
        print("FAIL " + each)
    if not passed:
        faults.append("no example was found")
    print(f"{passed} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
