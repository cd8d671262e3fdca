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
import { readEvents, readPage } from '../src/audit/audit-log.ts';
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

/** Moves the first events of a chain to 31 days ago, as if they had been recorded then. */
async function age(organizationId: string, upTo: number): Promise<void> {
  let previous_hash = CHAIN_START;
  for (const event of await chainOf(organizationId)) {
    const time = new Date(Date.parse(event.occurred_at) - (event.sequence <= upTo ? 31 * 86_400_000 : 0));
    const moved = { ...event, previous_hash, occurred_at: time.toISOString() };
    previous_hash = hashEvent(moved);
    await tamper(`UPDATE audit_event SET occurred_at = '${moved.occurred_at}', hash = decode('${previous_hash}', 'hex'),
      previous_hash = decode('${moved.previous_hash}', 'hex')
      WHERE organization_id = '${organizationId}' AND sequence = ${event.sequence}`);
  }
  await tamper(`UPDATE audit_head SET hash = decode('${previous_hash}', 'hex')
    WHERE organization_id = '${organizationId}'`);
}

async function openKeys(encryptionKeys = randomBytes(32).toString('base64')): Promise<AuditKeys> {
  const keys = new AuditKeys({ prisma: database.prisma, cipher: new Cipher(encryptionKeys), logger });
  await keys.start();
  return keys;
}

const verifyWith = (keys: AuditKeys, organizationId: string, earlier?: string) =>
  verifyChain(database.prisma, keys, organizationId, { earlier, signal: new AbortController().signal });

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

it('an event larger than the event bus carries is whole in the trail, and published with all but its content', async () => {
  const organizationId = uuidv7();
  const members = Array.from({ length: 30_000 }, () => uuidv7());
  await record(organizationId, { before: { members: [] }, after: { members } }, {});
  const [large, small] = await chainOf(organizationId);
  expect(large!.after).toEqual({ members });
  expect(hashEvent(large!)).toBe(large!.hash);
  const outbox = await database.prisma.outbox.findMany({ where: { key: organizationId }, orderBy: { id: 'asc' } });
  const details = { left_out_bytes: Buffer.byteLength(JSON.stringify(large)) };
  const published = [{ ...large, before: null, after: null, details }, small];
  expect(outbox.map(({ event }) => (event as { data: unknown }).data)).toEqual(published);
});

it('a page of large events ends early, and so do the parts of an export: together they leave none out', async () => {
  const organizationId = uuidv7();
  const after = { text: 'x'.repeat(1_000_000) };
  for (let index = 0; index < 10; index++) await record(organizationId, { after }, {});
  const sizes: number[] = [];
  const seen: number[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await readPage(database.prisma, organizationId, {}, { limit: 500, cursor });
    seen.push(...page.items.map(({ sequence }) => sequence));
    sizes.push(page.items.length);
    cursor = page.cursor;
  }
  expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => 20 - index));
  expect(sizes).toEqual([17, 3]);
  const parts: number[][] = [];
  for await (const events of readEvents(database.prisma, organizationId, { after: 0, upTo: 20 }))
    parts.push(events.map(({ sequence }) => sequence));
  expect(parts.map(({ length }) => length)).toEqual([16, 4]);
  expect(parts.flat()).toEqual(seen.toReversed());
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
  const verify = (keys: AuditKeys, earlier?: string) => verifyWith(keys, organizationId, earlier);
  await record(organizationId, {}, {}, {});
  await age(organizationId, 2);
  const keys = await openKeys(oldKey);
  const before = (await verify(keys)).checkpoint!;
  await new AuditRetention({ database, keys, days: 30, logger: logger }).run();

  const events = await chainOf(organizationId);
  expect(events.map(({ sequence, action }) => [sequence, action])).toEqual([
    [3, 'test.done'],
    [4, 'audit_log.trimmed'],
  ]);
  // The first key is in the list until it has been started with once.
  await openKeys(`${newKey},${oldKey}`);
  const rotated = await openKeys(newKey);
  expect(await verify(rotated, before)).toMatchObject({ valid: true, events: 2, removed_up_to: 2 });
  await tamper(`DELETE FROM audit_event WHERE sequence = 3 AND organization_id = '${organizationId}'`);
  expect(await verify(rotated)).toMatchObject({ valid: false, fault: { sequence: 3, reason: 'missing' } });
});

it('a signed position that is called a cut of retention is none: the removed events are missing', async () => {
  const organizationId = uuidv7();
  await record(organizationId, {}, {}, {});
  const keys = await openKeys();
  await new AuditRetention({ database, keys, days: 30, logger }).run();
  await tamper(`UPDATE audit_checkpoint SET is_retention = true WHERE organization_id = '${organizationId}'`);
  await tamper(`DELETE FROM audit_event WHERE organization_id = '${organizationId}'`);
  expect(await verifyWith(keys, organizationId)).toMatchObject({
    valid: false,
    fault: { sequence: 1, reason: 'missing' },
    removed_up_to: null,
  });
});

it('a kept position is reported when retention removed its event, and speaks against a cut through younger ones', async () => {
  const organizationId = uuidv7();
  const keys = await openKeys();
  await record(organizationId, {});
  await age(organizationId, 1);
  const kept = (await verifyWith(keys, organizationId)).checkpoint!;
  await record(organizationId, {}, {});
  await new AuditRetention({ database, keys, days: 30, logger }).run();
  const trimmed = await verifyWith(keys, organizationId, kept);
  expect(trimmed).toMatchObject({ valid: true, removed_up_to: 1, checkpoint_removed: true });
  // The second event looks old, but it was recorded after the position had been signed.
  await tamper(`DELETE FROM audit_checkpoint WHERE organization_id = '${organizationId}'`);
  const hour = 3_600_000;
  const before = new Date(Date.now() - 31 * 24 * hour).toISOString();
  const cut = await keys.sign({
    organization_id: organizationId,
    sequence: 2,
    hash: (await chainOf(organizationId))[0]!.hash,
    signed_at: new Date().toISOString(),
    kind: 'retention',
    removed_before: before,
  });
  await database.pool.query(
    `INSERT INTO audit_checkpoint (organization_id, sequence, hash, signature, is_retention, created_at)
     VALUES ($1, 2, decode('00', 'hex'), $2, true, now())`,
    [organizationId, cut],
  );
  expect(await verifyWith(keys, organizationId, kept)).toMatchObject({
    valid: false,
    fault: { sequence: 2, reason: 'missing' },
  });
});

it('retention keeps events that only look old, and says so', async () => {
  const organizationId = uuidv7();
  const keys = await openKeys();
  await record(organizationId, {}, {});
  await tamper(`UPDATE audit_event SET occurred_at = occurred_at - interval '31 days'
    WHERE organization_id = '${organizationId}' AND sequence = 2`);
  await new AuditRetention({ database, keys, days: 30, logger }).run();
  expect(await chainOf(organizationId)).toHaveLength(2);
  expect(await verifyWith(keys, organizationId)).toMatchObject({ fault: { sequence: 2, reason: 'changed' } });
  // With hashes that fit, the position that was signed meanwhile speaks against it.
  const other = uuidv7();
  await record(other, {});
  await new AuditRetention({ database, keys, days: 30, logger }).run();
  await record(other, {});
  await age(other, 2);
  await new AuditRetention({ database, keys, days: 30, logger }).run();
  expect(await chainOf(other)).toHaveLength(2);
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
