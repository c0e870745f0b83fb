"""Reads a report's CSV and JSON with DuckDB and with pandas, and prints what each finds in them, as JSON."""
import json
import sys

import duckdb
import pandas

csv_path, json_path = sys.argv[1:]

rows = duckdb.read_csv(csv_path)
launches, kernels = duckdb.sql("select sum(launches), count(distinct mangled) from rows").fetchall()[0]
worst = duckdb.sql("select short_name from rows order by idle_sm_waves desc limit 1").fetchall()[0][0]
types = dict(zip(rows.columns, map(str, rows.types)))
nested = duckdb.sql(f"""
    select sum(configuration.launches) from (
        select unnest(kernel.configurations) as configuration from (
            select unnest(kernels) as kernel from read_json('{json_path}', maximum_object_size=100000000)))""").fetchall()[0][0]

frame = pandas.read_csv(csv_path)
report = json.load(open(json_path))
flat = pandas.json_normalize(report["kernels"], "configurations", ["mangled"])

print(json.dumps({
    "duckdb": {"launches": int(launches), "kernels": kernels, "worst": worst, "nested": int(nested), "types": types},
    "pandas": {"launches": int(frame.launches.sum()), "rows": len(frame), "nested": int(flat.launches.sum()),
               "unknown": bool(frame.achieved_occupancy.isna().all())},
}))
