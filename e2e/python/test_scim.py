"""SCIM as identity providers see it through the gateway, by the checks of scim2-tester."""

import os

import pytest
from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

PLATFORM = os.environ["RUNYARD_PLATFORM_URL"]
TOKENS = f"{PLATFORM}/v1/platform/orgs/current/scim/tokens"


@pytest.fixture
def scim_token(api_key):
    with Client(headers={"X-Api-Key": api_key}) as client:
        made = client.post(TOKENS, json={"description": "scim2-tester"})
        made.raise_for_status()
        yield made.json()["token"]
        client.delete(f"{TOKENS}/{made.json()['id']}")


def test_scim_conforms(scim_token):
    headers = {"Authorization": f"Bearer {scim_token}"}
    with Client(base_url=f"{PLATFORM}/scim/v2", headers=headers) as client:
        results = check_server(SyncSCIMClient(client))
    faults = [f"{each.resource_type} {each.title}: {each.reason}" for each in results if each.status != Status.SUCCESS]
    assert len(results) > 100
    assert faults == []
