"""What the tests of the official Python clients share: the deployment under test."""

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
def client_of(url):
    """Makes the client of a user whom the project's own code knows by a token."""

    def make(token):
        return get_sync_client(url=url, api_key=None, headers={"authorization": f"Bearer {token}"})

    return make


@pytest.fixture
def thread_id(client):
    return client.threads.create()["thread_id"]


@pytest.fixture
def mark():
    """A value no other test uses."""
    return str(uuid.uuid4())
