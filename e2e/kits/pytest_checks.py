"""A plugin of pytest that writes each test as a line of JSON into the file CHECKS_FILE, as `runPytest` reads it."""

import json
import os


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        # What fails as its own kit expects has the outcome `skipped`, as the kit counts it.
        check = {"name": report.nodeid, "outcome": report.outcome, "detail": report.longreprtext[-2000:]}
        with open(os.environ["CHECKS_FILE"], "a", encoding="utf-8") as file:
            file.write(json.dumps(check) + "\n")
