import { expect, it } from 'vitest';
import { LastConfiguration, type LastConfigurationOptions } from './last-configuration.ts';

const RUN = {
  threadId: 'source',
  kwargs: {
    config: {
      configurable: { node: 'runs', langgraph_auth_user: { identity: 'ada' }, langgraph_auth_permissions: [] },
    },
    context: null,
  },
};

it('the graph of a copied thread is made as the run of its source said, and not for the user of that run', async () => {
  const configuration = new LastConfiguration({
    host: { requireRunning: async () => ({ graphs: () => [{ graphId: 'made', isFactory: true }] }) },
    checkpoints: { newestOrigin: async () => ({ runId: 'run', assistantId: 'assistant' }) },
    engine: { findRuns: async () => [RUN] },
  } as unknown as LastConfigurationOptions);
  const configurableOf = async (threadId: string) => (await configuration.of(threadId, 'made'))?.configurable;
  expect(await configurableOf('source')).toMatchObject({ node: 'runs', langgraph_auth_user: { identity: 'ada' } });
  expect(await configurableOf('copy')).toEqual({ node: 'runs' });
});

it('where the run is gone, the configuration of its assistant names no user', async () => {
  const configurable = { node: 'runs', langgraph_auth_user: { identity: 'admin' }, thread_id: 'of another' };
  const configuration = new LastConfiguration({
    host: { requireRunning: async () => ({ graphs: () => [{ graphId: 'made', isFactory: true }] }) },
    checkpoints: { newestOrigin: async () => ({ runId: 'run', assistantId: 'assistant' }) },
    engine: { findRuns: async () => [] },
    assistants: () => ({ find: async () => ({ config: { configurable }, context: null }) }),
  } as unknown as LastConfigurationOptions);
  const own = { node: 'runs', graph_id: 'made', assistant_id: 'assistant' };
  expect((await configuration.of('thread', 'made'))?.configurable).toEqual(own);
});
