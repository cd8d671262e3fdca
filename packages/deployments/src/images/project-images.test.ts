import { RegistryService, RegistryTokens, RegistryUnavailableError } from '@runyard/image-registry';
import { INTERNAL_TOKEN, sendJson, startFakeServer } from '@runyard/test-kit/fake-platform';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BuildError } from '../revisions/build-error.ts';
import { ProjectImages } from './project-images.ts';

type Answer = Parameters<typeof startFakeServer>[0];

async function serviceOf(answer: Answer): Promise<RegistryService> {
  const registry = await startFakeServer(answer);
  onTestFinished(() => registry.close());
  return new RegistryService({ url: registry.url, internalToken: 'another token' });
}

it.each([
  [503, true],
  [401, false],
])('a registry that answers %i may be asked again later: %s', async (status, isTransient) => {
  const service = await serviceOf((_, res) => sendJson(res, status, { detail: 'no' }));
  const refused = await service.removeImages('1').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Error);
  expect(refused instanceof RegistryUnavailableError).toBe(isTransient);
});

describe('the image of a project', () => {
  const revision = { id: '1', deploymentId: '2' };
  const { signal } = new AbortController();
  const say = () => undefined;
  const imagesOf = async (answer: Answer) =>
    new ProjectImages({ registry: await serviceOf(answer), tokens: new RegistryTokens(INTERNAL_TOKEN) });

  it('fails with what the registry says is wrong with the project or its base, after the lines of the log', async () => {
    const said: string[] = [];
    const images = await imagesOf((_, res) =>
      sendJson(res, 200, { image: null, failure: 'no such base', log: ['Fetching'] }),
    );
    const progress = { say: (line: string) => void said.push(line), signal };
    await expect(images.prepare(revision, null, progress)).rejects.toThrow(new BuildError('no such base'));
    expect(said).toEqual(['Fetching']);
  });

  it('is made later when the registry is away, and the revision does not fail', async () => {
    const images = await imagesOf((_, res) => sendJson(res, 503, { detail: 'away' }));
    await expect(images.prepare(revision, null, { say, signal })).rejects.toThrow(RegistryUnavailableError);
    await expect(images.findArchitecture(signal)).rejects.toThrow(RegistryUnavailableError);
  });

  it('is not waited for any longer when the build is interrupted', async () => {
    const interrupted = new AbortController();
    const images = await imagesOf(() => interrupted.abort(new Error('interrupted')));
    const waiting = images.prepare(revision, null, { say, signal: interrupted.signal });
    await expect(waiting).rejects.toThrow('interrupted');
  });
});
