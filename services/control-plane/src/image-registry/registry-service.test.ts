import { UnavailableError } from '@runyard/service-kit';
import { sendJson, startFakeServer } from '@runyard/test-kit/fake-platform';
import { expect, it, onTestFinished } from 'vitest';
import { RegistryService } from './registry-service.ts';

it.each([
  [503, true],
  [401, false],
])('a registry that answers %i may be asked again later: %s', async (status, isTransient) => {
  const registry = await startFakeServer((_, res) => sendJson(res, status, { detail: 'no' }));
  onTestFinished(() => registry.close());
  const service = new RegistryService({ url: registry.url, internalToken: 'another token' });
  const refused = await service.removeImages('1').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Error);
  expect(refused instanceof UnavailableError).toBe(isTransient);
});
