import { DataKeyError } from '@runyard/encryption';
import { type BoundOperation, type HandlerRequest, type Lifecycle, silentLogger } from '@runyard/service-kit';
import { expect, it, vi } from 'vitest';
import { ProjectEncryption, type ProjectEncryptionOptions } from './project-encryption.ts';

/** Opens the encryption of a project that chooses no contexts. */
function openEncryption(): ProjectEncryption {
  return new ProjectEncryption({
    source: { file: '/project/encryption.ts', symbol: 'encryption' },
    host: {} as ProjectEncryptionOptions['host'],
    variables: {},
    config: { DATABASE_URI: 'postgres://nobody@127.0.0.1:1/none', DATABASE_PREPARED_STATEMENTS: true },
    context: { logger: silentLogger, lifecycle: { onStop: () => undefined } as unknown as Lifecycle },
  });
}

it('a request of a project without contexts gets the newest key, and is refused while there is none', async () => {
  const encryption = openEncryption();
  const entered: unknown[] = [];
  const scopeFor = vi.spyOn(encryption.cipher, 'scopeFor').mockImplementation(async (context) => (work) => {
    entered.push(context);
    return work();
  });
  const written: string[] = [];
  const { handler } = encryption.encryptInContext({
    operation: { access: 'workspace' },
    handler: async () => void written.push('one more'),
  } as unknown as BoundOperation);
  await handler({} as HandlerRequest);
  await handler({} as HandlerRequest);
  expect(entered).toEqual([{}, {}]);
  scopeFor.mockRejectedValue(new DataKeyError('the key service is away'));
  await expect(handler({} as HandlerRequest)).rejects.toMatchObject({ status: 503, code: 'encryption_unavailable' });
  expect(written).toEqual(['one more', 'one more']);
});
