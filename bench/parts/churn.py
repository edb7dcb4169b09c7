"""Series that come and go: all series are replaced every hour while the store keeps one day or all points. Memory, a start and a query by day."""
from pathlib import Path

import plots
from goals import Goal
from support import figures_of, lines_of, scratch, start_client

TITLE = "Series that come and go"
SIZES = ("anonymous", "registry", "mapped", "names", "files")
COLUMNS = {"series": "series with points", "anonymous": "memory, MB", "registry": "series in memory, MB", "mapped": "series in mapped files, MB",
           "names": "cached names, MB",
           "files": "indexes of files, MB", "query_us": "query of the last hour, µs",
           "old_query_us": "query of the first hour, µs", "start_s": "start, s"}
GROWN = 1.3  # by which memory may grow from the first day to the last
PLOTTED_MIN = 10  # days; the table says enough about fewer


def measure(bench):
    series, days = bench.pick((10_000, 30), (2_000, 30), (100, 3))
    data = {"active": series}
    for name, options in (("days", ()), ("kept", ("--keep",))):
        with scratch() as folder:
            lines = lines_of(start_client(bench.programs / "churn_bench", "--series", series, "--days", days, *options, Path(folder, "data")))
        data[name] = [figures_of(line) for line in lines]
        for row in data[name]:
            bench.say(f"day {row['day']:.0f}: {row['series']:.0f} series, {row['anonymous'] / 1e6:.0f} MB, "
                      f"registry {row['registry'] / 1e6:.1f} MB, query {row['query_us']:.0f} us" +
                      (f", start {row['start_s']:.2f} s" if "start_s" in row else ""))
    return data


def cell(row, field):
    if field not in row:
        return ""
    value = row[field] / 1e6 if field in SIZES else row[field]
    return f"{value:,.2f}" if field in (*SIZES, "start_s") and value < 10 else f"{value:,.0f}"


def plot(rows, folder, name):
    if len(rows) < PLOTTED_MIN:
        return ""
    lines = {title.split(",")[0]: [(row["day"], row[field] / rows[0][field]) for row in rows if field in row]
             for field, title in COLUMNS.items() if rows[0].get(field)}
    return f"![{TITLE}](results/{plots.draw(Path(folder, f'{name}.png'), TITLE, 'day', 'multiple of the first day', lines)})\n\n"


def table_of(rows):
    columns = {field: title for field, title in COLUMNS.items() if any(row.get(field) for row in rows)}
    lines = ["| day | " + " | ".join(columns.values()) + " |", "|" + " --- |" * (len(columns) + 1)]
    lines += [f"| {row['day']:.0f} | " + " | ".join(cell(row, field) for field in columns) + " |" for row in rows if "start_s" in row]
    return "\n".join(lines)


def page(data, folder):
    text = (f"The embedded engine and the table of ids, without a daemon: {data['active']:,} active series, each with a new tag value every hour, "
            "four points an hour, a TTL of one day, in compressed time. Memory is what the process holds for itself (RssAnon). The query reads the last "
            f"hour of all active series. A start opens a copy of the files.\n\n{plot(data['days'], folder, 'churn')}{table_of(data['days'])}")
    if "kept" in data:
        text += ("\n\nThe same with all points kept. Most series are in mapped files, which the operating system reads when they are used. The second query reads the first "
                 f"hour of the first day.\n\n{plot(data['kept'], folder, 'churn_kept')}{table_of(data['kept'])}")
    return text


def growth(field, rows):
    def of(data):
        found = [row for row in data[rows] if field in row]
        return found[-1][field] / found[0][field]
    return of


GOALS = [Goal(f"series that come and go{with_all}: {what} after 30 days ≤ {GROWN} × the first day", growth(field, rows), at_most=GROWN, unit="×")
         for rows, with_all in (("days", ""), ("kept", ", all points kept"))
         for field, what in (("anonymous", "memory"), ("start_s", "a start"), ("query_us", "a query"))
         if (rows, field) != ("kept", "start_s")]  # a start reads all series
