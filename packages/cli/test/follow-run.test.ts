import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AgentServer } from '../src/agent-server/agent-server.ts';
import { CliError, ExitCode } from '../src/cli-error.ts';
import { followRun } from '../src/runs/follow-run.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server whose stream breaks so often, each time after so many milliseconds without an event, and then ends. */
function breakingServer(breaks: number, aliveMs: number) {
  let left = breaks;
  const server: Pick<AgentServer, 'events' | 'find'> = {
    async *events(_path, _position, onOpen) {
      onOpen?.();
      vi.setSystemTime(Date.now() + aliveMs);
      left -= 1;
      if (left < 0) yield* [];
      else throw new CliError('It broke off.', ExitCode.unreachable);
    },
    find: async <T>() => ({ run_id: 'r', assistant_id: 'a', status: 'success' }) as T,
  };
  return server as AgentServer;
}

async function follow(server: AgentServer) {
  const events = followRun(server, {
    name: { threadId: 't', runId: 'r' },
    modes: undefined,
    pollMs: 0,
    interrupted: new AbortController().signal,
    warn: () => vi.setSystemTime(Date.now() + 1),
  });
  return (await events.next()).value;
}

it('a run is followed however long it is quiet, if connections last', async () => {
  await expect(follow(breakingServer(10, 60_000))).resolves.toMatchObject({ status: 'success' });
});

it('a run is given up after two minutes in which no connection lasted', async () => {
  await expect(follow(breakingServer(1_000, 1_000))).rejects.toThrow('It broke off.');
});
