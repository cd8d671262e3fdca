import { randomBytes } from 'node:crypto';
import { Cipher } from '@runyard/encryption';
import { BadRequestError } from '@runyard/service-kit';
import { describe, expect, it } from 'vitest';
import { checkReferences } from './secret-references.ts';
import { checkSecrets, SecretSets } from './secret-set.ts';

describe('the secrets of a deployment', () => {
  it.each(['DATABASE_URI', 'REDIS_URI', 'PATH', 'PORT', 'LANGGRAPH_CLOUD_LICENSE_KEY', 'RUNYARD_SECRETS_FD'])(
    'cannot have the name %s',
    (name) => {
      expect(() =>
        checkSecrets([
          { name: 'FINE', value: '1' },
          { name, value: '2' },
        ]),
      ).toThrow(BadRequestError);
    },
  );

  it('may configure the tracing of a self-hosted installation', () => {
    const names = ['LANGSMITH_API_KEY', 'LANGSMITH_ENDPOINT', 'MOUNT_PREFIX'];
    expect(() => checkSecrets(names.map((name) => ({ name, value: 'x' })))).not.toThrow();
  });

  it.each(['POSTGRES_URI_CUSTOM', 'REDIS_URI_CUSTOM'])(
    'cannot name a server by %s, as value or reference, because it would be ignored',
    (name) => {
      const refusal = `Secrets cannot name servers for a deployment: ${name}.`;
      expect(() => checkSecrets([{ name, value: 'postgres://mine.example.com/agents' }])).toThrow(refusal);
      const reference = { name, secret_name: 'servers', secret_key: 'uri' };
      expect(() => checkReferences([reference], [])).toThrow(refusal);
    },
  );

  it('cannot contain a name twice', () => {
    expect(() =>
      checkSecrets([
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ]),
    ).toThrow(/twice: A/);
  });

  it('may have an empty value', () => {
    expect(() => checkSecrets([{ name: 'A', value: '' }])).not.toThrow();
  });

  it('can be decrypted only for their own deployment', () => {
    const sets = new SecretSets(new Cipher(randomBytes(32).toString('base64')));
    const encrypted = sets.encrypt('one', [{ name: 'A', value: 'canary' }]);
    expect(encrypted).not.toContain('canary');
    expect(sets.decrypt('one', encrypted)).toEqual([{ name: 'A', value: 'canary' }]);
    expect(() => sets.decrypt('two', encrypted)).toThrow();
    expect(sets.decrypt('two', sets.encrypt('two', []))).toEqual([]);
  });
});
