import { readFile } from 'node:fs/promises';
import { ComputeType } from '@runyard/contracts';
import { driverKindOf } from '@runyard/deployments';
import { ConfigError, readConfig } from '@runyard/service-kit';
import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import type { RevisionSpec } from './driver.ts';
import type { DriverOptions } from './driver-row.ts';
import { type AnyDriverRow, chooseDrivers, type DriverConfig, driverVariables } from './drivers.ts';
import { DriversByArtifact } from './drivers-by-artifact.ts';

const namesOf = (config: Parameters<typeof chooseDrivers>[0]) => chooseDrivers(config).map(({ name }) => name);

it('every compute type of listeners has a driver', () => {
  const types = ComputeType.anyOf.map((each) => each.const);
  expect(types.map((type) => driverKindOf(type).computeType)).toEqual(types);
});

describe('the drivers of a process', () => {
  it('are those that DRIVER names', () => {
    expect(namesOf({ DRIVER: ['container'] })).toEqual(['container']);
    expect(namesOf({ DRIVER: ['container', 'process'] })).toEqual(['process', 'container']);
  });

  it('do not depend on which variables are there, and a cluster that none of them uses is an error', () => {
    expect(() => chooseDrivers({ DRIVER: ['process'], KUBERNETES_NAMESPACE: 'agents' })).toThrow(
      'KUBERNETES_NAMESPACE is for the driver kubernetes: set DRIVER to kubernetes.',
    );
  });

  it('must not run the same kind of artifact', () => {
    expect(() => chooseDrivers({ DRIVER: ['kubernetes', 'process', 'container'] })).toThrow(
      'DRIVER must name one of container and kubernetes: both run images.',
    );
  });

  it.each([
    ['kubernetes', 'KUBERNETES_NAMESPACE', {}],
    ['process', 'AGENT_API_COMMAND', { RUN_WORKER_COMMAND: 'run-worker.js' }],
    ['process', 'RUN_WORKER_COMMAND', { AGENT_API_COMMAND: 'agent-api.js' }],
  ] as const)('are not opened when one of them is %s and %s is not set', async (name, variable, others) => {
    const config = { KUBERNETES_POD_METADATA: [], KUBERNETES_PULL_SECRETS: [], ...others } as unknown as DriverConfig;
    const opened = DriversByArtifact.open(chooseDrivers({ DRIVER: [name] }), config, {} as DriverOptions);
    await expect(opened).rejects.toThrow(new ConfigError([`${variable} is required with the driver ${name}.`]));
  });

  const namesWith = (environment: Record<string, string>) =>
    namesOf(readConfig(Type.Object(driverVariables), { environment }));

  it('run projects and images where nothing else is said, in compose too', async () => {
    const compose = await readFile(new URL('../../../../infra/compose.yaml', import.meta.url), 'utf8');
    const said = [...compose.matchAll(/^ +DRIVER: \$\{DRIVER:-(.*)\}$/gm)].map(([, value]) => value!);
    expect(said).toEqual(['', '']);
    expect(namesWith({ DRIVER: '' })).toEqual(['process', 'container']);
  });

  it('need no variable of a driver that is not among them', () => {
    expect(namesWith({ DRIVER: 'kubernetes', KUBERNETES_NAMESPACE: 'agents' })).toEqual(['kubernetes']);
    expect(namesWith({ DRIVER: 'container' })).toEqual(['container']);
  });
});

describe('a revision fails with the name of the variable', () => {
  const start = async (rows: AnyDriverRow[], spec: Partial<RevisionSpec>) => {
    const opened = rows.map((row) => ({ ...row, open: () => ({ start: () => Promise.reject(new Error('started')) }) }));
    const drivers = await DriversByArtifact.open(opened, {} as DriverConfig, {} as DriverOptions);
    const options = { signal: new AbortController().signal, timeoutMs: 1_000, onUpstreams: () => {} };
    return drivers.start(spec as RevisionSpec, options);
  };
  const artifact = { kind: 'image', imageUri: 'registry.example.com/agent:v1' } as const;

  it('when no driver runs its kind of artifact', async () => {
    await expect(start(chooseDrivers({ DRIVER: ['process'] }), { artifact })).rejects.toThrow(
      'No driver here runs images: DRIVER names none.',
    );
  });

  it('when it names a namespace and its driver knows none', async () => {
    const spec = { artifact, namespace: 'agents' };
    await expect(start(chooseDrivers({ DRIVER: ['container'] }), spec)).rejects.toThrow(
      'It is to run in a namespace of a cluster, and the driver here is container (DRIVER).',
    );
    await expect(start(chooseDrivers({ DRIVER: ['kubernetes'] }), spec)).rejects.toThrow('started');
  });
});

it('what is left of a deleted deployment is removed by drivers of projects, and by those whose revisions outlive this process', async () => {
  const removed: string[] = [];
  const opened = chooseDrivers({ DRIVER: ['kubernetes', 'process'] }).map((row) => ({
    ...row,
    open: () => ({ start: () => Promise.reject(), removeLeftovers: async () => void removed.push(row.name) }),
  }));
  const drivers = await DriversByArtifact.open(opened, {} as DriverConfig, {} as DriverOptions);
  await drivers.removeLeftovers('deployment', { hasRunImages: false });
  expect(removed).toEqual(['process', 'kubernetes']);
});
