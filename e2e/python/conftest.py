"""What the tests of the official Python clients share: the deployment under test and the report read by the suite."""

import json
import os
import uuid

import pytest
from langgraph_sdk import get_sync_client


@pytest.fixture(scope="session")
def url():
    return os.environ["RUNYARD_DEPLOYMENT_URL"]


@pytest.fixture(scope="session")
def api_key():
    return os.environ["RUNYARD_API_KEY"]


@pytest.fixture(scope="session")
def client(url, api_key):
    return get_sync_client(url=url, api_key=api_key)


@pytest.fixture
def thread_id(client):
    return client.threads.create()["thread_id"]


@pytest.fixture
def mark():
    """A value no other test uses."""
    return str(uuid.uuid4())


def pytest_runtest_logreport(report):
    """One JSON line per test: what vitest shows and counts."""
    if report.when != "call" and not report.failed:
        return
    line = {"name": report.nodeid, "passed": report.passed, "failure": report.longreprtext}
    with open(os.environ["RUNYARD_PYTEST_REPORT"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
