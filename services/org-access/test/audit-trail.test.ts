import { fileURLToPath } from 'node:url';
import { CHAIN_START, hashEvent } from '@runyard/audit-chain';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renderEvent } from '../src/audit/audit-event.ts';
import { audited } from '../src/audit/audit-trail.ts';
import { actAs } from '../src/audit/change-origin.ts';
import { type Database, openDatabase } from '../src/database/database.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
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
