/** The questions that commands of the event protocol ask of the project's handlers. */
import { CREATE_RUN, READ_THREAD } from '../auth/operation-questions.ts';
import type { Question, RequestParts } from '../auth/question.ts';
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
  isNeeded: ({ body }) => startsRun(body),
  show: (parts) => CREATE_RUN.show(asRun(parts)),
  apply: (parts, value) => {
    const { params, body } = CREATE_RUN.apply(asRun(parts), value);
    return { params: { ...parts.params, ...params }, query: parts.query, body: { ...parts.body, params: body } };
  },
};

/** The assistant of that run; only `run.start` names it. */
export const READ_ASSISTANT_OF_COMMAND: Question = {
  event: 'assistants:read',
  isNeeded: ({ body }) => startsRun(body),
  show: ({ body }) => {
    const { assistant_id } = paramsOf(body);
    return assistant_id === undefined ? {} : { assistant_id };
  },
  apply: (parts, { assistant_id }) =>
    assistant_id === undefined
      ? parts
      : { ...parts, body: { ...parts.body, params: { ...paramsOf(parts.body), assistant_id } } },
};

/** Handlers see no thread of a stateless run. */
function asRun({ params, query, body }: RequestParts): RequestParts {
  const request = paramsOf(body);
  return { params: isStateless(request) ? {} : params, query, body: request };
}

function paramsOf(body: Fields = {}): Fields {
  return (body.params ?? {}) as Fields;
}
