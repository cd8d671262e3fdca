import type { RolloutRevision } from '@runyard/deployments';
import { ObjectStorageUnavailableError } from '@runyard/object-storage';
import { expect, it } from 'vitest';
import { uploadSources } from './uploaded-source.ts';

const away = () =>
  new ObjectStorageUnavailableError(Object.assign(new Error('10.1.2.3:9000'), { code: 'ECONNREFUSED' }));

/** Asks a storage with this answer for the archive of a revision. */
async function check(exists: () => Promise<boolean>) {
  const revision = { id: '1', sourceRevisionConfig: { source_tarball_path: 'a/1.tar.gz' } };
  const source = await uploadSources({ exists }).internal_source!(revision as unknown as RolloutRevision);
  await source.check!(new AbortController().signal);
}

it('the check before a build reports an unavailable storage, and nothing else', async () => {
  const refuses = () => Promise.reject(away());
  await expect(check(refuses)).rejects.toThrow('The object storage could not be reached (ECONNREFUSED)');
  for (const exists of [async () => true, async () => false, () => Promise.reject(new Error('Access Denied'))])
    await check(exists);
});
