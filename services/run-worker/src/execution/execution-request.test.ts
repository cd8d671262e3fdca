import { runArgumentsExample } from '@runyard/contracts';
import { expect, it } from 'vitest';
import { claimedRun } from '../../test/fakes.ts';
import { toExecutionRequest } from './execution-request.ts';

it('a request to the host carries the arguments that the run was accepted with', () => {
  const run = claimedRun({ kwargs: { ...runArgumentsExample, context: { a: 1 } }, metadata: { mine: true } });
  expect(toExecutionRequest(run)).toEqual({
    runId: run.runId,
    threadId: run.threadId,
    assistantId: run.assistantId,
    graphId: 'agent',
    attempt: 1,
    input: runArgumentsExample.input,
    config: {
      configurable: {
        run_id: run.runId,
        thread_id: run.threadId,
        assistant_id: run.assistantId,
        graph_id: 'agent',
      },
      metadata: { mine: true },
    },
    context: { a: 1 },
    streamModes: ['values'],
    streamSubgraphs: false,
    durability: 'async',
  });
});

it('a request to the host says that there are no checkpoints of a thread that was never written', () => {
  const kwargs = { ...runArgumentsExample };
  expect(toExecutionRequest(claimedRun({ kwargs, isThreadNew: true })).isThreadNew).toBe(true);
  expect(toExecutionRequest(claimedRun({ kwargs }))).not.toHaveProperty('isThreadNew');
});

it('a request to the host names the tracing project of the run', () => {
  const configurable = { graph_id: 'agent', __langsmith_project__: 'mine', __langsmith_example_id__: 'e' };
  const kwargs = { ...runArgumentsExample, config: { configurable } };
  expect(toExecutionRequest(claimedRun({ kwargs })).tracing).toEqual({ project: 'mine', exampleId: 'e' });
});

it("a request to the host has the caller's own trace, and the attempt's place in the platform's", () => {
  const configurable = {
    graph_id: 'agent',
    __langsmith_trace__: 't',
    __langsmith_baggage__: 'b',
    __otel_traceparent__: 'p',
  };
  const run = claimedRun({ kwargs: { ...runArgumentsExample, config: { configurable } } });
  const spans = { parentSpanId: 's', withContent: false };
  const made = toExecutionRequest(run, { context: { traceparent: 'own', tracestate: 'a=1' }, spans });
  expect(made).toMatchObject({ tracing: { parent: { trace: 't', baggage: 'b' } }, traceparent: 'own', spans });
  expect(made.config.configurable).toMatchObject({ __otel_traceparent__: 'own', __otel_tracestate__: 'a=1' });
});

it("a request to the host passes on the other keys of LangChain's configuration that mean something to a run", () => {
  const config = { ...runArgumentsExample.config, run_name: 'mine', max_concurrency: 2, callbacks: ['no'] };
  const made = toExecutionRequest(claimedRun({ kwargs: { ...runArgumentsExample, config } })).config;
  expect(made).toMatchObject({ run_name: 'mine', max_concurrency: 2 });
  expect(made).not.toHaveProperty('callbacks');
});

it('a request of every attempt says where the run began, and the host decides whether to resume from there', () => {
  const kwargs = {
    ...runArgumentsExample,
    command: { resume: 'yes' },
    config: { configurable: { graph_id: 'agent', checkpoint_id: 'earlier', mine: 1 } },
  };
  const again = toExecutionRequest(claimedRun({ kwargs, attempt: 2 }));
  expect(again).toMatchObject({ attempt: 2, command: { resume: 'yes' } });
  expect(again.config.configurable).toMatchObject({ checkpoint_id: 'earlier', mine: 1 });
});
