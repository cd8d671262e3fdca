"""The audit trail of an organization: its records are events, which form a chain of hashes."""

import hashlib
import json
import os
import uuid

import httpx
from agmi.adapters.base import MemoryAdapter, Record
from stored_rows import StoredRows

TABLES = ["audit_event", "audit_head", "audit_checkpoint"]
AUDIT_LOGS = "/api/v1/orgs/current/audit-logs"
PLACE = ("organization_id", "sequence", "id")
HASHES = ("previous_hash", "hash")


class Organization:
    def __init__(self, name):
        self.id = os.environ[f"{name}_ID"]
        self.client = httpx.Client(
            base_url=os.environ["PLATFORM_URL"], headers={"x-api-key": os.environ[f"{name}_KEY"]}, timeout=30
        )

    def add_event(self, description):
        path = "/v1/platform/orgs/current/scim/tokens"
        self.client.post(path, json={"description": description}).raise_for_status()


class AuditTrail(MemoryAdapter):
    """The trail on its own: who writes to the database writes the head of the chain too."""

    name = "audit trail"
    detection_point = "audit"
    edits = None
    keeps_checkpoint = False
    supports_replay = True
    supports_metadata = True
    supports_snapshot = True

    def __init__(self):
        self._rows = StoredRows(os.environ["ORG_ACCESS_DATABASE_URL"])
        self._victim, self._other = Organization("VICTIM"), Organization("OTHER")
        self._before = []
        self._kept = None

    def setup(self):
        self._kept = None
        self._before = [(each, self._copy(each)) for each in (self._victim, self._other)]

    def teardown(self):
        for organization, copy in self._before:
            self._rows.restore(copy, "organization_id = %s", [organization.id])

    def seed(self, n):
        for index in range(n):
            self._victim.add_event(f"event {index}")
        self._keep_checkpoint()

    def seed_other(self, n):
        for index in range(n):
            self._other.add_event(f"event of another organization {index}")

    def append_genuine(self):
        self._victim.add_event("a later event")
        self._keep_checkpoint()

    def read_all_raw(self):
        return self._read(self._victim)

    def read_other_raw(self):
        return self._read(self._other)

    def write_raw(self, record):
        if record.seq < len(self.read_all_raw()):
            self.replay_onto(record.seq, record)
        else:
            self._rows.insert("audit_event", record.fields)
            self._fit_head()

    def replay_onto(self, victim_seq, donor):
        fields = self.read_all_raw()[victim_seq].fields
        self._replace({**donor.fields, **{name: fields[name] for name in PLACE}})

    def delete_raw(self, seq):
        self._delete(self.read_all_raw()[seq].fields)
        self._fit_head()

    def mutate_payload(self, record):
        record.fields["resource_id"] = str(uuid.uuid4())
        return record

    def forge_record(self, template):
        """Makes an event as the service does: its hash needs no key."""
        page = self._victim.client.get(AUDIT_LOGS, params={"limit": 1}).raise_for_status().json()
        place = {"sequence": template.fields["sequence"] + 1, "id": str(uuid.uuid4())}
        changed = {**place, "resource_id": str(uuid.uuid4())}
        event = {**page["items"][0], **changed}
        content = {name: value for name, value in event.items() if value is not None and name not in HASHES}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        previous = template.fields["hash"]
        digest = hashlib.sha256(bytes.fromhex(previous.removeprefix("\\x")) + text.encode()).hexdigest()
        hashes = {"previous_hash": previous, "hash": f"\\x{digest}"}
        return Record(template.seq + 1, {**template.fields, **changed, **hashes})

    def read_meta(self, seq):
        return {"details": self.read_all_raw()[seq].fields["details"]}

    def write_meta(self, seq, meta):
        self._replace({**self.read_all_raw()[seq].fields, "details": meta})

    def identity_of(self, record):
        return f"{record.fields['organization_id']} {record.fields['sequence']}"

    def payload_of(self, record):
        left_out = (*PLACE, *HASHES, "details")
        return json.dumps({name: value for name, value in record.fields.items() if name not in left_out}, sort_keys=True)

    def owner_of(self, record):
        return record.fields["organization_id"]

    def snapshot_store(self):
        return self._copy(self._victim)

    def restore_store(self, token):
        self._rows.restore(token, "organization_id = %s", [self._victim.id])

    def reload(self):
        """Each verification reads the database."""

    def verify(self):
        verification = self._verify()
        self.verify_detail = json.dumps(verification["fault"])
        return verification["valid"]

    def _verify(self):
        parameters = {"checkpoint": self._kept} if self._kept else {}
        return self._victim.client.get(f"{AUDIT_LOGS}/verify", params=parameters).raise_for_status().json()

    def _keep_checkpoint(self):
        if self.keeps_checkpoint:
            self._kept = self._verify()["checkpoint"]

    def _copy(self, organization):
        return self._rows.copy(TABLES, "organization_id = %s", [organization.id])

    def _read(self, organization):
        found = self._rows.query(
            "SELECT to_jsonb(e) FROM audit_event e WHERE organization_id = %s ORDER BY sequence", [organization.id]
        )
        return [Record(seq, row) for seq, (row,) in enumerate(found)]

    def _delete(self, fields):
        self._rows.execute(
            "DELETE FROM audit_event WHERE organization_id = %s AND sequence = %s",
            [fields["organization_id"], fields["sequence"]],
        )

    def _replace(self, fields):
        self._delete(fields)
        self._rows.insert("audit_event", fields)
        self._fit_head()

    def _fit_head(self):
        self._rows.execute(
            """UPDATE audit_head h SET sequence = e.sequence, hash = e.hash FROM audit_event e
               WHERE h.organization_id = %s AND e.organization_id = h.organization_id
                 AND e.sequence = (SELECT max(sequence) FROM audit_event WHERE organization_id = h.organization_id)""",
            [self._victim.id],
        )


class AuditTrailWithCheckpoint(AuditTrail):
    """The trail of somebody who keeps a signed checkpoint elsewhere, after each event."""

    name = "audit trail, checkpoint kept"
    keeps_checkpoint = True
