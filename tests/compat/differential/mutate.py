"""Requests near the recorded ones: each suite of ../conformance gives its settings, its data and its requests, and each
request is changed a little: a parameter is dropped, doubled or replaced by that of another request, a number is changed,
a word of the query language replaced, a JSON value of another type. So every endpoint that has a recording is covered
in proportion, errors included."""

import copy
import json
import random
import re
import urllib.parse

AGGREGATORS = (
    "sum min max avg dev count first last median mult diff pfsum squareSum zimsum mimmin mimmax none p50 p75 p90 p95 "
    "p99 p999 ep50r3 ep75r7 ep90r3 ep95r7 ep99r3 ep999r7"
).split()
WORDS = [
    AGGREGATORS,
    "literal_or iliteral_or not_literal_or not_iliteral_or wildcard iwildcard regexp".split(),
    "1s 5s 10s 15s 30s 1m 7m 1h 2h 1d 1w 1n 1y 250ms 10sc 1mc 1hc 6hc 1dc 1wc 1nc 1yc 0all".split(),
    "nan null zero none scalar".split(),
    "true false".split(),
    "metric tagk tagv metrics".split(),
    "union intersection".split(),
    "UTC America/Los_Angeles Asia/Kolkata Europe/Berlin".split(),
    "ROLLUP_RAW ROLLUP_NOFALLBACK ROLLUP_FALLBACK ROLLUP_FALLBACK_RAW".split(),
    "METRIC TAGK TAGV METRIC_CUSTOM TAGK_CUSTOM TAGV_CUSTOM".split(),
]
WORD_OF = {word: words for words in WORDS for word in words}
ODD_TEXTS = [
    "",
    " ",
    "0",
    "-1",
    "1",
    "a",
    "*",
    "|",
    "a|b",
    "a|",
    "x y",
    "é",
    "null",
    "NaN",
    "1.5",
    "1e3",
    "18446744073709551616",
    "[]",
    "{}",
    "true",
    "%",
    ":",
    ",",
    "=",
    "(",
    "9223372036854775807",
]
ODD_VALUES = [
    None,
    True,
    False,
    0,
    -1,
    1,
    1.5,
    1e300,
    "",
    " ",
    "a",
    "1",
    "true",
    "nan",
    [],
    {},
    [1],
    ["a"],
    {"a": "b"},
    [None],
    2**63,
]
FLAGS = "ms arrays show_tsuids show_query no_annotations global_annotations padding summary details sync jsonp=f resolve".split()
FORBIDDEN = re.compile(r"diediedie|/logs\?level|threads|region_clients|sync_timeout=[1-9]\b|\d{5,}[hdwny]-ago")


class Pool:
    """The values that the recorded requests have at each place."""

    def __init__(self, requests):
        self.params, self.keys, self.words, self.requests = {}, {}, {}, requests
        for request in requests:
            path, params = split(request.get("path", ""))
            for key, value in params:
                self.params.setdefault(endpoint(path), []).append((key, value))
            if "body" in request:
                self.gather(endpoint(path), request["body"])
            for line in request.get("telnet", []):
                for i, word in enumerate(line.split(" ")):
                    self.words.setdefault(i, []).append(word)

    def gather(self, place, value):
        if isinstance(value, dict):
            for key, item in value.items():
                self.keys.setdefault(place, {}).setdefault(key, []).append(item)
                self.gather(place, item)
        elif isinstance(value, list):
            for item in value:
                self.gather(place, item)


def endpoint(path):
    return "/".join(re.sub(r"/v\d+/", "/", path.lower()).split("/")[:4])


def split(path):
    path, question, query = path.partition("?")
    params = [tuple(p.partition("=")[::2]) if "=" in p else (p, None) for p in query.split("&")] if question else []
    return path, params


def joined(path, params):
    return path + ("?" if params else "") + "&".join(k if v is None else f"{k}={v}" for k, v in params)


class Mutator:
    def __init__(self, seed, own, everything):
        self.random = random.Random(seed)
        self.own, self.all = Pool(own), Pool(everything)

    def pick(self, get):
        """A value mostly from the suite's own requests, whose names exist; sometimes from any suite."""
        own, everything = get(self.own), get(self.all)
        source = own if own and (self.random.random() < 0.85 or not everything) else everything
        return self.random.choice(source) if source else None

    def request(self):
        r = self.random
        for _ in range(100):
            request = copy.deepcopy(r.choice(self.own.requests))
            for _ in range(r.choice((1, 1, 1, 2, 2, 3, 4))):
                self.bend(request)
            text = json.dumps(request)
            if not FORBIDDEN.search(text) and sendable(request):
                return request
        raise RuntimeError("no request was allowed")

    def bend(self, request):
        r = self.random
        if "telnet" in request:
            request.pop("pieces", None)
            request.pop("abandon", None)
            request["telnet"] = [self.line(l) if r.random() < 0.6 else l for l in request["telnet"]]
            return
        if "body" in request and r.random() < 0.85:
            if r.random() < 0.03:
                text = json.dumps(request.pop("body"), ensure_ascii=False)
                request["body_text"] = self.cut(text)
            else:
                request["body"] = self.json(endpoint(request["path"]), request["body"])
            return
        if "body_text" in request and r.random() < 0.8:
            request["body_text"] = (
                self.cut(request["body_text"]) if r.random() < 0.3 else self.text(request["body_text"])
            )
            return
        path, params = split(request["path"])
        place = endpoint(path)
        choice = r.random()
        if params and choice < 0.45:
            i = r.randrange(len(params))
            key, value = params[i]
            if value is not None:
                params[i] = (key, quoted(self.text(urllib.parse.unquote_plus(value))))
        elif params and choice < 0.6:
            key = r.choice(params)[0]
            same = lambda pool: [p for p in pool.params.get(place, []) if p[0] == key]
            params = [p for p in params if p[0] != key] + [self.pick(same)] if self.pick(same) else params
        elif params and choice < 0.7:
            del params[r.randrange(len(params))]
        elif choice < 0.9:
            more = self.pick(lambda pool: pool.params.get(place, []))
            if more:
                params.insert(r.randrange(len(params) + 1), more)
        elif choice < 0.95:
            params.append(tuple(split("?" + r.choice(FLAGS))[1][0]))
        elif choice < 0.97:
            request["method"] = r.choice(["GET", "POST", "PUT", "DELETE", "OPTIONS"])
        else:
            path = r.choice([path + "/", path + "/x", path.upper(), path.replace("/api/", "/api/v1/"), "/" + path])
        request["path"] = joined(path, params)

    def line(self, line):
        r, words = self.random, line.split(" ")
        i = r.randrange(len(words))
        choice = r.random()
        if choice < 0.35:
            words[i] = self.text(words[i]) if i else words[i]
        elif choice < 0.6:
            words[i] = self.pick(lambda pool: pool.words.get(i, []))
        elif choice < 0.7 and len(words) > 1:
            del words[i]
        elif choice < 0.8:
            words.insert(i, r.choice(["", "", "host=b", "a=", "=b", "x=y", words[i]]))
        elif choice < 0.9:
            words[i] = r.choice(ODD_TEXTS)
        return " ".join(words).replace("\n", "") or "put"

    def json(self, place, value):
        """The JSON value with one change at the given place."""
        r = self.random
        paths = list(places(value))
        path = r.choice(paths)
        if not path:
            return value if r.random() < 0.9 else r.choice(ODD_VALUES)
        parent = value
        for step in path[:-1]:
            parent = parent[step]
        key, choice = path[-1], r.random()
        if choice < 0.35 and isinstance(key, str):
            new = self.pick(lambda pool: pool.keys.get(place, {}).get(key, []))
            parent[key] = copy.deepcopy(new)
        elif choice < 0.6 and isinstance(parent[key], (str, int, float)) and not isinstance(parent[key], bool):
            text = self.text(str(parent[key]))
            parent[key] = text if isinstance(parent[key], str) or r.random() < 0.2 else as_number(text)
        elif choice < 0.7:
            del parent[key]
        elif choice < 0.78:
            parent[key] = r.choice(ODD_VALUES)
        elif choice < 0.92 and isinstance(parent, dict) and self.all.keys.get(place):
            names = list(self.all.keys.get(place, {}))
            name = r.choice(names)
            parent[name] = copy.deepcopy(self.pick(lambda pool: pool.keys.get(place, {}).get(name, [])))
        elif isinstance(parent, list):
            parent.insert(key, copy.deepcopy(r.choice(parent)))
        elif isinstance(parent[key], bool):
            parent[key] = not parent[key]
        return value

    def text(self, text):
        """The text with a keyword replaced by a similar one, a number changed, or a character changed."""
        r = self.random
        choice = r.random()
        spots = [m for m in re.finditer(r"[A-Za-z0-9_/]+", text) if m.group() in WORD_OF]
        if spots and choice < 0.5:
            m = r.choice(spots)
            return text[: m.start()] + r.choice(WORD_OF[m.group()]) + text[m.end() :]
        spots = list(re.finditer(r"\d+", text))
        if spots and choice < 0.8:
            m = r.choice(spots)
            n = int(m.group())
            n = r.choice(
                [
                    n + 1,
                    n - 1,
                    n + 10,
                    n - 10,
                    n + r.randrange(100),
                    n + 3600,
                    n - 3600,
                    n * 2,
                    n // 2,
                    n * 1000,
                    n // 1000,
                    0,
                    1,
                ]
            )
            return text[: m.start()] + str(max(n, 0)) + text[m.end() :]
        if choice < 0.9 and text:
            i = r.randrange(len(text))
            return (
                text[:i]
                + r.choice(["", text[i] * 2, r.choice("aB1*|.-_:,{}()=^$[] /~é"), text[i].swapcase()])
                + text[i + 1 :]
            )
        return r.choice(ODD_TEXTS)

    def cut(self, text):
        r = self.random
        i = r.randrange(len(text) + 1)
        return r.choice(
            [text[:i], text[:i] + r.choice("{}[]\",:1 nullé'") + text[i:], text[:i] + text[i + 1 :], text + text[i:]]
        )


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, path + (key,))


def as_number(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def quoted(text):
    return urllib.parse.quote(text, safe=":-,*=()/.|'@$_")


def sendable(request):
    if "telnet" in request:
        return all(re.match(r"[a-z]", l) and "\r" not in l for l in request["telnet"])
    return re.fullmatch(r"/[!-~]*", request["path"]) is not None and not re.search(
        r"%(?![0-9A-Fa-f]{2})", request["path"]
    )
