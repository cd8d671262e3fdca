import { expect, it } from 'vitest';
import { assignProcesses } from './processes.ts';
import type { ServiceSettings } from './service-settings.ts';

const names = ['org-access', 'control-plane', 'data-plane', 'builder', 'registry', 'oauth-broker', 'gateway'] as const;
const settings = names.map((name, index): ServiceSettings => {
  return { name, port: index + 1, env: { NAME: name }, secrets: { KEY: `key of ${name}` }, stopMs: 1_000 };
});

it('services that run no code of projects share a process, each with variables and secrets under its own name', () => {
  const [shared, ...alone] = assignProcesses(settings, {});
  expect(shared).toMatchObject({ name: 'platform-services', folder: 'infra/platform-services', env: {} });
  expect(shared?.secrets).toEqual({
    'org-access': { NAME: 'org-access', KEY: 'key of org-access', PORT: '1' },
    'control-plane': { NAME: 'control-plane', KEY: 'key of control-plane', PORT: '2' },
    registry: { NAME: 'registry', KEY: 'key of registry', PORT: '5' },
    'oauth-broker': { NAME: 'oauth-broker', KEY: 'key of oauth-broker', PORT: '6' },
  });
  expect(alone).toMatchObject([
    { name: 'data-plane', folder: 'services/data-plane', env: { NAME: 'data-plane', PORT: '3' } },
    { name: 'builder', folder: 'services/builder', secrets: { KEY: 'key of builder' } },
    { name: 'gateway', folder: 'services/gateway', secrets: { KEY: 'key of gateway' } },
  ]);
});

it('each service has a process of its own where the environment asks for it, and any other setting is refused', () => {
  const apart = assignProcesses(settings, { RUNYARD_SHARED_PROCESS: 'off' });
  expect(apart.map(({ name, folder }) => [name, folder])).toEqual(names.map((name) => [name, `services/${name}`]));
  expect(() => assignProcesses(settings, { RUNYARD_SHARED_PROCESS: 'no' })).toThrow('leave it out, or set it to off');
});
