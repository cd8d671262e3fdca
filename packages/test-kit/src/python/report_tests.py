"""A plugin of pytest that writes one JSON line per test: what vitest shows and counts."""

import json
import os


def pytest_runtest_logreport(report):
    if report.when != "call" and not report.failed:
        return
    _write({"name": report.nodeid, "passed": report.passed, "failure": report.longreprtext})


def pytest_collectreport(report):
    """A file that cannot be imported has no tests to count, and still is a failure."""
    if report.failed:
        _write({"name": report.nodeid, "passed": False, "failure": report.longreprtext})


def _write(line):
    with open(os.environ["RUNYARD_PYTEST_REPORT"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
