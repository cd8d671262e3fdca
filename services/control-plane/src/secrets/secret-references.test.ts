import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RevisionStartError } from '../drivers/driver.ts';
import { checkReferences, ReferencedSecrets } from './secret-references.ts';

const reference = { name: 'MODEL_KEY', secret_name: 'models', secret_key: 'key.txt' };

describe('references to secrets', () => {
  it.each([
    ['a name of the platform', [{ ...reference, name: 'DATABASE_URI' }], [], /reserved/],
    ['the name of a secret', [reference], [{ name: 'MODEL_KEY', value: 'a' }], /twice: MODEL_KEY/],
    ['one name twice', [reference, reference], [], /twice: MODEL_KEY/],
    ['a key that leads out of its folder', [{ ...reference, secret_key: '..' }], [], /cannot be a key/],
  ])('cannot have %s', (_, references, secrets, reason) => {
    expect(() => checkReferences(references, secrets)).toThrow(reason);
  });

  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runyard-secrets-'));
    await mkdir(join(folder, 'w1/models'), { recursive: true });
    await writeFile(join(folder, 'w1/models/key.txt'), 'canary');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('are read only for their own workspace', async () => {
    const secrets = new ReferencedSecrets(folder);
    expect(await secrets.read('w1', [reference])).toEqual([{ name: 'MODEL_KEY', value: 'canary' }]);
    const failure = await secrets.read('w2', [reference]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RevisionStartError);
    expect((failure as Error).message).toMatch(/models has no key key.txt/);
  });

  it('are refused where no folder is configured', () => {
    expect(() => new ReferencedSecrets(undefined).checkReadable([reference])).toThrow(/SECRET_REFERENCES_DIR/);
    expect(() => new ReferencedSecrets(undefined).checkReadable([])).not.toThrow();
  });
});
