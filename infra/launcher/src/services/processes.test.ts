import { expect, it } from 'vitest';
import { assignProcesses } from './processes.ts';
import type { ServiceSettings } from './service-settings.ts';

const names = [
  'org-access',
  'control-plane',
  'data-plane',
  'builder',
  'registry',
  'oauth-broker',
  'run-history',
  'console',
  'gateway',
] as const;
const settings = names.map((name, index): ServiceSettings => {
  return { name, port: index + 1, env: { NAME: name }, secrets: { KEY: `key of ${name}` }, stopMs: 1_000 };
});

it('services that run no code of projects share a process, each with variables and secrets under its own name', () => {
  const [shared, ...alone] = assignProcesses(settings, {});
  // One after the other: what stands at the edge, what runs deployments, the rest.
  const stopMs = 3_000;
  expect(shared).toMatchObject({ name: 'platform-services', folder: 'infra/platform-services', env: {}, stopMs });
  expect(shared?.secrets).toEqual({
    'org-access': { NAME: 'org-access', KEY: 'key of org-access', PORT: '1' },
    'control-plane': { NAME: 'control-plane', KEY: 'key of control-plane', PORT: '2' },
    'data-plane': { NAME: 'data-plane', KEY: 'key of data-plane', PORT: '3' },
    registry: { NAME: 'registry', KEY: 'key of registry', PORT: '5' },
    'oauth-broker': { NAME: 'oauth-broker', KEY: 'key of oauth-broker', PORT: '6' },
    'run-history': { NAME: 'run-history', KEY: 'key of run-history', PORT: '7' },
    console: { NAME: 'console', KEY: 'key of console', PORT: '8' },
    gateway: { NAME: 'gateway', KEY: 'key of gateway', PORT: '9' },
  });
  expect(alone).toMatchObject([
    {
      name: 'builder',
      folder: 'services/builder',
      env: { NAME: 'builder', PORT: '4' },
      secrets: { KEY: 'key of builder' },
    },
  ]);
});

it('a container engine finds its server though data-plane has its variables for itself', () => {
  const [shared] = assignProcesses(
    settings.map((each) =>
      each.name === 'data-plane'
        ? { ...each, env: { DOCKER_HOST: 'unix:///s', CONTAINER_HOST: 'ssh://s', DRIVER: 'x' } }
        : each,
    ),
    {},
  );
  expect(shared?.env).toEqual({ DOCKER_HOST: 'unix:///s', CONTAINER_HOST: 'ssh://s' });
});

it('each service has a process of its own where the environment asks for it, and any other setting is refused', () => {
  const apart = assignProcesses(settings, { RUNYARD_SHARED_PROCESS: 'off' });
  expect(apart.map(({ name, folder }) => [name, folder])).toEqual(names.map((name) => [name, `services/${name}`]));
  expect(() => assignProcesses(settings, { RUNYARD_SHARED_PROCESS: 'no' })).toThrow('leave it out, or set it to off');
});
