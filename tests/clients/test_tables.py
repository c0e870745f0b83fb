"""DuckDB and pandas read the report's CSV and JSON as they are."""
import json
import subprocess

from support import BUILD, ROOT, SAMPLES, warpwatch

PYTHON = BUILD / "venv" / "tables" / "bin" / "python"


def test_duckdb_and_pandas_read_csv_and_json(simulated, tmp_path):
    assert PYTHON.exists(), "tables could not be fetched: see build/tables.log"
    run = simulated([SAMPLES / "decode"])
    csv, page = tmp_path / "report.csv", tmp_path / "report.json"
    warpwatch("report", "--format", "csv", "-o", csv, run.output)
    warpwatch("report", "--format", "json", "-o", page, run.output)
    done = subprocess.run([PYTHON, ROOT / "tests" / "clients" / "tables_program.py", csv, page], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    report = json.loads(page.read_text())
    launches = report["totals"]["launches"]
    assert found["duckdb"]["launches"] == found["duckdb"]["nested"] == launches
    assert found["pandas"]["launches"] == found["pandas"]["nested"] == launches
    assert found["duckdb"]["kernels"] == report["totals"]["kernels"]
    assert found["duckdb"]["worst"] == report["kernels"][0]["short_name"]
    assert found["pandas"]["rows"] == report["totals"]["configurations"] and found["pandas"]["unknown"]
    types = found["duckdb"]["types"]
    assert types["launches"] == "BIGINT" and types["waves"] == "DOUBLE" and types["device_simulated"] == "BOOLEAN"
