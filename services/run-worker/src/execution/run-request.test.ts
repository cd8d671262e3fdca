import { runArgumentsExample } from '@runyard/contracts';
import { expect, it } from 'vitest';
import { claimedRun } from '../../test/fakes.ts';
import { runRequest } from './run-request.ts';

it('asks the host for what the run was accepted with', () => {
  const run = claimedRun({ kwargs: { ...runArgumentsExample, context: { a: 1 } }, metadata: { mine: true } });
  expect(runRequest(run)).toEqual({
    runId: run.runId,
    threadId: run.threadId,
    assistantId: run.assistantId,
    graphId: 'agent',
    attempt: 1,
    continuesAttempt: false,
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

it('says where the trace goes when the run was created with that', () => {
  const configurable = { graph_id: 'agent', __langsmith_project__: 'mine', __langsmith_example_id__: 'e' };
  const kwargs = { ...runArgumentsExample, config: { configurable } };
  expect(runRequest(claimedRun({ kwargs })).tracing).toEqual({ project: 'mine', exampleId: 'e' });
});

it("passes on what else of LangChain's configuration means something to a run", () => {
  const config = { ...runArgumentsExample.config, run_name: 'mine', max_concurrency: 2, callbacks: ['no'] };
  const made = runRequest(claimedRun({ kwargs: { ...runArgumentsExample, config } })).config;
  expect(made).toMatchObject({ run_name: 'mine', max_concurrency: 2 });
  expect(made).not.toHaveProperty('callbacks');
});

it('a later attempt goes on from its own newest checkpoint, not from where the run began', () => {
  const kwargs = {
    ...runArgumentsExample,
    config: { configurable: { graph_id: 'agent', checkpoint_id: 'earlier', mine: 1 } },
  };
  expect(runRequest(claimedRun({ kwargs })).config.configurable).toMatchObject({ checkpoint_id: 'earlier', mine: 1 });
  const again = runRequest(claimedRun({ kwargs, hasCheckpoint: true, attempt: 2 }));
  expect(again.continuesAttempt).toBe(true);
  expect(again.config.configurable).not.toHaveProperty('checkpoint_id');
  expect(again.config.configurable).toMatchObject({ mine: 1 });
});

it('a later attempt does not give the answer to an interrupt twice, and stays at the checkpoint it was given for', () => {
  const kwargs = {
    ...runArgumentsExample,
    command: { resume: 'yes' },
    config: { configurable: { graph_id: 'agent', checkpoint_id: 'asked' } },
  };
  const again = runRequest(claimedRun({ kwargs, hasResumed: true, attempt: 2 }));
  expect(again.continuesAttempt).toBe(true);
  expect(again.config.configurable).toMatchObject({ checkpoint_id: 'asked' });
});
