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
