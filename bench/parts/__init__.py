"""What can be measured: a module each, with TITLE, measure(bench) -> data that JSON can hold, page(data, folder) -> text for
RESULTS.md (it may draw into the folder), and GOALS, which read the data (goals.py)."""
