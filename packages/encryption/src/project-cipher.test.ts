import { describe, expect, it, vi } from 'vitest';
import { HANDLERS, MemoryKeys, turn } from './../test/memory-keys.ts';
import {
  createDataCipher,
  DataKeyError,
  type DataKeyStore,
  DataKeys,
  type DataKeysOptions,
  EncryptionError,
  EncryptionUnavailableError,
  JSON_PLACES,
  type KeyHandlers,
  KeyUnavailableError,
  NO_ENCRYPTION,
  ProjectCipher,
} from './index.ts';

const text = Buffer.from('{"secret":"tea"}');
const AES_KEY = 'k'.repeat(32);

/** Opens a cipher as a process of the deployment does. */
function openCipher(store: DataKeyStore, options: Partial<DataKeysOptions> = {}, variables = {}) {
  const failures: string[] = [];
  const onFailure = (error: unknown) => failures.push((error as Error).message);
  const cipher = new ProjectCipher(new DataKeys({ store, handlers: HANDLERS, onFailure, ...options }), variables);
  return { cipher, failures };
}

/** Returns the id of the key of an encrypted value. */
const keyOf = (encrypted: Buffer) => encrypted.toString('hex', 1, 17);

/** Encrypts the text for a tenant. */
const encryptFor = async (cipher: ProjectCipher, tenant: string) =>
  (await cipher.scopeFor({ tenant }))(() => cipher.encrypt(text));

describe('a cipher with handlers of the project', () => {
  it('encrypts each context under a key of its own, which other processes have the handlers decrypt once', async () => {
    const store = new MemoryKeys();
    const { cipher } = openCipher(store);
    const [ofAda, ofBob] = [await encryptFor(cipher, 'ada'), await encryptFor(cipher, 'bob')];
    expect(ofAda.includes('tea')).toBe(false);
    expect(store.rows.map(({ metadata }) => metadata)).toEqual([{ tenant: 'ada' }, { tenant: 'bob' }]);
    const decrypt = vi.fn(HANDLERS.decrypt);
    const other = openCipher(store, { handlers: { ...HANDLERS, decrypt } }).cipher;
    expect(() => other.decrypt(ofAda)).toThrow(EncryptionError);
    await Promise.all([other.loadKeys([{ a: ofAda }, { b: [ofBob] }]), other.loadKeys(ofAda)]);
    expect([other.decrypt(ofAda), other.decrypt(new Uint8Array(ofBob))]).toEqual([text, text]);
    expect(other.loadKeys([ofAda, ofBob])).toBeUndefined();
    expect(await encryptFor(other, 'ada')).toHaveLength(ofAda.length);
    expect([store.rows.length, store.find.mock.calls.length, decrypt.mock.calls.length]).toEqual([2, 1, 2]);
  });

  it('finds keys in JSON text and in entries of streams as well', async () => {
    const store = new MemoryKeys();
    const { cipher } = openCipher(store, {}, { aesJsonKeys: 'secret' });
    const inScope = await cipher.scopeFor({ tenant: 'ada' });
    const json = await inScope(() => cipher.json.encrypt({ deep: [{ secret: 'tea' }] }, JSON_PLACES.runMetadata));
    const entry = `run\u001f1\u001fx\u001f{"after":null,"encrypted":"${inScope(() => cipher.encrypt(text)).toString('base64')}"}`;
    for (const stored of [json, JSON.stringify(json), entry]) {
      const other = openCipher(store).cipher;
      await other.loadKeys([[stored]]);
      expect(other.json.decrypt(json)).toEqual({ deep: [{ secret: 'tea' }] });
    }
  });

  it('takes the scope of stored data to work that begins elsewhere', async () => {
    const store = new MemoryKeys();
    const { cipher } = openCipher(store);
    await cipher.open();
    const ofAda = await encryptFor(cipher, 'ada');
    const inScope = await cipher.scopeOf(ofAda.subarray(0, 17));
    const carried = inScope(() => cipher.currentScope());
    expect(keyOf(carried(() => cipher.encrypt(text)))).toBe(keyOf(ofAda));
    const ofNobody = store.rows.find(({ metadata }) => !('tenant' in metadata))!.id;
    const inPlain = await cipher.scopeOf(text);
    expect(carried(() => inPlain(() => keyOf(cipher.encrypt(text))))).toBe(ofNobody);
    expect(keyOf(cipher.encrypt(text))).toBe(ofNobody);
  });

  it('loads the key of stored data before it takes its scope', async () => {
    const store = new MemoryKeys();
    const ofAda = await encryptFor(openCipher(store).cipher, 'ada');
    const { cipher } = openCipher(store);
    const inScope = await cipher.scopeOf(ofAda);
    expect(keyOf(inScope(() => cipher.encrypt(text)))).toBe(keyOf(ofAda));
  });

  it('decrypts what was written before, plain and with LANGGRAPH_AES_KEY', async () => {
    const { cipher } = openCipher(new MemoryKeys(), {}, { aesKey: AES_KEY });
    const aes = createDataCipher(AES_KEY, 'secret');
    expect(cipher.decrypt(text)).toEqual(text);
    expect(cipher.decrypt(aes.encrypt(text))).toEqual(text);
    expect(cipher.json.decrypt(await aes.json.encrypt({ secret: 1 }, JSON_PLACES.runMetadata))).toEqual({ secret: 1 });
  });

  it('leaves data that nothing else decrypts, once the project has no handlers any more', async () => {
    const encrypted = await encryptFor(openCipher(new MemoryKeys()).cipher, 'ada');
    expect(() => NO_ENCRYPTION.decrypt(encrypted)).toThrow('"encryption.path"');
    expect(() => createDataCipher(AES_KEY).decrypt(encrypted)).toThrow('"encryption.path"');
  });

  it('stores the replacement of a key whose encryption the project has changed', async () => {
    const store = new MemoryKeys();
    const encrypted = await encryptFor(openCipher(store).cipher, 'ada');
    const before = Buffer.from(store.rows[0]!.encrypted);
    const changing: KeyHandlers = {
      encrypt: HANDLERS.encrypt,
      async decrypt(metadata, bytes) {
        if (!before.equals(bytes)) return { plaintext: turn(metadata, bytes, 1) };
        const plaintext = turn(metadata, bytes);
        return { plaintext, replacement: turn(metadata, plaintext, 1) };
      },
    };
    for (let process = 0; process < 2; process += 1) {
      const { cipher, failures } = openCipher(store, { handlers: changing });
      await cipher.loadKeys(encrypted);
      expect(cipher.decrypt(encrypted)).toEqual(text);
      expect(failures).toEqual([]);
    }
    expect(before.equals(store.rows[0]!.encrypted)).toBe(false);
  });

  it('keeps a key as it is when its replacement stands for something else', async () => {
    const store = new MemoryKeys();
    const encrypted = await encryptFor(openCipher(store).cipher, 'ada');
    const before = Buffer.from(store.rows[0]!.encrypted);
    const decrypt: KeyHandlers['decrypt'] = async (metadata, bytes) => ({
      plaintext: turn(metadata, bytes),
      replacement: Buffer.alloc(32),
    });
    const { cipher, failures } = openCipher(store, { handlers: { ...HANDLERS, decrypt } });
    await cipher.loadKeys(encrypted);
    expect(cipher.decrypt(encrypted)).toEqual(text);
    expect([failures, before.equals(store.rows[0]!.encrypted)]).toEqual([
      [expect.stringContaining('replacement')],
      true,
    ]);
  });
});

describe('handlers that give no key', () => {
  const throwing = async () => {
    throw new Error('the key service is away');
  };

  it('of one tenant leave what others have readable, and are not asked again at once', async () => {
    const store = new MemoryKeys();
    const writer = openCipher(store).cipher;
    const [ofAda, ofBob] = [await encryptFor(writer, 'ada'), await encryptFor(writer, 'bob')];
    const decrypt = vi.fn<KeyHandlers['decrypt']>((metadata, bytes) =>
      metadata.tenant === 'ada' ? throwing() : HANDLERS.decrypt(metadata, bytes),
    );
    const { cipher, failures } = openCipher(store, { handlers: { ...HANDLERS, decrypt } });
    await cipher.loadKeys([ofAda, ofBob]);
    expect(cipher.decrypt(ofBob)).toEqual(text);
    expect(() => cipher.decrypt(ofAda)).toThrow(KeyUnavailableError);
    expect(cipher.loadKeys(ofAda)).toBeUndefined();
    expect(failures).toEqual(['the key service is away']);
    await expect(cipher.scopeFor({ tenant: 'ada' })).rejects.toThrow('away');
    await expect(cipher.scopeFor({ tenant: 'ada' })).rejects.toThrow('away');
    expect(decrypt).toHaveBeenCalledTimes(3);
  });

  it('any more make a key unreadable once its time is over', async () => {
    const store = new MemoryKeys();
    let isWithdrawn = false;
    const decrypt: KeyHandlers['decrypt'] = (metadata, bytes) =>
      isWithdrawn ? throwing() : HANDLERS.decrypt(metadata, bytes);
    const { cipher } = openCipher(store, { handlers: { ...HANDLERS, decrypt }, keptMs: 0, graceMs: 0 });
    const ofAda = await encryptFor(cipher, 'ada');
    isWithdrawn = true;
    expect(cipher.decrypt(ofAda)).toEqual(text);
    await cipher.loadKeys(ofAda);
    expect(() => cipher.decrypt(ofAda)).toThrow(EncryptionError);
  });

  it('for some minutes are no loss for those who have the key', async () => {
    const store = new MemoryKeys();
    let isAway = false;
    const decrypt: KeyHandlers['decrypt'] = (metadata, bytes) =>
      isAway ? throwing() : HANDLERS.decrypt(metadata, bytes);
    const { cipher, failures } = openCipher(store, { handlers: { ...HANDLERS, decrypt }, keptMs: 0 });
    const ofAda = await encryptFor(cipher, 'ada');
    isAway = true;
    await cipher.loadKeys(ofAda);
    expect(cipher.decrypt(ofAda)).toEqual(text);
    expect(cipher.decrypt(await encryptFor(cipher, 'ada'))).toEqual(text);
    expect(failures).toEqual(Array(2).fill('the key service is away'));
  });

  it('for long let nothing be written any more, also in no context and like data that was written before', async () => {
    const store = new MemoryKeys();
    let isAway = false;
    const handlers: KeyHandlers = {
      encrypt: (metadata, bytes) => (isAway ? throwing() : HANDLERS.encrypt(metadata, bytes)),
      decrypt: (metadata, bytes) => (isAway ? throwing() : HANDLERS.decrypt(metadata, bytes)),
    };
    const { cipher } = openCipher(store, { handlers, keptMs: 0, graceMs: 0, failedMs: 0 });
    await cipher.open();
    const [ofAda, ofNobody] = [await encryptFor(cipher, 'ada'), cipher.encrypt(text)];
    isAway = true;
    await expect(cipher.scopeFor({})).rejects.toThrow(DataKeyError);
    expect(() => cipher.encrypt(text)).toThrow(EncryptionUnavailableError);
    for (const stored of [ofAda, ofNobody, text]) {
      await expect(cipher.scopeOf(stored)).rejects.toThrow(EncryptionUnavailableError);
    }
    isAway = false;
    await expect.poll(() => cipher.scopeFor({}).catch(() => undefined)).toBeDefined();
    expect(keyOf(cipher.encrypt(text))).toBe(keyOf(ofNobody));
  });

  it('are asked again by work in no context, which waits for nothing', async () => {
    const store = new MemoryKeys();
    let isAway = false;
    const decrypt: KeyHandlers['decrypt'] = (metadata, bytes) =>
      isAway ? throwing() : HANDLERS.decrypt(metadata, bytes);
    const { cipher, failures } = openCipher(store, { handlers: { ...HANDLERS, decrypt }, keptMs: 0, graceMs: 0 });
    await cipher.open();
    isAway = true;
    expect(keyOf(cipher.encrypt(text))).toBe(store.rows[0]!.id);
    const failure = async () => cipher.encrypt(text);
    await expect.poll(() => failure().catch((error: unknown) => error)).toBeInstanceOf(EncryptionUnavailableError);
    expect(failures).toEqual(['the key service is away']);
  });

  it('are no reason to take data for undecryptable when the database is away', async () => {
    const store = new MemoryKeys();
    const ofAda = await encryptFor(openCipher(store).cipher, 'ada');
    const { cipher } = openCipher(store);
    store.find.mockRejectedValueOnce(new Error('no connection'));
    await expect(cipher.loadKeys(ofAda)).rejects.toThrow('no connection');
    await cipher.loadKeys(ofAda);
    expect(cipher.decrypt(ofAda)).toEqual(text);
  });

  it.each<[string, Partial<KeyHandlers>]>([
    ['encrypt.blob returned what it got', { encrypt: async (_, bytes) => bytes }],
    ['decrypt.blob did not return what', { decrypt: async () => ({ plaintext: Buffer.alloc(32) }) }],
    ['decrypt.blob did not return what', { decrypt: async (_, bytes) => ({ plaintext: bytes }) }],
  ])('are found before anything is encrypted: %s', async (message, nonsense) => {
    const store = new MemoryKeys();
    const { cipher } = openCipher(store, { handlers: { ...HANDLERS, ...nonsense } });
    await expect(cipher.open()).rejects.toThrow(DataKeyError);
    await expect(cipher.open()).rejects.toThrow(message);
    expect(() => cipher.encrypt(text)).toThrow(EncryptionUnavailableError);
    expect(store.rows).toEqual([]);
  });

  it('but another one are found by the id of the key', async () => {
    const store = new MemoryKeys();
    const ofAda = await encryptFor(openCipher(store).cipher, 'ada');
    const decrypt = async () => ({ plaintext: Buffer.alloc(32, 7) });
    const { cipher, failures } = openCipher(store, { handlers: { ...HANDLERS, decrypt } });
    await cipher.loadKeys(ofAda);
    expect(failures).toEqual(['decrypt.blob did not return what encrypt.blob had got']);
    expect(() => cipher.decrypt(ofAda)).toThrow(EncryptionError);
  });
});

describe('keys', () => {
  it('are renewed, and old data stays readable', async () => {
    const store = new MemoryKeys();
    const { cipher } = openCipher(store, { renewAfterMs: 0, keptMs: 0 });
    const [older, newer] = [await encryptFor(cipher, 'ada'), await encryptFor(cipher, 'ada')];
    expect(store.rows).toHaveLength(2);
    expect([cipher.decrypt(older), cipher.decrypt(newer)]).toEqual([text, text]);
  });

  it('are renewed for what is in no context, and for all that follows from stored data', async () => {
    const store = new MemoryKeys();
    const { cipher } = openCipher(store, { renewAfterMs: 0, keptMs: 0 });
    await cipher.open();
    const inScope = await cipher.scopeFor({});
    expect(keyOf(inScope(() => cipher.encrypt(text)))).toBe(store.rows[1]!.id);
    const ofAda = await encryptFor(cipher, 'ada');
    const [like, plain] = [await cipher.scopeOf(ofAda), await cipher.scopeOf(text)];
    const written = [like, plain].map((scope) => keyOf(scope(() => cipher.encrypt(text))));
    expect(written).toEqual(store.rows.slice(-2).map(({ id }) => id));
    expect(store.rows.slice(-2).map(({ metadata }) => metadata)).toEqual([{ tenant: 'ada' }, {}]);
  });

  it('are the same for equal contexts, and only so many are kept', async () => {
    const store = new MemoryKeys();
    const { cipher } = openCipher(store, { keysMax: 2 });
    for (const metadata of [
      { a: 1, b: { c: 2, d: 3 } },
      { b: { d: 3, c: 2 }, a: 1 },
    ])
      await cipher.scopeFor(metadata);
    expect(store.rows).toHaveLength(1);
    const first = await encryptFor(cipher, 'first');
    for (const tenant of ['second', 'third']) await encryptFor(cipher, tenant);
    expect(() => cipher.decrypt(first)).toThrow(EncryptionError);
    await cipher.loadKeys(first);
    expect(cipher.decrypt(first)).toEqual(text);
  });
});
