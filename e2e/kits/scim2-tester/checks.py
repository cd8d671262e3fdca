"""Runs scim2-tester against the SCIM endpoint and with the token of its environment, and prints each check as a line."""

import json
import os

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

# The kit tells what breaks an RFC (ERROR) from what leaves its recommendations (DEVIATION). Both count as failures.
FAILED = {Status.ERROR, Status.CRITICAL, Status.DEVIATION}

headers = {"Authorization": f"Bearer {os.environ['SCIM_TOKEN']}"}
with Client(base_url=os.environ["SCIM_URL"], headers=headers) as client:
    for result in check_server(SyncSCIMClient(client)):
        outcome = "failed" if result.status in FAILED else "skipped" if result.status == Status.SKIPPED else "passed"
        name = " ".join(filter(None, [result.resource_type, result.title]))
        print(json.dumps({"name": name, "outcome": outcome, "detail": str(result.reason or "")}))
