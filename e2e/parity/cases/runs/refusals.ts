import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { type ParityCase, shownElsewhere, statusCase } from '../../framework/index.ts';
import { ALL_OPERATIONS, callRunOperation, createPendingRun, ON_THREAD, WITHOUT_THREAD } from './run-fixtures.ts';

const base = { assistant_id: 'mirror', input: { text: 'hi' } };

/** Cases of runs that are not accepted. */
export const cases: ParityCase[] = [
  ...ALL_OPERATIONS.map((operation) =>
    statusCase({
      operation,
      status: 400,
      promise: 'configurable values and context together are refused',
      run: async (context) => {
        const answer = await callRunOperation(context, {
          ...base,
          context: { a: 1 },
          config: { configurable: { b: 1 } },
        });
        expect(answer.body.detail).toContain('Cannot specify both configurable and context');
        return answer;
      },
    }),
  ),
  ...WITHOUT_THREAD.map((operation) =>
    statusCase({
      operation,
      status: 404,
      promise: 'an assistant that is not there is told',
      run: (context) => callRunOperation(context, { ...base, assistant_id: randomUUID() }),
    }),
  ),
  ...ON_THREAD.map((operation) =>
    statusCase({
      operation,
      status: 409,
      promise: 'a busy thread is told to who wants to be refused then',
      run: async (context) => {
        const { thread_id: threadId } = await createPendingRun(context);
        const answer = await callRunOperation(context, { ...base, multitask_strategy: 'reject' }, { threadId });
        expect(answer.body.detail).toContain('Thread is already running a task');
        return answer;
      },
    }),
  ),
  ...ON_THREAD.map((operation) =>
    shownElsewhere({
      operation,
      status: 429,
      promise: 'a run on a thread with as many waiting runs as may wait is refused, alone, until one of them begins',
      test: 'packages/run-engine/test/waiting-runs-limit.test.ts',
    }),
  ),
  ...[402, 429].flatMap((status) =>
    ALL_OPERATIONS.map((operation) =>
      shownElsewhere({
        operation,
        status,
        promise: 'a budget of runs refuses one too many by each operation and protocol, and nothing of it stays',
        test: 'e2e/tests/budgets.test.ts',
      }),
    ),
  ),
];
