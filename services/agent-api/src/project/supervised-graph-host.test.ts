import type { GraphHost } from '@runyard/host-client';
import { GraphRequestError } from '@runyard/host-protocol';
import { silentLogger, UnavailableError } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { ProjectHost } from './project-host.ts';
import { SupervisedGraphHost, type SupervisedGraphHostOptions } from './supervised-graph-host.ts';

const request = { graphId: 'g', threadId: 't' };
const backends = {} as never;

function supervise(options: Omit<SupervisedGraphHostOptions, 'logger'>, answers?: { answerMs: number }): ProjectHost {
  return new ProjectHost(new SupervisedGraphHost({ logger: silentLogger, ...options }), answers);
}

function hostNamed(name: string): GraphHost {
  return { getState: async () => ({ name }), ping: async () => {}, close: async () => {} } as unknown as GraphHost;
}

it('the graph host starts once for all requests, and again after it ended', async () => {
  const exits: ((reason: string) => void)[] = [];
  const supervised = supervise({
    unresponsiveAfterMs: 60_000,
    start: async (onExit) => hostNamed(`host ${exits.push(onExit)}`),
  });
  await supervised.start();
  expect(await supervised.getState(request, backends)).toEqual({ name: 'host 1' });
  exits[0]!('out of memory');
  const answers = await Promise.all([supervised.getState(request, backends), supervised.getState(request, backends)]);
  expect(answers).toEqual([{ name: 'host 2' }, { name: 'host 2' }]);
  expect(exits).toHaveLength(2);
});

it('requests get 503 while the project does not load, and the next one tries again', async () => {
  let loads = false;
  const supervised = supervise({
    unresponsiveAfterMs: 60_000,
    start: async () => {
      if (!loads) throw new Error('syntax error');
      return hostNamed('fixed');
    },
  });
  await expect(supervised.getState(request, backends)).rejects.toBeInstanceOf(UnavailableError);
  loads = true;
  expect(await supervised.getState(request, backends)).toEqual({ name: 'fixed' });
});

it('an unresponsive host is killed, its requests fail as unavailable, and another one starts', async () => {
  let starts = 0;
  const supervised = supervise({
    unresponsiveAfterMs: 30,
    pingEveryMs: 10,
    start: async () => {
      starts += 1;
      if (starts > 1) return hostNamed('second');
      let die: (error: Error) => void = () => undefined;
      return {
        ...hostNamed('first'),
        ping: () => new Promise(() => {}),
        getState: () =>
          new Promise((_, reject) => {
            die = reject;
          }),
        kill: async () => {
          die(new GraphRequestError('gone', 'the graph host ended by SIGKILL', { name: 'HostGoneError' }));
        },
      } as unknown as GraphHost;
    },
  });
  await expect(supervised.getState(request, backends)).rejects.toMatchObject({
    status: 503,
    message: 'The project did not answer',
  });
  expect(await supervised.getState(request, backends)).toEqual({ name: 'second' });
  await supervised.close();
});

it('a request that the project never answers fails alone, and others are answered', async () => {
  const host = { ...hostNamed('one'), getHistory: () => new Promise(() => {}) } as unknown as GraphHost;
  const supervised = supervise({ unresponsiveAfterMs: 60_000, start: async () => host }, { answerMs: 5 });
  const unanswered = supervised.getHistory({ ...request, limit: 1 }, backends);
  await expect(unanswered).rejects.toMatchObject({ status: 503, message: 'The project did not answer' });
  expect(await supervised.getState(request, backends)).toEqual({ name: 'one' });
  await supervised.close();
});
