import { EventEmitter } from 'node:events';
import { defineCreation } from '@runyard/contracts';
import { openPool, withTransaction } from '@runyard/database';
import { ClientDisconnectedError, ConflictError, type HandlerRequest, type Principal } from '@runyard/service-kit';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { claimKey, onPg, removeExpiredKeys, settleKeys } from './key-claims.ts';
import { boundFor, type KeyedRequest, keyedRequest } from './keyed-request.ts';

const operation = defineCreation('things', {
  operationId: 'createThing',
  method: 'post',
  path: '/things',
  summary: '',
  tags: [],
  access: 'principal',
  permission: 'any key',
  responses: {},
});
const caller: Principal = {
  kind: 'service_key',
  identity: 'i',
  organizationId: 'o',
  workspaceId: 'w',
  permissions: [],
};
const turned = (bytes: Uint8Array) => Buffer.from(bytes.map((byte) => byte ^ 0xff));
const cipher = { encrypt: turned, decrypt: turned };

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool({ connectionString: database.url, max: 8, applicationName: 'keys-test' });
  await pool.query(`CREATE TABLE thing (n int GENERATED ALWAYS AS IDENTITY, name text);
    CREATE TABLE idempotency_key (id bytea PRIMARY KEY, request_digest bytea NOT NULL, claim uuid NOT NULL, answer bytea,
      claimed_at timestamptz NOT NULL, expires_at timestamptz NOT NULL)`);
});
afterAll(async () => {
  await pool.end();
  await database.close();
});
beforeEach(() => pool.query('TRUNCATE thing, idempotency_key'));

const processOf = (validationErrors: 'text' | 'list' = 'text') =>
  new IdempotencyKeys({ pool, cipher, keptHours: 24, validationErrors });
const things = async () => (await pool.query('SELECT name FROM thing ORDER BY n')).rows.map((row) => row.name);

function asked(keys: string[], body: unknown = 'tea', over: Partial<Principal> = {}) {
  const res = Object.assign(new EventEmitter(), { headers: {} as Record<string, string> });
  const raw = { headers: { 'idempotency-key': keys.join(', ') }, headersDistinct: { 'idempotency-key': keys } };
  const setHeader = (name: string, value: string) => {
    res.headers[name] = value;
  };
  const request = { raw: keys.length > 0 ? raw : { headers: {}, headersDistinct: {} }, params: {}, query: {}, body };
  return Object.assign(request, { caller: { ...caller, ...over }, res: Object.assign(res, { setHeader }) });
}

interface Thing {
  n: number;
  /** True when a request of this process shares it, or the stored answer was returned. */
  isRepeated?: boolean;
}

/** Creates a thing like a service; `before` is awaited inside the transaction. */
function create(
  keys: IdempotencyKeys,
  request: ReturnType<typeof asked>,
  before: () => Promise<void> = async () => {},
) {
  const make = (keyed: KeyedRequest | undefined) =>
    withTransaction(pool, async (client) => {
      if (keyed) await claimKey(onPg(client), keyed);
      await before();
      const { rows } = await client.query('INSERT INTO thing (name) VALUES ($1) RETURNING n', [request.body]);
      const made: Thing = { n: rows[0].n };
      if (keyed) await settleKeys(onPg(client), [{ request: keyed, answer: made }]);
      return made;
    });
  return keys.once(operation, request as unknown as HandlerRequest, {
    create: make,
    repeat: (kept: Thing): Thing => ({ ...kept, isRepeated: true }),
  });
}

/** Makes a gate that holds its callers until it is opened. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let reached: () => void = () => undefined;
  const isReached = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const pass = async () => {
    reached();
    await opened;
  };
  return { open, isReached, pass };
}

describe('an idempotency key', () => {
  it('creates once, and returns the answer of the first request to every further one, in any process', async () => {
    const first = await create(processOf(), asked(['a']));
    const repeated = asked(['a']);
    expect(await create(processOf(), repeated)).toEqual({ n: first.n, isRepeated: true });
    expect(repeated.res.headers).toEqual({ 'idempotent-replayed': 'true' });
    expect(await things()).toEqual(['tea']);
  });

  it('of a person who does something for themselves is theirs wherever they act', async () => {
    const ofPerson = { ...operation, access: 'principal', permission: 'signed-in person' } as const;
    const make = (over: Partial<Principal>) =>
      keyedRequest(ofPerson, asked(['a'], 'tea', { kind: 'session', ...over }) as unknown as HandlerRequest, {
        keptMs: 1,
        cipher,
        validationErrors: 'text',
      })!.id.toString('hex');
    const first = make({ personId: 'p' });
    expect(make({ personId: 'p', organizationId: '', identity: 'p' })).toBe(first);
    expect(make({ personId: 'other' })).not.toBe(first);
  });

  it('is bound only as long as its creation is valid', async () => {
    const request = asked(['a']);
    const give = (ms: number) =>
      processOf().once(operation, request as unknown as HandlerRequest, {
        create: async (keyed) => {
          const bound = boundFor(keyed, ms)!;
          await claimKey(onPg(pool), bound);
          await settleKeys(onPg(pool), [{ request: bound, answer: ms }]);
          return ms;
        },
        repeat: (kept: number) => kept,
      });
    expect([await give(0), await give(60_000), await give(70_000)]).toEqual([0, 60_000, 60_000]);
  });

  it('tells the next attempt that an earlier one died with it', async () => {
    const claims: boolean[] = [];
    const die = () =>
      processOf().once(operation, asked(['a']) as unknown as HandlerRequest, {
        create: async (keyed) => {
          claims.push((await claimKey(onPg(pool), keyed!)).wasClaimed);
          throw new Error('died');
        },
        repeat: () => undefined,
      });
    await expect(die()).rejects.toThrow('died');
    await pool.query("UPDATE idempotency_key SET claimed_at = now() - interval '1 minute'");
    await expect(die()).rejects.toThrow('died');
    expect(claims).toEqual([false, true]);
  });

  it('belongs to one caller: others, and requests without a key, create their own', async () => {
    const keys = processOf();
    await create(keys, asked(['a'], 'mine'));
    await create(keys, asked(['a'], 'of another key', { identity: 'other' }));
    await create(keys, asked(['a'], 'of another workspace', { workspaceId: 'other' }));
    await create(keys, asked([], 'no key'));
    await create(keys, asked([], 'no key'));
    expect(await things()).toHaveLength(5);
  });

  it('sent again with the keys of its body in another order is of the same request, and lists in another are not', async () => {
    const keys = processOf();
    const first = await create(keys, asked(['a'], { name: 'tea', of: [{ a: 1, b: 2 }, 3] }));
    const again = asked(['a'], { of: [{ b: 2, a: 1 }, 3], name: 'tea' });
    expect(await create(keys, again)).toEqual({ n: first.n, isRepeated: true });
    expect(again.res.headers).toEqual({ 'idempotent-replayed': 'true' });
    await expect(create(keys, asked(['a'], { name: 'tea', of: [3, { a: 1, b: 2 }] }))).rejects.toMatchObject({
      status: 422,
    });
  });

  it('of an earlier release, which says nothing about an order, is of a request that came as the first one did', async () => {
    const keys = processOf();
    const { n } = await create(keys, asked(['a'], { b: 1, a: 2 }));
    await pool.query('UPDATE idempotency_key SET claim = gen_random_uuid()');
    expect(await create(keys, asked(['a'], { b: 1, a: 2 }))).toEqual({ n, isRepeated: true });
  });

  it('sent with another body is refused, and nothing is created', async () => {
    const keys = processOf();
    await create(keys, asked(['a']));
    await expect(create(keys, asked(['a'], 'coffee'))).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(/idempotency-key was sent with another request before/),
    });
    await expect(create(processOf('list'), asked(['a'], 'coffee'))).rejects.toMatchObject({
      body: { detail: [{ loc: ['header', 'idempotency-key'], type: 'idempotency_key_error' }] },
    });
    expect(await things()).toEqual(['tea']);
  });

  it.each([[''], ['""'], ['x'.repeat(256)], ['tee\u00e9'], ['tab\there']])('%j is invalid', async (key) => {
    await expect(create(processOf(), asked([key]))).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('idempotency-key'),
    });
  });

  it('may be quoted like a structured header, and must be given once', async () => {
    const first = await create(processOf(), asked(['a "b']));
    expect(await create(processOf(), asked(['"a \\"b"']))).toMatchObject({ n: first.n, isRepeated: true });
    expect(await create(processOf(), asked(['x'.repeat(255)]))).not.toHaveProperty('isRepeated');
    await expect(create(processOf(), asked(['a', 'a']))).rejects.toMatchObject({ status: 422 });
  });

  it('requested by many at once, in two processes, creates once', async () => {
    const processes = [processOf(), processOf()];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => create(processes[index % 2]!, asked(['a']))),
    );
    expect(new Set(answers.map(({ n }) => n)).size).toBe(1);
    expect(answers.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1);
    expect(await things()).toHaveLength(1);
  });

  it('makes the next request wait while its first one is in flight', async () => {
    const held = gate();
    const first = create(processOf(), asked(['a']), held.pass);
    await held.isReached;
    const same = create(processOf(), asked(['a']));
    const other = expect(create(processOf(), asked(['a'], 'coffee'))).rejects.toMatchObject({ status: 422 });
    held.open();
    expect(await same).toMatchObject({ n: (await first).n, isRepeated: true });
    await other;
  });

  it('is not bound by an error: waiting requests share it, and a later request creates', async () => {
    const keys = processOf();
    const held = gate();
    const refuse = async () => {
      await held.pass();
      throw new ConflictError('busy', { code: 'thread_busy' });
    };
    const first = create(keys, asked(['a']), refuse);
    await held.isReached;
    const refused = [first, create(keys, asked(['a']))].map((each) => expect(each).rejects.toThrow('busy'));
    const other = create(keys, asked(['a'], 'coffee'));
    held.open();
    await Promise.all(refused);
    expect(await other).not.toHaveProperty('isRepeated');
    expect(await things()).toEqual(['coffee']);
  });

  it('creates for a client that is there when the first one to send it has left', async () => {
    const keys = processOf();
    const held = gate();
    const leave = async () => {
      await held.pass();
      throw new ClientDisconnectedError();
    };
    const gone = expect(create(keys, asked(['a']), leave)).rejects.toThrow(ClientDisconnectedError);
    await held.isReached;
    const same = create(keys, asked(['a']));
    held.open();
    await gone;
    expect(await same).not.toHaveProperty('isRepeated');
    expect(await things()).toEqual(['tea']);
  });

  it('that was claimed in advance makes others wait, and another process takes it over from a dead one', async () => {
    const [one, another] = [processOf(), processOf()];
    let claimed: KeyedRequest | undefined;
    const made = one.once<string, string>(operation, asked(['a']) as unknown as HandlerRequest, {
      async create(keyed) {
        claimed = keyed!;
        await one.claim(keyed!);
        const waiting = create(another, asked(['a']));
        await pool.query(`UPDATE idempotency_key SET claimed_at = claimed_at - interval '1 minute'`);
        expect(await waiting).not.toHaveProperty('isRepeated');
        await expect(one.settle(keyed!, 'too late')).rejects.toThrow(/claimed/);
        return 'late';
      },
      repeat: (kept) => kept,
    });
    expect(await made).toBe('late');
    await one.release(claimed!);
    expect(await create(one, asked(['a']))).toMatchObject({ isRepeated: true });
  });

  it('shows nothing of the key, the request or the answer in the table', async () => {
    await create(processOf(), asked(['secret key'], 'secret body'));
    const { rows } = await pool.query('SELECT * FROM idempotency_key');
    expect(rows[0].id).toHaveLength(32);
    expect(rows[0].request_digest).toHaveLength(32);
    expect(rows[0].answer.toString()).not.toContain('{');
    expect(JSON.stringify(rows)).not.toContain('secret');
  });

  it('creates again once it has expired, swept or not', async () => {
    await create(processOf(), asked(['a']));
    await create(processOf(), asked(['kept']));
    const expire = `UPDATE idempotency_key SET expires_at = now() WHERE answer IS NOT NULL AND id <> $1`;
    const kept = (await pool.query('SELECT id FROM idempotency_key ORDER BY claimed_at DESC LIMIT 1')).rows[0].id;
    await pool.query(expire, [kept]);
    expect(await create(processOf(), asked(['a'], 'coffee'))).not.toHaveProperty('isRepeated');
    await pool.query(expire, [kept]);
    await removeExpiredKeys(pool);
    expect((await pool.query('SELECT id FROM idempotency_key')).rows).toEqual([{ id: kept }]);
  });
});

it('a name that a request has of itself creates once, is found by it, and is no key of a header', async () => {
  const name = ['a conversation', 'a run'];
  const make = (keys: IdempotencyKeys, body = 'tea') =>
    keys.onceNamed(name, {
      create: (keyed) =>
        withTransaction(pool, async (client) => {
          await claimKey(onPg(client), keyed!);
          const { rows } = await client.query('INSERT INTO thing (name) VALUES ($1) RETURNING n', [body]);
          const made: Thing = { n: rows[0].n };
          await settleKeys(onPg(client), [{ request: keyed!, answer: made }]);
          return made;
        }),
      repeat: (kept: Thing): Thing => ({ ...kept, isRepeated: true }),
    });
  expect(await processOf().findNamed(name)).toBeUndefined();
  const [first, ...others] = await Promise.all([make(processOf()), make(processOf(), 'coffee'), make(processOf())]);
  const { n } = first!;
  expect(others.every((other) => other.n === n)).toBe(true);
  expect(await processOf().findNamed(name)).toEqual({ n });
  expect(await things()).toHaveLength(1);
  expect(await create(processOf(), asked(['a conversation']))).not.toHaveProperty('isRepeated');
});

it('a bound key is not freed by its own request, which did not learn that it had created', async () => {
  const keys = processOf();
  let made: KeyedRequest | undefined;
  await keys.once(operation, asked(['unheard']) as unknown as HandlerRequest, {
    async create(request) {
      made = request;
      await keys.claim(request!);
      await keys.settle(request!, { n: 7 });
      return { n: 7 };
    },
    repeat: (kept: Thing) => kept,
  });
  await keys.release(made!);
  const repeated = await keys.once<Thing, Thing>(operation, asked(['unheard']) as unknown as HandlerRequest, {
    create: () => expect.unreachable('made twice'),
    repeat: (kept) => kept,
  });
  expect(repeated).toEqual({ n: 7 });
  // A creation that was undone may be repeated.
  await keys.unbind(made!);
  await create(keys, asked(['unheard']));
  expect(await things()).toEqual(['tea']);
});
