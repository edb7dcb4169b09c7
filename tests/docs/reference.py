#!/usr/bin/env python3
"""No endpoint is kept secret: each (path, verb) that the program answers is shown by an example on some page of docs/, which
examples.py executes, and that is answered well. The last line reads "N passed, N failed".

The paths and their verbs are those of http/endpoints.cc. What stands below an endpoint, and the verbs of those that check
them themselves (kAny), only their handlers know: BELOW and OF_ANY have the verbs that a client has a use for, and a word that
a handler looks for and that is missing in BELOW is a failure.
"""
import re
import sys

import examples
import pages

ENTRY = re.compile(r'^\s*\{"([^"]*)", Place::(k\w+), ([k\w |]+), k', re.MULTILINE)
WORD = re.compile(r'(?:\b(?:part|kind|type|call)|Segment\(1\)) [!=]= "([a-z]+)"')
VERBS = {"kGet": "GET", "kPost": "POST", "kPut": "PUT", "kDelete": "DELETE", "kGetPost": "GET POST",
         "kGetPostDelete": "GET POST DELETE", "kGetPostPutDelete": "GET POST PUT DELETE"}

OF_ANY = {"/": "GET", "/api/annotation": "GET POST PUT DELETE", "/api/histogram": "POST",
          "/api/annotations": "GET",  # its other verbs are those of /api/annotation
          "/api/tree": "GET POST PUT DELETE", "/diediedie": "GET", "/favicon.ico": "GET", "/healthz": "GET", "/metrics": "GET",
          "/ping": "GET", "/q": "GET", "/readyz": "GET", "/s": "GET",
          "/api/search": "", "/api/uid": ""}  # nothing by themselves
CHANGES = dict.fromkeys(("create", "split", "merge", "flush", "compact", "check"), "POST")
LISTS = dict.fromkeys(("tables", "regions", "sizes", "count"), "GET")
BELOW = {
    "/api/admin": ("admin.cc", {**LISTS, **CHANGES, "backup": "GET POST"}),
    "/api/annotation": ("annotations.cc", {"bulk": "POST PUT DELETE"}),
    "/api/config": ("config.cc", {"filters": "GET"}),
    "/api/query": ("query.cc", {"last": "GET POST", "exp": "POST", "gexp": "GET"}),
    "/api/search": ("search.cc", {"lookup": "GET POST", "tags": "GET"}),
    "/api/stats": ("stats.cc", {"query": "GET DELETE", "jvm": "GET", "threads": "GET"}),
    "/api/tree": ("tree.cc", {"rule": "GET POST PUT DELETE", "rules": "POST PUT DELETE", "branch": "GET", "test": "GET POST",
                              "collisions": "GET POST", "notmatched": "GET POST"}),
    "/api/uid": ("uid.cc", {"assign": "GET POST", "rename": "GET POST", "uidmeta": "GET POST PUT DELETE",
                            "tsmeta": "GET POST PUT DELETE"}),
}
# One path, another language: /api/query with the parameter `query`.
PROMQL = ["GET /api/v1/query", "POST /api/v1/query"]

# What no page shows, and why.
LIKE_GET = "POST is answered as GET is, and its body is not looked at"
BINARY = "its body is snappy around protobuf, which no page can show; tests/real/prometheus.py has a Prometheus send it"
OF_STATICROOT = "a file of tsd.http.staticroot, a folder that the daemon of a page has not"
EXCEPT = {
    **{"POST " + path: LIKE_GET for path in (
        "/aggregators", "/api/aggregators", "/api/config", "/api/stats", "/api/version", "/logs", "/stats", "/suggest",
        "/version", "/query")},
    "GET /api/admin": "nothing by itself: it names its calls",
    "POST /api/admin": "as GET",
    "DELETE /api/stats": "only for what is below it: /api/stats/query",
    "POST /api/read": BINARY,
    "POST /api/write": BINARY,
    "GET /s": OF_STATICROOT,
    "GET /favicon.ico": OF_STATICROOT,
    "GET /diediedie": "it ends the daemon that answers the other examples",
    "POST /api/admin/backup": "it writes to a folder whose absolute path is another on each machine; "
                              "tests/fault/backup_rounds.py asks for it",
}
# What a page shows refused, and why.
REFUSED = {
    "DELETE /api/stats/query": "no query of a page runs so long that it could be ended",
}


def path_of(name, place):
    if place == "kPath":
        return name
    return ("/api/" if place == "kApi" else "/") + name


def asked_for(table):
    """{"VERB /path"} that the program answers, and what is not known of it."""
    pairs, wrong = set(PROMQL), []
    for name, place, verbs in ENTRY.findall(table):
        path = path_of(name, place)
        if verbs == "kAny" and path not in OF_ANY:
            wrong.append(f"{path} answers verbs that OF_ANY does not know")
        words = OF_ANY.get(path, "") if verbs == "kAny" else " ".join(VERBS[each] for each in verbs.split(" | "))
        pairs |= {f"{verb} {path}" for verb in words.split()}
    for path, (source, parts) in BELOW.items():
        words = set(WORD.findall((pages.ROOT / "http/api" / source).read_text()))
        wrong += [f"{path}/{word} is not known in BELOW, or no more in {source}" for word in sorted(words ^ parts.keys())]
        pairs |= {f"{verb} {path}/{part}" for part, verbs in parts.items() for verb in verbs.split()}
    return pairs, wrong


def pair_of(first, paths):
    """"VERB /path" of an example's first line, its path the longest of those known."""
    verb, target = first.split()[:2]
    path = target.partition("?")[0]
    if path not in paths and path.startswith("/api/v1/"):
        path = "/api/" + path.removeprefix("/api/v1/")
    while path not in paths and path.count("/") > 1:
        path = path.rpartition("/")[0]
    return f"{verb} {path}"


def shown(texts, paths):
    """{"VERB /path": whether an example of it is answered well}"""
    found = {}
    for text in texts:
        for kind, asked, expected, _ in examples.examples(text):
            if kind != "http":
                continue
            pair = pair_of(asked.partition("\n")[0], paths)
            found[pair] = found.get(pair, False) or int(expected.split()[1]) < 400
    return found


def judge(pairs, found, excepted, refused):
    wrong = []
    for pair in sorted(pairs):
        if pair in excepted:
            if pair in found:
                wrong.append(f"{pair} is an exception, but has an example")
        elif pair not in found:
            wrong.append(f"{pair} has no example on any page of docs/")
        elif found[pair] == (pair in refused):
            wrong.append(f"{pair} is only shown refused" if not found[pair] else f"{pair} is not shown refused alone")
    return wrong + [f"{pair}, an exception, is nothing that the program answers"
                    for pair in sorted((excepted.keys() | refused.keys()) - pairs)]


def example(verb, path, status):
    return f"```http\n{verb} {path}\n```\n\n```http\nHTTP/1.1 {status} X\n```\n"


def canaries():
    """What is not seen of what should be."""
    paths = {"/api/put", "/api/query", "/api/query/last", "/api/label", "/api/v1/query"}
    text = example("GET", "/api/query/last?x", 200) + example("GET", "/api/v1/label/a/values", 200) + example("GET", "/api/put", 404)
    found = shown([text], paths)
    pairs = {"GET /api/query/last", "GET /api/label", "GET /api/query", "GET /api/put"}
    checks = {
        "an example is one of its longest path": found == {"GET /api/query/last": True, "GET /api/label": True, "GET /api/put": False},
        "what has no example, or only a refused one, is told": len(judge(pairs, found, {}, {})) == 2,
        "an exception is told where there is an example, or nothing to except":
            len(judge(pairs, found, {"GET /api/query": "", "GET /api/label": "", "GET /api/no": ""}, {"GET /api/put": ""})) == 2,
        "PromQL's query is not OpenTSDB's": pair_of("GET /api/v1/query?query=1", paths) == "GET /api/v1/query",
    }
    return [f"not so: {what}" for what, good in checks.items() if not good]


def main():
    pairs, wrong = asked_for((pages.ROOT / "http/endpoints.cc").read_text())
    if len(pairs) < 80:
        wrong.append("the table of endpoints was not found")
    texts = [page.read_text() for page in sorted((pages.ROOT / "docs").glob("*.md"))]
    found = shown(texts, {pair.split()[1] for pair in pairs} | set(OF_ANY))
    wrong += judge(pairs, found, EXCEPT, REFUSED) + canaries()
    for each in wrong:
        print("FAIL " + each)
    print(f"{max(0, len(pairs) - len(wrong))} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
