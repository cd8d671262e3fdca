import { describe, expect, it } from 'vitest';
import { createDataCipher, EncryptionError, JSON_PLACES, NO_ENCRYPTION, openDataCipher } from './index.ts';

const KEY = 'k'.repeat(32);
const { json } = createDataCipher(KEY, 'secret, token');
/** Looks like a value that handlers of a project have encrypted. */
const JSON_MARK = Buffer.alloc(80, 2).toString('base64');
const PLACE = JSON_PLACES.threadMetadata;
const plain = {
  shown: 'yes',
  secret: { deep: ['kettle\u0000'] },
  list: [{ token: 'kettle', n: 1 }, 'text'],
  nested: { token: 0, other: { secret: 'kettle' } },
  token: null,
};

describe('chosen JSON keys', () => {
  it('are encrypted at every depth, in place, and decrypted as they were', async () => {
    const before = structuredClone(plain);
    const stored = await json.encrypt(plain, PLACE);
    expect(plain).toEqual(before);
    expect(JSON.stringify(stored)).not.toContain('kettle');
    expect(Object.keys(stored)).toEqual(Object.keys(plain));
    const encrypted = expect.stringMatching(/^encrypted\.aes:[A-Za-z0-9+/]+=*$/);
    expect(stored).toEqual({
      shown: 'yes',
      secret: encrypted,
      list: [{ token: encrypted, n: 1 }, 'text'],
      nested: { token: encrypted, other: { secret: encrypted } },
      token: null,
    });
    expect(json.decrypt(stored)).toEqual(plain);
  });

  it('leave everything else as it is, keys of the prototype included', async () => {
    const untouched = { a: [1, { b: null }], when: new Date(0) };
    expect(json.encrypt(untouched, PLACE)).toBe(untouched);
    const polluting = JSON.parse('{"__proto__": {"secret": "kettle"}, "secret": 1}');
    const stored = await json.encrypt(polluting, PLACE);
    expect(JSON.stringify(json.decrypt(stored))).toBe(JSON.stringify(polluting));
    expect(({} as Record<string, unknown>).secret).toBeUndefined();
  });

  it('stay readable when they are not chosen any more, and with a newer key', async () => {
    const stored = await json.encrypt(plain, PLACE);
    expect(createDataCipher(KEY).json.decrypt(stored)).toEqual(plain);
    expect(createDataCipher(`${'n'.repeat(32)},${KEY}`, 'other').json.decrypt(stored)).toEqual(plain);
  });

  it('that were encrypted with a lost key fail a read, and are replaced alone in a list', async () => {
    const other = createDataCipher('o'.repeat(32), 'secret').json;
    const stored = await json.encrypt({ secret: 1, shown: 2 }, PLACE);
    expect(() => other.decrypt(stored)).toThrow(EncryptionError);
    const error = { error: 'SealingError', message: expect.stringContaining('LANGGRAPH_AES_KEY') };
    expect(other.decryptListed(stored)).toEqual({ secret: { __error__: error }, shown: 2 });
    expect(NO_ENCRYPTION.json.decrypt(stored)).toBe(stored);
  });

  it('cannot be imitated: text of a client that looks encrypted comes back as that text', async () => {
    const { secret } = await json.encrypt({ secret: 'of somebody else' }, PLACE);
    for (const note of [
      secret,
      secret.replace(/:.{8}/, ':AQAAAAAA'),
      'encrypted.aes:no',
      `encrypted.json:${JSON_MARK}`,
    ]) {
      const stored = await json.encrypt({ note }, PLACE);
      expect(json.decrypt(stored)).toEqual({ note });
    }
  });

  it('are found in what a search names', () => {
    expect(json.findEncryptedKey({ a: 1, b: { token: 2 } }, PLACE)).toBe('token');
    expect(json.findEncryptedKey({ a: 'secret' }, PLACE)).toBeUndefined();
    expect(json.findEncryptedKey(undefined, PLACE)).toBeUndefined();
    expect(createDataCipher(KEY).json.findEncryptedKey({ secret: 1 }, PLACE)).toBeUndefined();
  });

  it('are refused without a key, and when the platform has to read them', () => {
    const open = (aesKey: string | undefined, aesJsonKeys: string) => () => openDataCipher({ aesKey, aesJsonKeys });
    expect(open(undefined, 'secret')).toThrow(/LANGGRAPH_AES_KEY is not configured/);
    expect(open(KEY, 'secret,langgraph_version, graph_id')).toThrow(/has to read: langgraph_version, graph_id/);
    // SQL finds tasks by them, and adds to answers.
    const ofTasks = 'task_id, mcp_request, mcp_ttl_ms, mcp_answers, task_canceled, task_needs_auth';
    expect(open(KEY, `${ofTasks}, secret, svc_x`)).toThrow(`has to read: ${ofTasks}, svc_x.`);
    expect(open(KEY, ' , ')().json.isEncrypting).toBe(false);
    expect(open(undefined, ' ')()).toBe(NO_ENCRYPTION);
  });
});
