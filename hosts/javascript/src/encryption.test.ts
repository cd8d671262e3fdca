import { EncryptionHandlerError, jsonHandlersOf, keyHandlersOf } from '@runyard/host-client';
import { GraphLoadError } from '@runyard/host-protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixtures, type HostUnderTest, startHost } from '../test/host-under-test.ts';

const source = { file: `${fixtures}basic/encryption.ts`, symbol: 'encryption' };
const ofJson = { ...source, symbol: 'withJson' };
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
  it('reports whether the object chooses contexts, and whether it encrypts JSON', async () => {
    expect(await host.loadEncryption(source)).toEqual({ hasContext: true, hasJson: false });
    expect(await host.loadEncryption(ofJson)).toEqual({ hasContext: false, hasJson: true });
  });

  it.each([
    ['missing', 'has no export named "missing"'],
    ['half', 'needs the functions encrypt.blob and decrypt.blob'],
    ['halfJson', 'needs both functions encrypt.json and decrypt.json, or none'],
    ['wrongJson', 'needs both functions encrypt.json and decrypt.json, or none'],
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

describe('encrypting JSON', () => {
  const place = { model: 'store', field: 'value' };
  const data = { said: 'tea', n: 1 };
  const handlers = () => jsonHandlersOf(async () => host, ofJson);

  it('gives objects to the handlers and returns theirs, in their order', async () => {
    const { encrypt, decrypt } = handlers();
    const objects = [
      { place, data },
      { place, data: { asks: true } },
    ];
    expect(await encrypt({}, objects)).toEqual([{ said: 'aet', n: 1 }, { asks: ['store', 'value'] }]);
    expect(await decrypt({}, [{ place, data: { said: 'aet', n: 1 } }])).toEqual([data]);
    expect(await encrypt({ act: 'writes' }, [{ place, data }])).toEqual([{ said: 'aet', n: 1 }]);
  });

  it('takes the plaintext of an answer with a replacement, but not what a key has that name', async () => {
    const { encrypt, decrypt } = handlers();
    expect(await decrypt({ act: 'replace' }, [{ place, data }])).toEqual([{ said: 'aet', n: 1 }]);
    const named = { plaintext: { said: 'tea' } };
    expect(await decrypt({}, [{ place, data: named }])).toEqual([named]);
    expect(await encrypt({}, [{ place, data: named }])).toEqual([named]);
  });

  it('at an object where a handler fails, it returns the error for that one alone', async () => {
    const [failed, made] = await handlers().encrypt({}, [
      { place, data: { fails: 1 } },
      { place, data },
    ]);
    expect(failed).toBeInstanceOf(EncryptionHandlerError);
    expect(failed).toMatchObject({ message: expect.stringContaining('TypeError: this one is unknown') });
    expect(made).toEqual({ said: 'aet', n: 1 });
  });

  it.each([
    ['throw', 'the key service is away'],
    ['text', 'encrypt.json returned no object'],
    ['nothing', 'encrypt.json returned no object'],
    ['list', 'encrypt.json returned no object'],
    ['not-json', 'what encrypt.json returned.since is of the class Date'],
  ])('the fault %s of a handler is an error with the reason', async (act, message) => {
    const [failed] = await handlers().encrypt({ act }, [{ place, data }]);
    expect(failed).toMatchObject({ reason: 'failed', message: expect.stringContaining(message) });
  });

  it('a handler that hangs is an error in the time given', async () => {
    const asked = handlers().decrypt({ act: 'hang' }, [{ place, data }]);
    await expect(asked).rejects.toMatchObject({ reason: 'late', message: expect.stringContaining('decrypt.json') });
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
