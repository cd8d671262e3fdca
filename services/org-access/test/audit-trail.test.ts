import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { CHAIN_START, hashEvent } from '@runyard/audit-chain';
import { Cipher } from '@runyard/encryption';
import { createLogger } from '@runyard/service-kit';
import { createTestDatabase, type TestDatabase, withDatabaseClient } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renderEvent } from '../src/audit/audit-event.ts';
import { AuditKeys } from '../src/audit/audit-keys.ts';
import { AuditRetention } from '../src/audit/audit-retention.ts';
import { audited } from '../src/audit/audit-trail.ts';
import { actAs } from '../src/audit/change-origin.ts';
import { verifyChain } from '../src/audit/verify-chain.ts';
import { type Database, openDatabase } from '../src/database/database.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const logger = createLogger({ service: 'test', level: 'silent', json: true });
const ENTRY = { action: 'test.done', resourceType: 'test', resourceId: null };

let file: TestDatabase;
let database: Database;
beforeAll(async () => {
  file = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: file.url, poolSize: 4, migrationsDir });
});
afterAll(async () => {
  await database?.close();
  await file?.close();
});

const record = (organizationId: string, ...entries: object[]) =>
  database.transact(
    audited(async (_, audit) => {
      for (const entry of entries) audit.record(organizationId, { ...ENTRY, ...entry });
    }),
  );

/** Changes the database as somebody who ignores the trigger. */
const tamper = (statement: string) =>
  withDatabaseClient(file.url, async (client) => {
    await client.query('SET session_replication_role = replica');
    await client.query(statement);
  });

const chainOf = async (organizationId: string) =>
  (await database.prisma.auditEvent.findMany({ where: { organizationId }, orderBy: { sequence: 'asc' } })).map(
    renderEvent,
  );

it('the audit trail is one chain per organization without gaps, however many transactions add to it at once', async () => {
  const organizationId = uuidv7();
  const actor = { actorKind: 'person', actorId: uuidv7(), credentialId: null } as const;
  const writers = Array.from({ length: 20 }, (_, index) =>
    actAs(actor, () => record(organizationId, { details: { index } }, {})),
  );
  await Promise.all(writers);
  const events = await chainOf(organizationId);
  expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  let previous = CHAIN_START;
  for (const event of events) {
    expect(event).toMatchObject({ actor_id: actor.actorId, person_id: actor.actorId, previous_hash: previous });
    expect(hashEvent(event)).toBe(event.hash);
    previous = event.hash;
  }
  const times = events.map(({ occurred_at }) => occurred_at);
  expect(times).toEqual([...times].sort());
  const outbox = await database.prisma.outbox.findMany({ where: { key: organizationId }, orderBy: { id: 'asc' } });
  expect(outbox.map(({ topic, event }) => [topic, (event as { data: unknown }).data])).toEqual(
    events.map((event) => ['runyard.audit', event]),
  );
});

it('an event has the same hash after it was stored, whatever its values are', async () => {
  const organizationId = uuidv7();
  const after = {
    numbers: [1e21, -0, 0.1, 1e-7, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, Number.NaN],
    texts: ['é', 'e\u0301', '𝒳', 'a\u0000b', '\ud800', '"\\/\u2028'],
    date: new Date(0),
    nothing: undefined,
    empty: {},
    z: { b: [null, true], a: 1 },
    'k\u0000': 1,
  };
  await record(organizationId, { after, resourceId: 'a\u0000b' });
  const [event] = await chainOf(organizationId);
  expect(hashEvent(event!)).toBe(event!.hash);
  expect(event).toMatchObject({ resource_id: 'a\ufffdb', after: { date: '1970-01-01T00:00:00.000Z' } });
});

it('a transaction that is rolled back leaves nothing in the audit trail', async () => {
  const organizationId = uuidv7();
  const failing = database.transact(
    audited(async (_, audit) => {
      audit.record(organizationId, ENTRY);
      throw new Error('no');
    }),
  );
  await expect(failing).rejects.toThrow('no');
  expect(await chainOf(organizationId)).toEqual([]);
});

it.each(['UPDATE audit_event SET action = $$x$$', 'DELETE FROM audit_event', 'TRUNCATE audit_event'])(
  'the database refuses %s',
  async (statement) => {
    await record(uuidv7(), {});
    await expect(database.pool.query(statement)).rejects.toThrow('audit events are only added');
  },
);

it('retention removes the oldest events behind a signed position, which outlives a new encryption key', async () => {
  const organizationId = uuidv7();
  const [oldKey, newKey] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const keysWith = async (encryptionKeys: string) => {
    const keys = new AuditKeys({ prisma: database.prisma, cipher: new Cipher(encryptionKeys), logger: logger });
    await keys.start();
    return keys;
  };
  const verify = async (keys: AuditKeys, earlier?: string) => {
    const signal = new AbortController().signal;
    return verifyChain(database.prisma, keys, organizationId, { earlier, signal });
  };
  await record(organizationId, {}, {}, {});
  const keys = await keysWith(oldKey);
  const before = (await verify(keys)).checkpoint!;
  await database.pool.query('ALTER TABLE audit_event DISABLE TRIGGER USER');
  await database.pool.query(
    "UPDATE audit_event SET occurred_at = now() - interval '31 days' WHERE sequence <= 2 AND organization_id = $1",
    [organizationId],
  );
  await database.pool.query('ALTER TABLE audit_event ENABLE TRIGGER USER');
  await new AuditRetention({ database, keys, days: 30, logger: logger }).run();

  const events = await chainOf(organizationId);
  expect(events.map(({ sequence, action }) => [sequence, action])).toEqual([
    [3, 'test.done'],
    [4, 'audit_log.trimmed'],
  ]);
  // The first key is in the list until it has been started with once.
  await keysWith(`${newKey},${oldKey}`);
  const rotated = await keysWith(newKey);
  expect(await verify(rotated, before)).toMatchObject({ valid: true, events: 2, removed_up_to: 2 });
  await tamper(`DELETE FROM audit_event WHERE sequence = 3 AND organization_id = '${organizationId}'`);
  expect(await verify(rotated)).toMatchObject({ valid: false, fault: { sequence: 3, reason: 'missing' } });
});

it('an end that is cut off with its head shows against the position that was signed that day', async () => {
  const organizationId = uuidv7();
  const keys = new AuditKeys({
    prisma: database.prisma,
    cipher: new Cipher(randomBytes(32).toString('base64')),
    logger: logger,
  });
  await keys.start();
  await record(organizationId, {}, {});
  await new AuditRetention({ database, keys, days: 30, logger: logger }).run();
  const [first] = await chainOf(organizationId);
  await tamper(`DELETE FROM audit_event WHERE sequence = 2 AND organization_id = '${organizationId}'`);
  await tamper(`UPDATE audit_head SET sequence = 1, hash = decode('${first!.hash}', 'hex')
    WHERE organization_id = '${organizationId}'`);
  const signal = new AbortController().signal;
  expect(await verifyChain(database.prisma, keys, organizationId, { earlier: undefined, signal })).toMatchObject({
    valid: false,
    fault: { sequence: 2, reason: 'missing' },
  });
});
