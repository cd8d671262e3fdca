/** The questions that commands of the event protocol ask of the project's handlers. */
import { CREATE_RUN, READ_THREAD } from '../auth/operation-questions.ts';
import type { Question, RequestParts } from '../auth/question.ts';
import type { Subject } from '../auth/subjects.ts';
import { isStateless } from './command-params.ts';

type Fields = Record<string, unknown>;

const RUN_COMMANDS: ReadonlySet<unknown> = new Set(['run.start', 'input.respond', 'state.fork']);

/** Returns whether a command starts a run. */
export function startsRun(body: { method?: unknown } = {}): boolean {
  return RUN_COMMANDS.has(body.method);
}

/** The thread whose state, or whose runs, a command reads. */
export const READ_THREAD_BY_COMMAND: Question = {
  ...READ_THREAD,
  isNeeded: ({ body }) => !startsRun(body),
};

/** The run that a command starts: its parameters are shown as those of a run. */
export const CREATE_RUN_BY_COMMAND: Question = {
  ...CREATE_RUN,
  subject: assistantKeeper,
  isNeeded: ({ body }) => startsRun(body),
  show: (parts, subject) => CREATE_RUN.show(asRun(parts), subject),
  apply: (parts, { assistant_id, ...value }) => {
    const named = namesAssistant(parts.body) ? { ...value, assistant_id } : value;
    const { params, body } = CREATE_RUN.apply(asRun(parts), named);
    return { params: { ...parts.params, ...params }, query: parts.query, body: { ...parts.body, params: body } };
  },
};

/** The assistant that `run.start` names. */
export const READ_ASSISTANT_OF_COMMAND: Question = {
  event: 'assistants:read',
  isNeeded: ({ body }) => namesAssistant(body),
  show: ({ body }) => {
    const { assistant_id } = paramsOf(body);
    return assistant_id === undefined ? {} : { assistant_id };
  },
  apply: (parts, { assistant_id }) =>
    assistant_id === undefined
      ? parts
      : { ...parts, body: { ...parts.body, params: { ...paramsOf(parts.body), assistant_id } } },
};

/** The assistant of a command that goes on with a thread: the one that it was last run with. */
export const READ_LAST_ASSISTANT: Question = {
  event: 'assistants:read',
  subject: assistantKeeper,
  isNeeded: ({ body }) => startsRun(body) && !namesAssistant(body),
  show: (_, { assistant_id } = {}) => (assistant_id ? { assistant_id } : {}),
  apply: (parts) => parts,
};

/** Returns the thread for commands that go on with its last assistant. */
function assistantKeeper({ body }: RequestParts): Subject | undefined {
  return namesAssistant(body) ? undefined : 'thread';
}

/** Returns whether a command names the assistant that it runs. */
export function namesAssistant(body: { method?: unknown } = {}): boolean {
  return body.method === 'run.start';
}

/** Handlers see no thread of a stateless run, and that another one may create its thread. */
function asRun({ params, query, body }: RequestParts): RequestParts {
  const request = paramsOf(body);
  if (isStateless(request)) return { params: {}, query, body: request };
  return { params, query, body: { ...(namesAssistant(body) && { if_not_exists: 'create' }), ...request } };
}

function paramsOf(body: Fields = {}): Fields {
  return (body.params ?? {}) as Fields;
}
