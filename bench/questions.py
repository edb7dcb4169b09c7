"""The TSBS "cpu" queries (performance.md §7) in the query language of each server, and how to read their answers.

Data: ten metrics of some hosts with four tags, a point each 10 s. Random choices are the same for every server.
"""
import http.client
import json
import random
import urllib.parse

STEP = 10
NAMES = ("user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
METRICS = [f"cpu.usage_{name}" for name in NAMES]


class Question:
    """asked: {server: requests}, a request being a path, with a tab and a body behind it if it is sent with POST.
    `interval` of the answer's points in seconds; `agree`: the answers to the first request must be the same."""

    def __init__(self, name, asked, passes=1, interval=0, agree=True):
        self.name, self.asked, self.passes, self.interval, self.agree = name, asked, passes, interval, agree


IDLE = Question("bare round trip", {"Hourglass": ["/api/version"] * 300, "VictoriaMetrics": ["/health"] * 300,
                                    "OpenTSDB": ["/api/version"] * 300,
                                    "InfluxDB": ["/query?q=SHOW+DIAGNOSTICS+FOR+%27build%27"] * 300})


class Words:
    """Collects the requests of one question for each server."""

    def __init__(self):
        self.asked = {"Hourglass": [], "OpenTSDB": [], "VictoriaMetrics": [], "InfluxDB": []}

    def opentsdb(self, start, end, metrics, aggregator, downsample, filters, values=None):
        """The request for Hourglass and OpenTSDB; `values` ("> 90") is an extension of Hourglass, so OpenTSDB does not get these queries."""
        queries = [{"metric": metric, "aggregator": aggregator, "filters": filters,
                    **({"downsample": downsample} if downsample else {}),
                    **({"valueFilter": values} if values else {})} for metric in metrics]
        request = "/api/query\t" + json.dumps({"start": start, "end": end, "queries": queries})
        self.asked["Hourglass"].append(request)
        if not values:
            self.asked["OpenTSDB"].append(request)

    def promql(self, start, end, interval, expression):
        # PromQL's windows include their end, buckets include their start: the last point of each bucket is the one at the step.
        late = interval - STEP
        self.asked["VictoriaMetrics"].append("/api/v1/query_range?" + urllib.parse.urlencode(
            {"start": start + late, "end": end + late, "step": interval, "query": expression, "nocache": 1}))

    def instant(self, now, expression):
        self.asked["VictoriaMetrics"].append("/api/v1/query?" + urllib.parse.urlencode(
            {"time": now, "query": expression, "nocache": 1}))

    def influxql(self, start, end, fields, hosts=(), group="", where=""):
        """The query in InfluxQL; `end` is exclusive, in seconds."""
        chosen = " OR ".join(f"hostname = '{host}'" for host in hosts)
        text = (f"SELECT {fields} FROM cpu WHERE time >= {start}s AND time < {end}s" + (f" AND ({chosen})" if hosts else "") +
                where + (f" GROUP BY {group}" if group else "") + (" fill(none)" if "time(" in group else ""))
        self.influx(text)

    def influx(self, text):
        self.asked["InfluxDB"].append("/query?" + urllib.parse.urlencode({"db": "opentsdb", "epoch": "s", "q": text}))

    def question(self, name, **how):
        return Question(name, {server: paths for server, paths in self.asked.items() if paths}, **how)


def selector(metrics, hosts=()):
    escaped = "|".join(metric.replace(".", "\\\\.") for metric in metrics)
    named = f'__name__=~"{escaped}"' if len(metrics) > 1 else f'__name__="{metrics[0]}"'
    if not hosts:
        return "{" + named + "}"
    return "{" + named + (f',hostname="{hosts[0]}"' if len(hosts) == 1 else f',hostname=~"{"|".join(hosts)}"') + "}"


def fields(function, count):
    return ", ".join(f"{function}(usage_{name})" for name in NAMES[:count])


class Questions:
    """Creates the TSBS queries; count_max is the largest number of random requests per query."""

    def __init__(self, hosts, hours, start, now, count_max=300):
        self.hosts_max, self.hours, self.start, self.end, self.now = hosts, hours, start, start + hours * 3600, now
        self.count_max = count_max
        self.chance = random.Random(7)

    def times(self, count):
        return range(min(count, self.count_max))

    def hosts(self, count):
        return [f"host_{i}" for i in self.chance.sample(range(self.hosts_max), count)]

    def moment(self, seconds, unit):
        return self.start + self.chance.randrange((self.hours * 3600 - seconds) // unit + 1) * unit

    def maxima(self, name, metrics, hosts, hours, interval, count):
        """For some hosts, the maximum of each interval, for each metric."""
        words = Words()
        text = f"{interval // 60}m-max" if interval < 3600 else "1h-max"
        for _ in self.times(count):
            at, chosen = self.moment(hours * 3600, interval), self.hosts(hosts)
            end = at + hours * 3600 - interval
            only = [{"type": "literal_or", "tagk": "hostname", "filter": "|".join(chosen), "groupBy": False}]
            words.opentsdb(at, end + interval - 1, METRICS[:metrics], "max", text, only)
            inner = selector(METRICS[:metrics], chosen)
            words.promql(at, end, interval, f"max(max_over_time({inner}[{interval}s])) by (__name__)")
            words.influxql(at, end + interval, fields("max", metrics), chosen, f"time({interval}s)")
        return words.question(name, interval=interval)

    def averages(self, name, metrics, passes):
        words = Words()
        by_host = [{"type": "wildcard", "tagk": "hostname", "filter": "*", "groupBy": True}]
        words.opentsdb(self.start, self.end - 1, METRICS[:metrics], "avg", "1h-avg", by_host)
        words.promql(self.start, self.end - 3600, 3600,
                     f"avg(avg_over_time({selector(METRICS[:metrics])}[1h])) by (__name__, hostname)")
        words.influxql(self.start, self.end, fields("mean", metrics), group="time(1h), hostname")
        return words.question(name, passes=passes, interval=3600)

    def top_of_minutes(self, name, seconds, count, passes=1):
        words = Words()
        for _ in self.times(count):
            end = self.moment(0, 60) if seconds else self.end
            end = max(end, self.start + 3600)
            begin = end - seconds if seconds else self.start
            words.opentsdb(begin, end - 1, METRICS[:1], "max", "1m-max", [])
            words.promql(begin, end - 60, 60, f"max(max_over_time({selector(METRICS[:1])}[1m])) by (__name__)")
            words.influxql(begin, end, fields("max", 1), group="time(1m)")
        return words.question(name, passes=passes, interval=60)

    def raw_hour(self, count):
        words = Words()
        for _ in self.times(count):
            at, chosen = self.moment(3600, 60), self.hosts(1)
            only = [{"type": "literal_or", "tagk": "hostname", "filter": chosen[0], "groupBy": False}]
            words.opentsdb(at, at + 3599, METRICS[:1], "avg", None, only)
            words.promql(at, at + 3590, STEP, selector(METRICS[:1], chosen))
            words.influxql(at, at + 3600, "usage_user", chosen)
        return words.question("one series, one hour, every point", interval=STEP)

    def high_cpu(self, name, hosts, hours, count):
        """Every point above 90 of the given number of hosts, or of all hosts."""
        words = Words()
        for _ in self.times(count):
            at, chosen = self.moment(hours * 3600, 60), self.hosts(hosts)
            only = [{"type": "literal_or", "tagk": "hostname", "filter": "|".join(chosen), "groupBy": False}] if hosts else []
            words.opentsdb(at, at + hours * 3600 - 1, METRICS[:1], "none", None, only, "> 90")
            words.promql(at, at + hours * 3600 - STEP, STEP, selector(METRICS[:1], chosen) + " > 90")
            words.influxql(at, at + hours * 3600, "usage_user", chosen, "hostname", " AND usage_user > 90")
        return words.question(name, interval=STEP)

    def last_points(self, name, window):
        words = Words()
        words.asked["Hourglass"].append(
            "/api/query/last\t" + json.dumps({"queries": [{"metric": metric} for metric in METRICS], "resolveNames": True}))
        words.instant(self.now, f"last_over_time({selector(METRICS)}[{window}])")
        words.influx("SELECT * FROM cpu GROUP BY hostname ORDER BY time DESC LIMIT 1")
        return words.question(name, passes=3, agree=False)

    def all(self):
        asked = [self.maxima(f"single-groupby-{metrics}-{hosts}-{hours}", metrics, hosts, hours, 60, 300)
                 for metrics, hosts, hours in ((1, 1, 1), (1, 1, min(12, self.hours)), (1, 8, 1), (5, 1, 1), (5, 8, 1))]
        hours = min(8, self.hours)
        asked += [self.maxima(f"cpu-max-all-{hosts}", 10, hosts, hours, 3600, 100) for hosts in (1, 8)]
        asked += [self.averages("double-groupby-1", 1, 3), self.averages("double-groupby-5", 5, 1),
                  self.averages("double-groupby-all", 10, 1)]
        asked += [self.raw_hour(300)]
        asked += [self.top_of_minutes("groupby-orderby-limit, 5 min", 300, 20),
                  self.top_of_minutes("groupby-orderby-limit, all", 0, 1, 3)]
        hours = min(12, self.hours)
        asked += [self.high_cpu("high-cpu-1", 1, hours, 100), self.high_cpu("high-cpu-all", 0, hours, 1)]
        asked += [self.last_points("lastpoint (peer looks back 24 h)", "24h"),
                  self.last_points("lastpoint (peer looks back 5 min)", "5m")]
        unique = {question.name: question for question in asked}  # with one hour of data, 1-1-12 is the same query as 1-1-1
        return list(unique.values())


def fetch(port, line):
    path, _, body = line.partition("\t")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=900)
    if body:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
    else:
        connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {text[:500]!r}")
    return json.loads(text)


def as_table(server, question):
    """The answer to the first request as {(metric, host): {second: value}}; host is None if the answer does not name one."""
    answer = fetch(server.query_port, question.asked[server.product][0])
    if server.product == "VictoriaMetrics":
        late = question.interval - STEP
        return {(series["metric"].get("__name__"), series["metric"].get("hostname")):
                {int(t) - late: float(v) for t, v in series["values"]} for series in answer["data"]["result"]}
    if server.product == "InfluxDB":
        return {(metric, series.get("tags", {}).get("hostname")): {row[0]: float(row[i + 1]) for row in series["values"]}
                for series in answer["results"][0].get("series", [])
                for i, metric in enumerate(METRICS[:len(series["columns"]) - 1])}
    return {(group["metric"], group["tags"].get("hostname")): {int(t): float(v) for t, v in group["dps"].items()}
            for group in answer}


def without_hosts(table):
    return {(metric, None): points for (metric, _), points in table.items()}


def compare(question, ours, peer):
    """Points that both answers to the first request have in common: all, or it raises. Tags that only one server shows do
    not count."""
    a, b = as_table(ours, question), as_table(peer, question)
    if {host for _, host in a} == {None} or {host for _, host in b} == {None}:
        a, b = without_hosts(a), without_hosts(b)
    for key in a.keys() | b.keys():
        left, right = a.get(key), b.get(key)
        if left is None or right is None or left.keys() != right.keys():
            raise RuntimeError(f"{question.name}: {key}: {str(left)[:300]} here, {str(right)[:300]} in {peer.name}")
        for t, value in left.items():
            if abs(value - right[t]) > 1e-9 * max(1.0, abs(value)):
                raise RuntimeError(f"{question.name}: {key} at {t}: {value} here, {right[t]} in {peer.name}")
    return sum(len(points) for points in a.values())
