import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WORKSPACE_SECRETS_NAME } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RevisionStartError } from '../revisions/revision-start-error.ts';
import { checkReferences, ReferencedSecrets } from './secret-references.ts';

const tenant = (workspaceId: string) => ({ organizationId: 'o', workspaceId });
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
    const secrets = new ReferencedSecrets({ folder });
    expect(await secrets.read(tenant('w1'), [reference])).toEqual([{ name: 'MODEL_KEY', value: 'canary' }]);
    const failure = await secrets.read(tenant('w2'), [reference]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RevisionStartError);
    expect((failure as Error).message).toMatch(/models has no key key.txt/);
  });

  it('are refused where they cannot be read', () => {
    const none = new ReferencedSecrets({ folder: undefined });
    const ofWorkspace = { ...reference, secret_name: WORKSPACE_SECRETS_NAME };
    expect(() => none.checkReadable([reference], { isRemote: false })).toThrow(/SECRET_REFERENCES_DIR/);
    expect(() => none.checkReadable([ofWorkspace], { isRemote: true })).toThrow(/workspace-secrets/);
    expect(() => none.checkReadable([ofWorkspace], { isRemote: false })).not.toThrow();
    expect(() => none.checkReadable([reference], { isRemote: true })).not.toThrow();
  });

  it('to secrets of the workspace are read from there, and a missing one is named', async () => {
    const values = new Map([['OPENAI', 'canary']]);
    const secrets = new ReferencedSecrets({ folder, ofWorkspaces: { read: async () => values } });
    const ofWorkspace = (secret_key: string) => ({ name: 'A', secret_name: WORKSPACE_SECRETS_NAME, secret_key });
    expect(await secrets.read(tenant('w1'), [reference, ofWorkspace('OPENAI')])).toEqual([
      { name: 'A', value: 'canary' },
      { name: 'MODEL_KEY', value: 'canary' },
    ]);
    await expect(secrets.read(tenant('w1'), [ofWorkspace('LOST')])).rejects.toThrow(/no secret LOST for variable A/);
  });
});
