import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { StateRefresher } from './state-refresher.ts';

const behind = (threadId: string) => ({ threadId, metadata: { graph_id: 'agent' } });

it('a thread whose graph never returns, or fails, delays no other, and is not read twice at once', async () => {
  const read: string[] = [];
  const refresher = new StateRefresher({
    logger: silentLogger,
    patienceMs: 1,
    state: {
      refresh: async ({ threadId }) => {
        read.push(threadId);
        if (threadId === 'hung') await new Promise(() => {});
        if (threadId === 'broken') throw new Error('no such node');
      },
    },
  });
  const threads = ['hung', 'broken', 'sound'].map(behind);
  refresher.begin(threads);
  await waitFor(() => read.length === 3, { what: 'all of them to be read' });
  await waitFor(() => {
    refresher.begin(threads);
    return read.length > 4;
  });
  expect(read.slice(0, 5)).toEqual(['hung', 'broken', 'sound', 'broken', 'sound']);
});
