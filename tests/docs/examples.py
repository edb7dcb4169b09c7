#!/usr/bin/env python3
"""Executes the examples of docs/*.md: sends the requests of each page, in order, to a daemon started for that page.

    examples.py build/release/tsdb [PAGE...]
    examples.py --self-test

A request is one of:
  - a block `sh` that begins with `curl`. bash executes it as it is printed; only the port is replaced;
  - a block `http` that begins with a method: first line, header fields, an empty line, the body;
  - a block `telnet`: lines of the telnet protocol.
The response to the first two is the next block `http`: "HTTP/1.1", the status, the header fields that must be present, an
empty line, the body. The response to `telnet` is the next block `text`. "…" stands for any text or value (pages.py). Line
breaks inside JSON do not count. The first block `properties` holds the settings of the daemon. A block `users` becomes the
file of that name in the working directory of the daemon. The last line reads "N passed, N failed".
"""
import http.client
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pages

sys.path.insert(0, str(pages.ROOT / "tests/support"))
sys.dont_write_bytecode = True
from checks import judged  # noqa: E402
from daemon import Daemon  # noqa: E402

METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS")
ANSWERS = {"http": "http", "curl": "http", "telnet": "text"}
ADDRESS = "127.0.0.1:4242"  # the address that the pages use
# The pages do not show --include: readers want the body. The status and the header fields are checked here.
CURL = 'curl() { command curl --silent --show-error --include --max-time 60 "$@"; }\n'


class Unread(ValueError):
    """An example that this program cannot interpret."""


def split(block):
    """Returns (first line, {field: value}, body)."""
    head, _, body = block.partition("\n\n")
    first, *fields = head.strip().splitlines()
    return first, dict(line.split(": ", 1) for line in fields), body.strip()


def kind_of(language, block):
    """The kind of a request, or None if the block is not a request."""
    if language == "sh":
        return "curl" if block.startswith("curl ") else None
    return language if language in ("http", "telnet") else None


def examples(text):
    """Returns (kind, request, expected response, line) for each example of a page."""
    waiting = None
    for language, block, line in pages.blocks(text):
        if waiting and language == ANSWERS[waiting[0]] and (language == "text" or block.startswith("HTTP/1.1")):
            yield waiting[0], waiting[1], block, waiting[2]
            waiting = None
            continue
        kind = kind_of(language, block)
        if kind:
            if waiting:
                raise Unread(f"line {waiting[2]}: a request without an answer")
            if kind == "http" and not block.startswith(METHODS):
                raise Unread(f"line {line}: an answer without a request")
            waiting = (kind, block, line)
    if waiting:
        raise Unread(f"line {waiting[2]}: a request without an answer")


def method_and_target(kind, request):
    """The HTTP method and the request target of an example of the kind "http" or "curl"."""
    if kind == "http":
        return request.split(None, 2)[:2]
    words = iter(shlex.split(request.replace("\\\n", " "))[1:])
    method, data, in_query, url = None, False, False, None
    for word in words:
        if word in ("-X", "--request"):
            method = next(words)
        elif word in ("-d", "--data", "--data-binary", "--data-urlencode"):
            data = bool(next(words)) or data
        elif word in ("-H", "--header", "-u", "--user"):
            next(words)
        elif word in ("-G", "--get"):
            in_query = True
        elif not word.startswith("-"):
            url = word
    if url is None or ADDRESS not in url:
        raise Unread(f"a curl command without the address {ADDRESS}: {request!r}")
    return method or ("POST" if data and not in_query else "GET"), url.partition(ADDRESS)[2]


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
    """Returns (status, fields, body)."""
    first, fields, body = split(block)
    method, target = first.split(" ", 1)
    connection = daemon.connection()
    try:
        connection.request(method, target.removesuffix(" HTTP/1.1"), body.encode() or None, fields)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    finally:
        connection.close()


def ask_curl(daemon, command):
    """Returns (status, fields, body)."""
    done = subprocess.run(["bash", "-c", CURL + command.replace(ADDRESS, f"127.0.0.1:{daemon.port}")],
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        raise OSError(f"curl ended with status {done.returncode}: {done.stderr.decode()[-300:]}")
    head, _, body = done.stdout.decode().partition("\r\n\r\n")
    first, *fields = head.split("\r\n")
    return int(first.split()[1]), {name.lower(): value for name, value in (line.split(": ", 1) for line in fields)}, body


def ask_lines(daemon, block):
    with daemon.raw() as line:
        line.sendall(block.encode() + b"exit\n")
        answer = b""
        while data := line.recv(1 << 16):
            answer += data
    return answer.decode()


def fault(daemon, kind, asked, expected):
    """What is wrong with an example; empty if nothing is."""
    if kind == "telnet":
        got = ask_lines(daemon, asked)
        return "" if pages.agree_text(got, expected) else f"answered {got!r}"
    status, fields, body = (ask_curl if kind == "curl" else ask_http)(daemon, asked)
    first, shown_fields, shown = split(expected)
    if status != int(first.split()[1]):
        return f"answered {status} {body[:500]}"
    for name, value in shown_fields.items():
        if not pages.agree_text(fields.get(name.lower(), ""), value):
            return f"{name} is {fields.get(name.lower())}"
    return "" if pages.agree_body(body, shown) else f"answered {body[:1500]}"


def run(tsdb, page):
    """Returns (number of correct examples, faults) of a page."""
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
    curl = "```sh\ncurl 'http://127.0.0.1:4242/a?b'\n```\n\n```http\nHTTP/1.1 200 OK\n```\n"
    checks = {
        "a curl command is a request": [each[:2] for each in examples(curl)] == [("curl", "curl 'http://127.0.0.1:4242/a?b'\n")],
        "a curl command without data is a GET": method_and_target("curl", "curl -g 'http://127.0.0.1:4242/a?b'") == ("GET", "/a?b"),
        "a curl command with data is a POST": method_and_target("curl", "curl http://127.0.0.1:4242/a \\\n  -d '{}'") == ("POST", "/a"),
        "-G makes a GET of data": method_and_target("curl", "curl -G http://127.0.0.1:4242/a --data-urlencode x=1") == ("GET", "/a"),
        "-X names the method": method_and_target("curl", "curl -X PUT http://127.0.0.1:4242/a -d '{}'") == ("PUT", "/a"),
        "another shell command is no request": not list(examples("```sh\ntsdb version\n```\n")),
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
    for broken in (page.replace("HTTP/1.1 200 OK", "HTTP/2"), "```http\nHTTP/1.1 200 OK\n```\n", page + "```http\nGET /b\n```\n",
                   curl + "```sh\ncurl http://127.0.0.1:4242/b\n```\n"):
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
