import { expect } from 'vitest';
import { type FieldCase, fieldCase, type ParityAnswer, type ParityContext } from '../../framework/index.ts';

export const ON_THREAD = ['createRun', 'streamRun', 'waitRun'];
export const WITHOUT_THREAD = ['createStatelessRun', 'streamStatelessRun', 'waitStatelessRun', 'createRunBatch'];
export const DISCONNECTABLE = ['streamRun', 'waitRun', 'streamStatelessRun', 'waitStatelessRun'];
export const ALL_OPERATIONS = [...ON_THREAD, ...WITHOUT_THREAD];

export type Body = Record<string, unknown>;

export interface MadeRun {
  answer: ParityAnswer;
  threadId: string;
  runId: string;
}

/** Returns cases for a field of run bodies, in a batch too, where every item has it. */
export function runFieldCases({ field, operations = ALL_OPERATIONS, ...rest }: RunFieldCase): FieldCase[] {
  const single = operations.filter((operation) => operation !== 'createRunBatch');
  return [
    ...(single.length > 0 ? [fieldCase({ ...rest, field: `body.${field}`, operations: single })] : []),
    ...(single.length < operations.length
      ? [fieldCase({ ...rest, field: `body[].${field}`, operations: ['createRunBatch'] })]
      : []),
  ];
}

type RunFieldCase = Omit<FieldCase, 'kind' | 'operations' | 'field'> & { field: string; operations?: string[] };

export async function newThread({ direct }: ParityContext): Promise<string> {
  return (await direct.client.threads.create()).thread_id;
}

/** Requests a run by the operation under test; on a thread of its own unless one is given. */
export async function callRunOperation(
  context: ParityContext,
  body: Body,
  options: { threadId?: string; query?: Body } = {},
) {
  const { operation } = context;
  const threadId = ON_THREAD.includes(operation) ? (options.threadId ?? (await newThread(context))) : undefined;
  return context.call(operation, {
    ...(threadId !== undefined && { params: { thread_id: threadId } }),
    ...(options.query && { query: options.query }),
    body: operation === 'createRunBatch' ? [body] : body,
  });
}

/** Requests a run that has to be accepted; it has ended where the operation waits for that. */
export async function createRun(...[context, body, options]: Parameters<typeof callRunOperation>): Promise<MadeRun> {
  const answer = await callRunOperation(context, body, options);
  expect(answer.status, answer.text).toBe(200);
  const made = Array.isArray(answer.body) ? answer.body[0] : answer.body;
  if (made?.run_id) return { answer, threadId: made.thread_id, runId: made.run_id };
  return { answer, ...(await readRunLocation(context, answer.headers)) };
}

/** Returns the run that an answer's `Content-Location` names. */
export async function readRunLocation({ direct }: ParityContext, headers: Headers): Promise<Omit<MadeRun, 'answer'>> {
  const [, , threadId, runId] =
    /^(\/threads\/([^/]+))?\/runs\/([^/]+)$/.exec(headers.get('content-location') ?? '') ?? [];
  if (runId === undefined) throw new Error('the answer names no run');
  if (threadId !== undefined) return { threadId, runId };
  return { threadId: (await direct.call('getStatelessRun', { params: { run_id: runId } })).body.thread_id, runId };
}

/** Returns the run's result, as a join answers it. */
export async function resultOf({ direct }: ParityContext, { threadId, runId }: MadeRun) {
  return (await direct.call('joinRun', { params: { thread_id: threadId, run_id: runId } })).body;
}

export async function recordOf({ direct }: ParityContext, { runId }: MadeRun) {
  return (await direct.call('getStatelessRun', { params: { run_id: runId } })).body;
}

/** Runs the graph `mirror` to its end. */
export async function runMirror(context: ParityContext, body: Body, options: { threadId?: string } = {}) {
  const made = await createRun(context, { assistant_id: 'mirror', input: { text: 'hi' }, ...body }, options);
  return { made, values: await resultOf(context, made) };
}

/** Creates a run on a thread that stays pending for an hour. */
export async function createPendingRun({ direct }: ParityContext, threadId?: string) {
  const { thread_id } = threadId ? { thread_id: threadId } : await direct.client.threads.create();
  const run = await direct.client.runs.create(thread_id, 'mirror', { input: { text: 'later' }, afterSeconds: 3600 });
  return { thread_id, run_id: run.run_id };
}

/** Creates a run on a thread and waits for its success. */
export async function createEndedRun({ direct }: ParityContext) {
  const { thread_id } = await direct.client.threads.create();
  const { run_id } = await direct.client.runs.create(thread_id, 'mirror', { input: { text: 'over' } });
  await direct.client.runs.join(thread_id, run_id);
  return { thread_id, run_id };
}

/** Creates a run that has begun and lasts for so many seconds unless it is cancelled. */
export async function createLongRun({ direct }: ParityContext, { seconds = 10 } = {}) {
  const { thread_id } = await direct.client.threads.create();
  const input = { name: 'long', steps: 20, stepMs: seconds * 50 };
  for await (const { event, data } of direct.client.runs.stream(thread_id, 'slow', { input })) {
    if (event === 'metadata') return { thread_id, run_id: String(data.run_id) };
  }
  throw new Error('the run told nothing of itself');
}
