import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixtures, type HostUnderTest, startHost } from '../test/host-under-test.ts';
import { EncryptionHandlerError, GraphLoadError, keyHandlersOf } from './index.ts';

const source = { file: `${fixtures}basic/encryption.ts`, symbol: 'encryption' };
const KEY = Buffer.from('a data key');

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('basic', { limits: { encryptionMs: 2_000 } });
});
afterAll(() => host?.close());

const contextOf = (act?: string) =>
  host.encryptionContext({
    source,
    user: act === undefined ? { identity: 'ada', display_name: 'ada', is_authenticated: true, permissions: [] } : null,
    method: 'POST',
    url: 'https://example.com/threads',
    headers: act === undefined ? [] : [['x-act', act]],
  });

describe('loading', () => {
  it('reports whether the object chooses contexts', async () => {
    expect(await host.loadEncryption(source)).toEqual({ hasContext: true });
    expect(await host.loadEncryption({ ...source, symbol: 'withoutContext' })).toEqual({ hasContext: false });
  });

  it.each([
    ['missing', 'has no export named "missing"'],
    ['half', 'needs the functions encrypt.blob and decrypt.blob'],
    ['forJson', 'name the keys to encrypt in LANGGRAPH_AES_JSON_KEYS'],
    ['wrongContext', 'context of what "encryption.path" names is not a function'],
  ])('refuses the export %s', async (symbol, message) => {
    const loading = host.loadEncryption({ ...source, symbol });
    await expect(loading).rejects.toThrow(GraphLoadError);
    await expect(loading).rejects.toThrow(message);
  });
});

describe('encrypting', () => {
  it('gives bytes to the handlers and returns theirs, with a replacement if there is one', async () => {
    const { encrypt, decrypt } = keyHandlersOf(async () => host, source);
    const encrypted = await encrypt({}, KEY);
    expect(Buffer.from(encrypted)).toEqual(Buffer.from(KEY.map((byte) => byte ^ 0xff)));
    expect(await decrypt({}, encrypted)).toEqual({ plaintext: KEY, replacement: undefined });
    expect(await decrypt({ act: 'replace' }, encrypted)).toEqual({ plaintext: KEY, replacement: Buffer.of(7) });
  });

  it.each([
    ['throw', 'failed', 'the key service is away'],
    ['hang', 'late', 'no answer in 2 s'],
    ['text', 'failed', 'decrypt.blob is no Uint8Array'],
    ['nothing', 'failed', 'decrypt.blob is no Uint8Array'],
    ['empty', 'failed', 'decrypt.blob has 0 bytes'],
    ['half-replace', 'failed', 'the replacement of decrypt.blob is no Uint8Array'],
  ])('the fault %s of a handler is an error with the reason', async (act, reason, message) => {
    const asked = host.crypt({ source, action: 'decrypt', metadata: { act }, bytes: KEY });
    await expect(asked).rejects.toThrow(EncryptionHandlerError);
    await expect(asked).rejects.toMatchObject({ reason, message: expect.stringContaining(message) });
  });
});

describe('choosing a context', () => {
  it('the handler gets the user and the request', async () => {
    expect(await contextOf()).toEqual({ tenant: 'ada', model: null, path: '/threads' });
  });

  it.each([
    ['throw', 'who is that?'],
    ['nothing', 'context returned no object'],
    ['text', 'context returned no object'],
    ['not-json', 'context.since is of the class Date'],
    ['large', 'context is larger than 16384 characters'],
  ])('the fault %s of the handler is an error with the reason', async (act, message) => {
    await expect(contextOf(act)).rejects.toMatchObject({
      name: 'EncryptionHandlerError',
      reason: 'failed',
      message: expect.stringContaining(message),
    });
  });
});
