#!/usr/bin/env python3
"""The reference is complete. The last line reads "N passed, N failed".

- Each (path, verb) that the program answers has an example on a page of docs/ that examples.py executes and that succeeds.
- The tables of docs/http.md list each path.
- docs/querying.md names each aggregator, filter type, fill policy, function, and field and parameter of a query that the
  sources know (NAMED).

The paths and their verbs are those of http/routes/endpoints.cc. What stands below an endpoint, and the verbs of those that check
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

OF_ANY = {"/": "GET", "/-/healthy": "GET", "/-/ready": "GET", "/api/annotation": "GET POST PUT DELETE", "/api/histogram": "POST",
          "/api/annotations": "GET",  # its other verbs are described with /api/annotation
          "/api/tree": "GET POST PUT DELETE", "/diediedie": "GET", "/favicon.ico": "GET", "/healthz": "GET", "/metrics": "GET",
          "/ping": "GET", "/q": "GET", "/readyz": "GET", "/s": "GET",
          "/api/search": "", "/api/uid": ""}  # these paths do nothing by themselves
CHANGES = dict.fromkeys(("create", "alter", "drop", "truncate", "split", "merge", "flush", "compact", "check"), "POST")
LISTS = dict.fromkeys(("tables", "describe", "regions", "sizes", "count"), "GET")
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
# A path with a second language: /api/query with the parameter `query`.
PROMQL = ["GET /api/v1/query", "POST /api/v1/query"]

# Endpoints that no page shows, each with the reason.
LIKE_GET = "POST is answered as GET is, and its body is not looked at"
BINARY = "its body is snappy around protobuf, which no page can show; tests/real/prometheus.py has a Prometheus send it"
OF_STATICROOT = "a file of tsd.http.staticroot, a folder that the daemon of a page has not"
EXCEPT = {
    **{"POST " + path: LIKE_GET for path in (
        "/aggregators", "/api/aggregators", "/api/config", "/api/stats", "/api/version", "/logs", "/stats", "/suggest",
        "/version")},
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
# (source, pattern of a name in it): docs/querying.md has each of these names between backquotes.
NAMED = [
    ("query/buckets/aggregator.cc", r'\{"(\w+)", Function::'),
    ("query/plan/filter.cc", r'\{"(\w+)", FilterKind::'),
    ("query/buckets/downsample.cc", r'lower == "(\w+)"'),
    ("query/expression/gexp.cc", r'\{"(\w+)", GexpFunction::'),
    ("http/wire/query_json.cc", r'key [!=]= "(\w+)"'),
    ("http/wire/query_uri.cc", r'parameters\.(?:Has|Find|All)\("(\w+)"\)'),
    ("http/wire/exp_json.cc", r'Read\w+\(\*?\w+, "(\w+)"'),
]
# Endpoints that a page shows with an error response, each with the reason.
REFUSED = {
    "DELETE /api/stats/query": "no query of a page runs so long that it could be ended",
}


def path_of(name, place):
    if place in ("kPath", "kWatch"):
        return name
    return ("/api/" if place == "kApi" else "/") + name


def asked_for(table):
    """Returns ({"VERB /path"} that the program answers, what is unknown in the table)."""
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


def pair_of(verb, target, paths):
    """The "VERB /path" of an example; the longest known path that fits is used."""
    path = target.partition("?")[0]
    if path not in paths and path.startswith("/api/v1/"):
        path = "/api/" + path.removeprefix("/api/v1/")
    while path not in paths and path.count("/") > 1:
        path = path.rpartition("/")[0]
    return f"{verb} {path}"


def shown(texts, paths):
    """Returns {"VERB /path": whether an example of it succeeds}."""
    found = {}
    for text in texts:
        for kind, asked, expected, _ in examples.examples(text):
            if kind == "telnet":
                continue
            pair = pair_of(*examples.method_and_target(kind, asked), paths)
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


def is_named(name, page):
    """Whether a page has the name between backquotes, alone or at the beginning of an expression such as `name=value`."""
    return re.search(rf"`{name}(?![\w.-])[^`]*`", page) is not None


def without_name():
    """Returns (number of names looked for, the names that docs/querying.md lacks)."""
    page = (pages.ROOT / "docs/querying.md").read_text()
    looked_for, wrong = 0, []
    for source, pattern in NAMED:
        names = set(re.findall(pattern, (pages.ROOT / source).read_text()))
        looked_for += len(names)
        wrong += [] if names else [f"no name was found in {source}"]
        wrong += [f"docs/querying.md does not name {name} of {source}" for name in sorted(names) if not is_named(name, page)]
    return looked_for, wrong


def unlisted(pairs):
    """The paths that the tables of docs/http.md do not list."""
    page = (pages.ROOT / "docs/http.md").read_text()
    cells = " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("|"))
    listed = set(re.findall(r"`(/[^`?]*)", cells))
    below = {found[1] for found in re.finditer(r"`(/[^`?]*?)/(?:…|[A-Z]+\b)", cells)}  # such as /api/admin of `/api/admin/…`
    wrong = []
    for path in sorted({pair.split()[1] for pair in pairs}):
        names = {path, path.replace("/api/", "/api/v1/", 1)}
        parents = {name[:end] for name in names for end in range(len(name) + 1) if name[end:end + 1] in ("", "/")}
        if not names & listed and not parents & below and not path.startswith("/api/tree/"):  # these are in docs/trees.md
            wrong.append(f"docs/http.md does not list {path}")
    return wrong


def example(verb, path, status):
    return f"```http\n{verb} {path}\n```\n\n```http\nHTTP/1.1 {status} X\n```\n"


def canaries():
    """A test of this check: planted faults that it does not notice."""
    paths = {"/api/put", "/api/query", "/api/query/last", "/api/label", "/api/v1/query"}
    text = example("GET", "/api/query/last?x", 200) + example("GET", "/api/v1/label/a/values", 200) + example("GET", "/api/put", 404)
    found = shown([text], paths)
    pairs = {"GET /api/query/last", "GET /api/label", "GET /api/query", "GET /api/put"}
    checks = {
        "an example is one of its longest path": found == {"GET /api/query/last": True, "GET /api/label": True, "GET /api/put": False},
        "what has no example, or only a refused one, is told": len(judge(pairs, found, {}, {})) == 2,
        "an exception is told where there is an example, or nothing to except":
            len(judge(pairs, found, {"GET /api/query": "", "GET /api/label": "", "GET /api/no": ""}, {"GET /api/put": ""})) == 2,
        "a name is found alone and in an expression": is_named("m", "the `m`") and is_named("m", "`m=…`"),
        "a part of a name is not found": not is_named("m", "`ms`") and not is_named("m", "m"),
        "a path without a row is told": unlisted({"GET /api/none"}) == ["docs/http.md does not list /api/none"],
        "PromQL's query is not OpenTSDB's": pair_of("GET", "/api/v1/query?query=1", paths) == "GET /api/v1/query",
    }
    return [f"not so: {what}" for what, good in checks.items() if not good]


def main():
    pairs, wrong = asked_for((pages.ROOT / "http/routes/endpoints.cc").read_text())
    if len(pairs) < 80:
        wrong.append("the table of endpoints was not found")
    texts = [page.read_text() for page in sorted((pages.ROOT / "docs").glob("*.md"))]
    found = shown(texts, {pair.split()[1] for pair in pairs} | set(OF_ANY))
    names, unnamed = without_name()
    wrong += judge(pairs, found, EXCEPT, REFUSED) + unlisted(pairs) + unnamed + canaries()
    for each in wrong:
        print("FAIL " + each)
    print(f"{max(0, len(pairs) + names - len(wrong))} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
