import { fileURLToPath } from 'node:url';
import { type ObjectRemovals, ObjectStorageUnavailableError, pendingObjects } from '@runyard/object-storage';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../src/database/database.ts';
import { openRemovals } from './support/object-removals.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: testDatabase.url, poolSize: 4, migrationsDir });
});
afterAll(async () => {
  await database?.close();
  await testDatabase?.close();
});

let objects: Set<string>;
/** Returns the error with which the storage refuses to remove an object; undefined when it removes it. */
let refusal: (key: string) => Error | undefined;
let removals: ObjectRemovals;
beforeEach(async () => {
  await database.prisma.$executeRaw`DELETE FROM object_removal`;
  objects = new Set();
  refusal = () => undefined;
  removals = openRemovals(database, {
    async remove(key) {
      const error = refusal(key);
      if (error) throw error;
      objects.delete(key);
    },
  });
});

async function put(...keys: string[]): Promise<void> {
  for (const key of keys) {
    await removals.record(key);
    objects.add(key);
  }
}
const keep = (...keys: string[]) => database.transact((transaction) => pendingObjects.assignOwner(transaction, keys));
const release = (...keys: string[]) =>
  database.transact((transaction) => pendingObjects.removeOwner(transaction, keys));
const noted = async () => {
  const rows = await database.prisma.$queryRaw<{ key: string }[]>`SELECT key FROM object_removal ORDER BY key`;
  return rows.map(({ key }) => key);
};
const away = () => new ObjectStorageUnavailableError(new Error('away'));

it('an object with an owner is not removed, even if its upload was given up', async () => {
  await put('a', 'b');
  await keep('a');
  await removals.abandon(['a', 'b']);
  await removals.sweep();
  expect([[...objects], await noted()]).toEqual([['a'], []]);
});

it('an object that is being uploaded stays, and one without an owner is removed after a day', async () => {
  await put('a', 'b');
  await database.prisma.$executeRaw`UPDATE object_removal SET due_at = due_at - interval '26 hours' WHERE key = 'a'`;
  await removals.sweep();
  expect([[...objects], await noted()]).toEqual([['b'], ['b']]);
});

it('an object that could not be removed during an outage is removed after it', async () => {
  await put('a', 'b');
  await keep('a', 'b');
  await release('a', 'b');
  refusal = away;
  await removals.remove(['a', 'b']);
  await expect(removals.sweep()).rejects.toThrow('The object storage could not be reached');
  expect([...objects]).toEqual(['a', 'b']);
  refusal = () => undefined;
  await removals.sweep();
  expect([[...objects], await noted()]).toEqual([[], []]);
});

it('an object that the storage refuses to remove does not keep others from being removed', async () => {
  const keys = Array.from({ length: 150 }, (_, index) => `object ${String(index).padStart(3, '0')}`);
  for (const key of keys) objects.add(key);
  await release(...keys);
  refusal = (key) => (key === 'object 007' ? new Error('Access Denied') : undefined);
  await removals.sweep();
  expect([[...objects], await noted()]).toEqual([['object 007'], ['object 007']]);
});

it('an object whose removal has begun gets no owner', async () => {
  await put('a');
  await removals.abandon(['a']);
  refusal = away;
  await expect(removals.sweep()).rejects.toThrow();
  await expect(keep('a')).rejects.toThrow('is being removed');
});

it('an object that is about to get an owner is not removed', async () => {
  await put('a');
  await removals.abandon(['a']);
  await database.transact(async (transaction) => {
    await pendingObjects.assignOwner(transaction, ['a']);
    await removals.sweep();
  });
  expect([[...objects], await noted()]).toEqual([['a'], []]);
});
