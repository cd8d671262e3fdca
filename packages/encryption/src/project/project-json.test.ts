import { describe, expect, it, vi } from 'vitest';
import { HANDLERS, MemoryKeys } from '../../test/memory-keys.ts';
import {
  createDataCipher,
  DataKeys,
  EncryptionError,
  EncryptionUnavailableError,
  JSON_PLACES,
  type JsonHandlers,
  JsonTooDeepError,
  KeyUnavailableError,
  NO_ENCRYPTION,
  type PlacedJson,
  ProjectCipher,
} from '../index.ts';

const PLACE = JSON_PLACES.threadMetadata;
const PLAIN = { shown: 'blue', secret_name: 'tea', secret_list: [{ deep: 'kettle' }], thread_id: 't', empty: null };
const LEAK = /tea|kettle/;

const encode = (tenant: unknown, value: unknown) => `${tenant}:${Buffer.from(JSON.stringify(value)).toString('hex')}`;
function decode(tenant: unknown, value: unknown): unknown {
  const [owner, text = ''] = String(value).split(':');
  if (owner !== String(tenant)) throw new Error(`${tenant} cannot read what is of ${owner}`);
  return JSON.parse(Buffer.from(text, 'hex').toString());
}
const map = (data: Record<string, unknown>, change: (key: string, value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, change(key, value)]));

/** Encrypts the keys that begin with `secret`, and all of the platform's that they are given. */
const isSecret = (key: string) => key.startsWith('secret') || key === 'thread_id';
const encrypt: JsonHandlers['encrypt'] = async ({ tenant }, objects) =>
  objects.map(({ data }) => map(data, (key, value) => (isSecret(key) ? encode(tenant, value) : value)));
const decrypt: JsonHandlers['decrypt'] = async ({ tenant }, objects) =>
  objects.map(({ data }) => map(data, (_, value) => decode(tenant, value)));

/** Opens a cipher as a process of the deployment does. */
async function openCipher(store: MemoryKeys, json: Partial<JsonHandlers> | null = {}, variables = {}) {
  const failures: string[] = [];
  const onFailure = (error: unknown) => failures.push((error as Error).message);
  const handlers = { encrypt: vi.fn(json?.encrypt ?? encrypt), decrypt: vi.fn(json?.decrypt ?? decrypt) };
  const keys = new DataKeys({ store, handlers: HANDLERS, onFailure });
  const cipher = new ProjectCipher(keys, variables, onFailure);
  await cipher.open(json === null ? undefined : handlers);
  return { cipher, failures, ...handlers };
}

const store = () => new MemoryKeys();

/** Returns JSON as a process stores it for a tenant. */
async function storeFor<T>(cipher: ProjectCipher, tenant: string, json: T, place = PLACE): Promise<T> {
  return (await cipher.scopeFor({ tenant }))(() => cipher.json.encrypt(json, place));
}

describe('values that handlers of a project encrypt', () => {
  it('are stored encrypted under their own keys, and others as they are', async () => {
    const { cipher, encrypt: asked } = await openCipher(store());
    const stored = await storeFor(cipher, 'ada', PLAIN);
    expect(Object.keys(stored)).toEqual(Object.keys(PLAIN));
    expect(stored).toMatchObject({ shown: 'blue', thread_id: 't', empty: null });
    expect(JSON.stringify(stored)).not.toMatch(LEAK);
    const { thread_id: _, ...offered } = PLAIN;
    expect(asked.mock.calls).toEqual([[{ tenant: 'ada' }, [{ place: PLACE, data: offered }]]]);
  });

  it.each([
    ['rows of columns', (stored: unknown) => [{ metadata: stored }]],
    ['rows of JSON text', (stored: unknown) => [{ metadata: JSON.stringify(stored) }]],
  ])('are decrypted by another process that has seen %s', async (_, toRows) => {
    const keys = store();
    const writer = await openCipher(keys);
    const stored = await storeFor(writer.cipher, 'ada', PLAIN);
    const { cipher, decrypt: asked } = await openCipher(keys);
    expect(() => cipher.json.decrypt(stored)).toThrow(EncryptionError);
    await Promise.all([cipher.loadKeys(toRows(stored)), cipher.loadKeys(toRows(stored))]);
    expect(cipher.json.decrypt(stored)).toEqual(PLAIN);
    expect(cipher.loadKeys(toRows(stored))).toBeUndefined();
    expect(
      asked.mock.calls.map(([metadata, objects]) => [metadata, objects.map(({ data }) => Object.keys(data))]),
    ).toEqual([[{ tenant: 'ada' }, [['secret_name', 'secret_list']]]]);
  });

  it('of several contexts in one object are each decrypted in their own', async () => {
    const keys = store();
    const { cipher: writer } = await openCipher(keys);
    const merged = {
      ...(await storeFor(writer, 'ada', { secret_a: 1, secret_b: 2 })),
      ...(await storeFor(writer, 'bob', { secret_b: 3 })),
    };
    const { cipher } = await openCipher(keys);
    await cipher.loadKeys([{ metadata: merged }]);
    expect(cipher.json.decrypt(merged)).toEqual({ secret_a: 1, secret_b: 3 });
  });

  it('are asked for in one message for each context of a result, and of what is written at once', async () => {
    const keys = store();
    const writer = await openCipher(keys);
    const inScope = await writer.cipher.scopeFor({ tenant: 'ada' });
    const rows = await inScope(() =>
      Promise.all([1, 2, 3].map((n) => writer.cipher.json.encrypt({ secret: n }, JSON_PLACES.storeValue))),
    );
    rows.push(await storeFor(writer.cipher, 'bob', { secret: 4 }));
    expect(writer.encrypt.mock.calls.map(([, objects]) => objects.length)).toEqual([3, 1]);
    // Once for each context, to find handlers that do not decrypt what they encrypt.
    expect(writer.decrypt).toHaveBeenCalledTimes(2);
    const { cipher, decrypt: asked } = await openCipher(keys);
    await cipher.loadKeys(rows);
    expect(cipher.json.decrypt(rows)).toEqual([{ secret: 1 }, { secret: 2 }, { secret: 3 }, { secret: 4 }]);
    expect(asked.mock.calls.map(([, objects]) => objects.length).sort()).toEqual([1, 3]);
  });

  it('are divided among messages when there are many', async () => {
    const keys = store();
    const writer = await openCipher(keys);
    const inScope = await writer.cipher.scopeFor({ tenant: 'ada' });
    const all = Array.from({ length: 250 }, (_, n) => ({ secret: n }));
    const rows = await inScope(() => Promise.all(all.map((each) => writer.cipher.json.encrypt(each, PLACE))));
    expect(writer.encrypt.mock.calls.map(([, objects]) => objects.length)).toEqual([100, 100, 50]);
    const { cipher } = await openCipher(keys);
    await cipher.loadKeys(rows);
    expect(cipher.json.decrypt(rows)).toEqual(all);
  });

  it('cannot be imitated: text of a client that looks like one comes back as that text', async () => {
    const keys = store();
    const { cipher } = await openCipher(keys);
    const { secret } = await storeFor(cipher, 'ada', { secret: 'of somebody else' });
    const stored = await storeFor(cipher, 'bob', { note: secret, deep: [{ note: secret }] });
    const reader = await openCipher(keys);
    await reader.cipher.loadKeys([stored]);
    expect(reader.cipher.json.decrypt(stored)).toEqual({ note: secret, deep: [{ note: secret }] });
    expect(reader.decrypt).not.toHaveBeenCalled();
  });

  it('may be inside of what the handlers left, at every depth, and are asked for together', async () => {
    const keys = store();
    const writer = await openCipher(keys);
    const json = { deep: [{ secret_a: 'tea' }, { deeper: { secret_a: 'kettle', secret_b: 'tea', left: [1] } }], n: 1 };
    const stored = await storeFor(writer.cipher, 'ada', json);
    expect(JSON.stringify(stored)).not.toMatch(LEAK);
    expect(stored).toMatchObject({ n: 1, deep: [{}, { deeper: { left: [1] } }] });
    expect(writer.encrypt.mock.calls.map(([, objects]) => objects.length)).toEqual([1, 3]);
    expect(await writer.cipher.json.findEncryptedKey({ deep: { secret_a: 1 } }, PLACE)).toBe('secret_a');
    const { cipher, decrypt: asked } = await openCipher(keys);
    await cipher.loadKeys([{ metadata: stored }]);
    expect(cipher.json.decrypt(stored)).toEqual(json);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('may be chosen beside LANGGRAPH_AES_JSON_KEYS, in keys of the prototype as well', async () => {
    const keys = store();
    const { cipher } = await openCipher(keys, {}, { aesJsonKeys: 'note' });
    const json = JSON.parse('{"__proto__": "tea", "note": "kettle", "secret": "tea", "deep": {"note": "kettle"}}');
    const all = await openCipher(keys, {
      encrypt: async (_, objects) => objects.map(({ data }) => map(data, (_key, value) => encode('ada', value))),
    });
    for (const writer of [cipher, all.cipher]) {
      const stored = await storeFor(writer, 'ada', json);
      expect(Object.keys(stored)).toEqual(Object.keys(json));
      const reader = await openCipher(keys);
      await reader.cipher.loadKeys([stored]);
      expect(JSON.stringify(reader.cipher.json.decrypt(stored))).toBe(JSON.stringify(json));
    }
  });

  it('need no handler where there is nothing to encrypt', async () => {
    const { cipher, encrypt: asked } = await openCipher(store());
    for (const json of [{}, { thread_id: 't', langgraph_host: 'h' }, [], null]) {
      expect(cipher.json.encrypt(json, PLACE)).toBe(json);
    }
    expect(asked).not.toHaveBeenCalled();
    expect(cipher.json.isEncrypting).toBe(true);
    expect((await openCipher(store(), null)).cipher.json).toMatchObject({ isEncrypting: false, hasHandlers: false });
  });

  it('are found in what a search names, in operands of operators too', async () => {
    const { cipher } = await openCipher(store());
    const find = async (filter: unknown) => cipher.json.findEncryptedKey(filter, JSON_PLACES.storeValue);
    expect(await find({ shown: 1, secret: 2 })).toBe('secret');
    expect(await find({ shown: { $gt: 1, $lt: 3 }, secret: { $in: [1, 2] } })).toBe('secret');
    expect(await find({ shown: { $in: [1, 2] } })).toBeUndefined();
    expect(await find(undefined)).toBeUndefined();
  });

  it('stay undecryptable once the project has no such handlers any more, and the error says why', async () => {
    const keys = store();
    const stored = await storeFor((await openCipher(keys)).cipher, 'ada', { secret: 1, shown: 2 });
    const { cipher } = await openCipher(keys, null);
    await cipher.loadKeys([stored]);
    expect(() => cipher.json.decrypt(stored)).toThrow('has no decrypt.json any more');
    expect(cipher.json.decryptListed(stored)).toMatchObject({ secret: { __error__: {} }, shown: 2 });
    expect(() => createDataCipher('k'.repeat(32)).json.decrypt(stored)).toThrow('"encryption.path" any more');
    expect(NO_ENCRYPTION.json.decrypt(stored)).toBe(stored);
  });
});

describe('handlers for JSON that fail', () => {
  const away = async () => {
    throw new Error('the key service is away');
  };

  it.each<[string, Partial<JsonHandlers>]>([
    ['the key service is away', { encrypt: away }],
    ['no luck', { encrypt: async (_, objects) => objects.map(() => new Error('no luck')) }],
    ['encrypt.json added or dropped keys', { encrypt: async (_, objects) => objects.map(() => ({})) }],
    [
      'encrypt.json added or dropped keys',
      { encrypt: async (_, objects) => objects.map(({ data }) => ({ ...data, more: 1 })) },
    ],
    [
      'decrypt.json did not return what encrypt.json had got',
      { decrypt: async (_, objects) => objects.map(({ data }) => data) },
    ],
    ['the key service is away', { decrypt: away }],
  ])('let nothing be stored: %s', async (message, nonsense) => {
    const { cipher, failures } = await openCipher(store(), nonsense);
    await expect(storeFor(cipher, 'ada', PLAIN)).rejects.toThrow(EncryptionUnavailableError);
    expect(failures).toEqual([message]);
  });

  it('are not asked again at once, and leave other contexts alone', async () => {
    const keys = store();
    const { cipher, encrypt: asked } = await openCipher(keys, {
      encrypt: (metadata, objects) => (metadata.tenant === 'ada' ? away() : encrypt(metadata, objects)),
    });
    for (let request = 0; request < 2; request += 1) {
      await expect(storeFor(cipher, 'ada', PLAIN)).rejects.toThrow(EncryptionUnavailableError);
    }
    await storeFor(cipher, 'bob', PLAIN);
    expect(asked).toHaveBeenCalledTimes(2);
    // Handlers that do not encrypt may still decrypt.
    const stored = await storeFor((await openCipher(keys)).cipher, 'ada', PLAIN);
    await cipher.loadKeys([stored]);
    expect(cipher.json.decrypt(stored)).toEqual(PLAIN);
  });

  it('are not taken for failed when data is nested too deeply to be sent', async () => {
    const { cipher, failures } = await openCipher(store());
    const nest = (levels: number, innermost: unknown) => {
      let deep = { deep: innermost };
      for (let level = 1; level < levels; level += 1) deep = { deep };
      return deep;
    };
    for (const json of [nest(50_000, 1), nest(1_000, 'x'.repeat(100_000))]) {
      await expect(storeFor(cipher, 'ada', json)).rejects.toThrow(JsonTooDeepError);
    }
    await storeFor(cipher, 'ada', PLAIN);
    expect(failures).toEqual([]);
  });

  it('at one object leave the other ones of a result readable', async () => {
    const keys = store();
    const { cipher: writer } = await openCipher(keys);
    const rows = [await storeFor(writer, 'ada', { secret: 1 }), await storeFor(writer, 'ada', { secret: 2 })];
    const failing = async (metadata: Record<string, unknown>, objects: PlacedJson[]) => {
      const answers = await decrypt(metadata, objects);
      return answers.map((answer) => ('secret' in answer && answer.secret === 1 ? new Error('not this one') : answer));
    };
    const { cipher, failures, decrypt: asked } = await openCipher(keys, { decrypt: failing });
    await cipher.loadKeys(rows);
    expect(cipher.json.decrypt(rows[1])).toEqual({ secret: 2 });
    // The fault is that value's: its key is there.
    expect(() => cipher.json.decrypt(rows[0])).toThrow(EncryptionError);
    expect(() => cipher.json.decrypt(rows[0])).not.toThrow(KeyUnavailableError);
    expect(cipher.json.decryptListed(rows[0])).toMatchObject({ secret: { __error__: { error: 'SealingError' } } });
    expect(cipher.loadKeys(rows)).toBeUndefined();
    expect([failures, asked.mock.calls.length]).toEqual([['not this one'], 1]);
  });

  it('of one tenant leave what others have readable', async () => {
    const keys = store();
    const { cipher: writer } = await openCipher(keys);
    const rows = [await storeFor(writer, 'ada', { secret: 1 }), await storeFor(writer, 'bob', { secret: 2 })];
    const { cipher } = await openCipher(keys, {
      decrypt: (metadata, objects) => (metadata.tenant === 'ada' ? away() : decrypt(metadata, objects)),
    });
    await cipher.loadKeys(rows);
    expect(() => cipher.json.decrypt(rows[0])).toThrow(KeyUnavailableError);
    expect(cipher.json.decrypt(rows[1])).toEqual({ secret: 2 });
  });
});
