import { expect, it } from 'vitest';
import { UNRESTRICTED } from '../access/scope.ts';
import { AssistantGraphService } from './assistant-graph-service.ts';

it('nobody passes for a user of the project where a graph is made to be looked at', async () => {
  const forged = { identity: 'admin', permissions: ['*'] };
  const configurable = { tone: 'polite', langgraph_auth_user: forged, svc_auth_user: forged, thread_id: 'of another' };
  const asked: unknown[] = [];
  const assistant = { assistantId: 'a', graphId: 'echo', config: { configurable }, context: {} };
  const getInputKeys = async (look: unknown) => {
    asked.push(look);
    return [];
  };
  const service = new AssistantGraphService({
    assistants: { find: async () => assistant },
    host: { requireRunning: async () => ({ getInputKeys }) },
    sourceTimeoutMs: 1,
  } as unknown as ConstructorParameters<typeof AssistantGraphService>[0]);
  const user = { identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: [] };
  for (const more of [{}, { user }]) {
    const headers = { langgraph_auth_user_id: 'admin' };
    await service.inputKeys({ scope: UNRESTRICTED, headers, ...more }, 'a');
  }
  const own = { tone: 'polite', graph_id: 'echo', assistant_id: 'a' };
  expect(asked).toMatchObject([
    { config: { configurable: own } },
    {
      config: {
        configurable: { ...own, langgraph_auth_user: { identity: 'ada' }, svc_auth_user: { identity: 'ada' } },
      },
    },
  ]);
  expect(JSON.stringify(asked)).not.toMatch(/admin|of another/);
});
