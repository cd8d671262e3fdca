import { EventEmitter } from 'node:events';
import type { AgUiInput } from '@runyard/contracts';
import { ByteBudget } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import type { Scope } from '../access/scope.ts';
import type { Fields } from '../http/fields.ts';
import { type AgUiCall, AgUiRuns, type AgUiRunsOptions } from './ag-ui-runs.ts';

const THREAD = '0198f0c4-7d7e-7a4e-8c63-3c9a5d3c1a11';
const ADA: Scope = [{ owner: 'ada' }];
const input = { threadId: THREAD, runId: 'r', messages: [{ id: 'm', role: 'user', content: 'hi' }] } as AgUiInput;
const call = {
  assistant: 'echo',
  request: { caller: {}, headers: {}, res: Object.assign(new EventEmitter(), { getHeader: () => 'id' }) },
  threadId: THREAD,
  runId: 'r',
  goesOn: false,
} as unknown as AgUiCall;

/** Opens runs of a project that answers questions about them by `decide`; the thread has this message. */
function openRuns(decide: () => Scope, known?: string) {
  const done: [string, unknown][] = [];
  const values = Buffer.from(JSON.stringify({ messages: known === undefined ? [] : [{ id: known, type: 'human' }] }));
  const options = {
    assistants: { find: async () => ({ assistantId: 'echo' }) },
    inputKeys: { of: async () => undefined },
    threads: {
      stateBytesOf: async () => values.byteLength,
      find: async (scope: Scope) => {
        done.push(['read within', scope]);
        return { values, interrupts: null };
      },
      findWithoutState: async () => ({}),
    },
    runs: { create: async () => ({ runId: 'new' }) },
    budget: new ByteBudget(1024),
    keys: { onceNamed: (_: unknown, { create }: { create(keyed: undefined): unknown }) => create(undefined) },
    configurableHeaders: () => ({}),
    authorizer: {
      authorize: async (_: unknown, event: string, value: Fields) => {
        if (event !== 'threads:create_run') return { scope: [], value };
        const { messages } = ((value.kwargs ?? {}) as Fields).input as { messages: unknown[] };
        done.push(['asked about', messages.length]);
        return { scope: decide(), value };
      },
    },
  };
  return { runs: new AgUiRuns(options as unknown as AgUiRunsOptions), done };
}

it('a user whom the project refuses a run has nothing of the thread read', async () => {
  const { runs, done } = openRuns(() => {
    throw new Error('refused');
  });
  await expect(runs.start(call, input)).rejects.toThrow('refused');
  expect(done).toEqual([['asked about', 1]]);
});

it.each<[string, string | undefined, [string, unknown][]]>([
  ['as it came', undefined, []],
  ['and again about what the thread leaves of it', 'm', [['asked about', 0]]],
])('a project is asked about a run %s, and its state is read as the user may see it', async (_, known, again) => {
  const { runs, done } = openRuns(() => ADA, known);
  await runs.start(call, input);
  expect(done).toEqual([['asked about', 1], ['read within', ADA], ...again]);
});
