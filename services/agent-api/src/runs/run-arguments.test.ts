import { RunArguments, validatorOf } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { publicArguments } from '../access/public-arguments.ts';
import type { RunAssistant } from '../assistants/assistant-lookup.ts';
import { buildRunMetadata, type RunRequest, toRunArguments } from './run-arguments.ts';

const assistant: RunAssistant = {
  assistantId: '046b5dc7-2108-582c-9c6c-31d556d138f0',
  graphId: 'echo',
  config: { recursion_limit: 7, configurable: { tone: 'polite', lang: 'en' } },
  context: { tone: 'polite' },
  metadata: { team: 'blue' },
  isSystem: true,
};
const identity = { runId: 'r', threadId: 't', isTemporary: false, requestId: 'q', userId: 'u' };
const argumentsOf = (request: Partial<RunRequest>) =>
  toRunArguments({ assistant_id: 'echo', ...request }, assistant, identity);

it('run arguments have every default filled in', () => {
  const made = argumentsOf({ input: { n: 1 } });
  expect(validatorOf(RunArguments)(structuredClone(made)).ok).toBe(true);
  expect(made).toMatchObject({
    input: { n: 1 },
    stream_mode: ['values'],
    durability: 'async',
    resumable: false,
    subgraphs: false,
    temporary: false,
  });
});

it("run arguments put the request's configuration over the assistant's", () => {
  const { config } = argumentsOf({ config: { tags: ['x'], configurable: { lang: 'de' } } });
  expect(config).toMatchObject({
    recursion_limit: 7,
    tags: ['x'],
    configurable: { tone: 'polite', lang: 'de', run_id: 'r', thread_id: 't', graph_id: 'echo' },
  });
});

it('run arguments let nobody name another thread or run, or pass for another user', () => {
  const { config } = argumentsOf({
    config: { configurable: { thread_id: 'other', run_id: 'other', langgraph_auth_user: 'root', __pregel_read: 1 } },
  });
  expect(config.configurable).toMatchObject({ thread_id: 't', run_id: 'r' });
  expect(config.configurable).not.toHaveProperty('langgraph_auth_user');
  expect(config.configurable).not.toHaveProperty('__pregel_read');
});

it('run arguments have the user of the project for the graph alone, and nobody passes for another one', () => {
  const user = { identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: ['p'], token: 'secret' };
  const request = {
    assistant_id: 'echo',
    config: { configurable: { user_id: 'bob' } },
    metadata: { svc_auth_user: 'bob' },
  };
  const made = toRunArguments(request, assistant, { ...identity, user });
  expect(made.config.configurable).toMatchObject({
    user_id: 'ada',
    langgraph_auth_user: user,
    langgraph_auth_user_id: 'ada',
    langgraph_auth_permissions: ['p'],
    svc_auth_user: user,
  });
  expect(JSON.stringify([made.context, made.config.metadata])).not.toMatch(/secret|svc_auth|langgraph_auth/);
  const shown = publicArguments(made as unknown as Record<string, unknown>, 'final');
  expect(shown).toMatchObject({
    input: null,
    config: { configurable: { thread_id: 'final', user_id: 'ada', lang: 'en' } },
  });
  expect(JSON.stringify(shown)).not.toMatch(/secret|svc_auth|langgraph_auth/);
});

it('run arguments start from a checkpoint named in the configuration', () => {
  expect(argumentsOf({ config: { configurable: { checkpoint_id: 'c' } } }).config.configurable.checkpoint_id).toBe('c');
});

it('run arguments mirror context into configurable and back', () => {
  expect(argumentsOf({ context: { lang: 'fr' } })).toMatchObject({
    context: { tone: 'polite', lang: 'fr' },
    config: { configurable: { lang: 'fr' } },
  });
  expect(argumentsOf({ config: { configurable: { lang: 'fr', checkpoint_id: 'c' } } }).context).toEqual({
    tone: 'polite',
    lang: 'fr',
  });
});

it('run arguments refuse context and configurable together', () => {
  expect(() => argumentsOf({ context: { a: 1 }, config: { configurable: { b: 1 } } })).toThrow(BadRequestError);
  expect(() => argumentsOf({ context: { a: 1 }, config: { configurable: {} } })).not.toThrow();
});

it('run arguments take the checkpoint in both forms', () => {
  expect(argumentsOf({ checkpoint_id: 'c1' }).config.configurable.checkpoint_id).toBe('c1');
  const { configurable } = argumentsOf({
    checkpoint: { checkpoint_id: 'c2', checkpoint_ns: '' },
  }).config;
  expect(configurable).toMatchObject({ checkpoint_id: 'c2', thread_id: 't' });
  expect(configurable).not.toHaveProperty('checkpoint_ns');
});

it('run arguments name the root graph with a map of checkpoints, as LangGraph wants it', () => {
  expect(argumentsOf({ checkpoint: { checkpoint_map: { '': 'c3' } } }).config.configurable).toMatchObject({
    checkpoint_map: { '': 'c3' },
    checkpoint_ns: '',
  });
});

it('run arguments name the tracing project of the request, or else of the deployment', () => {
  const asked = argumentsOf({ langsmith_tracer: { project_name: 'mine', example_id: 'e' } });
  expect(asked.config.configurable).toMatchObject({
    __langsmith_project__: 'mine',
    __langsmith_example_id__: 'e',
  });
  const { configurable } = toRunArguments({ assistant_id: 'echo' }, assistant, {
    ...identity,
    tracingProject: 'default',
  }).config;
  expect(configurable.__langsmith_project__).toBe('default');
  expect(argumentsOf({}).config.configurable).not.toHaveProperty('__langsmith_project__');
});

it('run arguments carry the trace that the run continues, whatever trace a client configures', () => {
  const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'a=1' };
  const request = { assistant_id: 'echo', config: { configurable: { __otel_traceparent__: 'forged' } } };
  expect(toRunArguments(request, assistant, { ...identity, trace }).config.configurable).toMatchObject({
    __otel_traceparent__: trace.traceparent,
    __otel_tracestate__: 'a=1',
  });
  expect(toRunArguments(request, assistant, identity).config.configurable).not.toHaveProperty('__otel_traceparent__');
});

it('run arguments keep the webhook and feedback keys of the request', () => {
  expect(argumentsOf({ webhook: 'https://a.test/hook', feedback_keys: ['a', 'a', 'b'] })).toMatchObject({
    webhook: 'https://a.test/hook',
    feedback_keys: ['a', 'b'],
  });
  expect(argumentsOf({ feedback_keys: [] }).feedback_keys).toBeNull();
});

it('run arguments read an empty list of stream modes as values, and one mode as a list of it', () => {
  expect(argumentsOf({ stream_mode: [] }).stream_mode).toEqual(['values']);
  expect(argumentsOf({ stream_mode: 'updates' }).stream_mode).toEqual(['updates']);
});

it('run arguments have durability and the older checkpoint_during, whichever is given', () => {
  const formsOf = (request: Partial<RunRequest>) => {
    const { durability, checkpoint_during: older } = argumentsOf(request);
    return [durability, older];
  };
  expect(formsOf({})).toEqual(['async', true]);
  expect(formsOf({ checkpoint_during: false })).toEqual(['exit', false]);
  expect(formsOf({ checkpoint_during: true })).toEqual(['async', true]);
  expect(formsOf({ checkpoint_during: false, durability: 'sync' })).toEqual(['sync', true]);
});

it('run metadata silently lose reserved keys and say who created the run', () => {
  const metadata = buildRunMetadata(
    { assistant_id: 'echo', metadata: { created_by: 'me', langgraph_x: 1, svc_y: 1, __z: 1, owner: 'ada' } },
    assistant,
  );
  expect(metadata).toEqual({
    team: 'blue',
    owner: 'ada',
    created_by: 'system',
    graph_id: 'echo',
    assistant_id: assistant.assistantId,
  });
});
