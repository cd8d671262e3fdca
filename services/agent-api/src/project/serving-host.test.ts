import type { GraphHost } from '@runyard/graph-host';
import { silentLogger, UnavailableError } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { ServingHost } from './serving-host.ts';

const request = { graphId: 'g', threadId: 't' };
const backends = {} as never;

function hostNamed(name: string): GraphHost {
  return { getState: async () => ({ name }), close: async () => {} } as unknown as GraphHost;
}

it('starts one host for all requests, and another after it ended', async () => {
  const exits: ((reason: string) => void)[] = [];
  const serving = new ServingHost({
    logger: silentLogger,
    start: async (onExit) => hostNamed(`host ${exits.push(onExit)}`),
  });
  await serving.start();
  expect(await serving.getState(request, backends)).toEqual({ name: 'host 1' });
  exits[0]!('out of memory');
  const answers = await Promise.all([serving.getState(request, backends), serving.getState(request, backends)]);
  expect(answers).toEqual([{ name: 'host 2' }, { name: 'host 2' }]);
  expect(exits).toHaveLength(2);
});

it('answers 503 while the project does not load, and tries again', async () => {
  let loads = false;
  const serving = new ServingHost({
    logger: silentLogger,
    start: async () => {
      if (!loads) throw new Error('syntax error');
      return hostNamed('fixed');
    },
  });
  await expect(serving.getState(request, backends)).rejects.toBeInstanceOf(UnavailableError);
  loads = true;
  expect(await serving.getState(request, backends)).toEqual({ name: 'fixed' });
});
