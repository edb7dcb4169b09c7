"""Series that come and go: all series are replaced every hour while the store keeps one day. Memory, a start and a query by day."""
from pathlib import Path

import plots
from goals import Goal
from support import figures_of, lines_of, scratch, start_client

TITLE = "Series that come and go"
SIZES = ("anonymous", "registry", "names", "files")
COLUMNS = {"series": "series with points", "anonymous": "memory, MB", "registry": "registry, MB", "names": "cached names, MB",
           "files": "indexes of files, MB", "query_us": "query of the last hour, µs", "start_s": "start, s"}
GROWN = 1.3  # by which memory may grow from the first day to the last
PLOTTED_MIN = 10  # days; the table says enough about fewer


def measure(bench):
    series, days = bench.pick((10_000, 30), (2_000, 30), (100, 3))
    with scratch() as folder:
        lines = lines_of(start_client(bench.programs / "churn_bench", "--series", series, "--days", days, Path(folder, "data")))
    rows = [figures_of(line) for line in lines]
    for row in rows:
        bench.say(f"day {row['day']:.0f}: {row['series']:.0f} series, {row['anonymous'] / 1e6:.0f} MB, registry {row['registry'] / 1e6:.1f} MB, "
                  f"query {row['query_us']:.0f} us" + (f", start {row['start_s']:.2f} s" if "start_s" in row else ""))
    return {"active": series, "days": rows}


def cell(row, field):
    if field not in row:
        return ""
    value = row[field] / 1e6 if field in SIZES else row[field]
    return f"{value:,.2f}" if field in (*SIZES, "start_s") and value < 10 else f"{value:,.0f}"


def plot(rows, folder):
    if len(rows) < PLOTTED_MIN:
        return ""
    lines = {title.split(",")[0]: [(row["day"], row[field] / rows[0][field]) for row in rows if field in row]
             for field, title in COLUMNS.items() if rows[0][field]}
    return f"![{TITLE}](results/{plots.draw(Path(folder, 'churn.png'), TITLE, 'day', 'multiple of the first day', lines)})\n\n"


def page(data, folder):
    rows = data["days"]
    table = ["| day | " + " | ".join(COLUMNS.values()) + " |", "|" + " --- |" * (len(COLUMNS) + 1)]
    table += [f"| {row['day']:.0f} | " + " | ".join(cell(row, field) for field in COLUMNS) + " |" for row in rows if "start_s" in row]
    return (f"The embedded engine and the table of ids, without a daemon: {data['active']:,} active series, each with a new tag value every hour, "
            "four points an hour, a TTL of one day, in compressed time. Memory is what the process holds for itself (RssAnon). The query reads the last "
            f"hour of all active series. A start opens a copy of the files.\n\n{plot(rows, folder)}" + "\n".join(table))


def growth(field):
    def of(data):
        rows = [row for row in data["days"] if field in row]
        return rows[-1][field] / rows[0][field]
    return of


GOALS = [Goal(f"series that come and go: {what} after 30 days ≤ {GROWN} × the first day", growth(field), at_most=GROWN, unit="×")
         for field, what in (("anonymous", "memory"), ("start_s", "a start"), ("query_us", "a query"))]
