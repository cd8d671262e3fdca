"""Edits stored rows behind the platform's back with agent-memory-integrity, and prints each edit as a line.

An edit passes if the platform says that it is there: it refuses to serve what was edited, or its verification names it.
"""

import json

from agmi.attacks.at_rest import AT_REST_ATTACKS_WITH_SNAPSHOT
from agmi.check import LABELS, verdict
from audit_adapter import AuditTrail, AuditTrailWithCheckpoint
from thread_adapter import EncryptedThread, PlainTextInEncryptedThread

# An edit that did not land is a fault of the adapter, and shows nothing.
OUTCOMES = {"REJECTED": "passed", "REPORTED": "passed", "NOT EVALUABLE": "skipped"}

for adapter in (EncryptedThread(), PlainTextInEncryptedThread(), AuditTrail(), AuditTrailWithCheckpoint()):
    for attack in AT_REST_ATTACKS_WITH_SNAPSHOT:
        if adapter.edits is None or attack.name in adapter.edits:
            result = attack().run(adapter)
            found = verdict(result, adapter)
            detail = f"{found}: {result.guard or result.error or result.detail}"
            name = f"{adapter.name}: {LABELS[attack.name]}"
            print(json.dumps({"name": name, "outcome": OUTCOMES.get(found, "failed"), "detail": detail}), flush=True)
