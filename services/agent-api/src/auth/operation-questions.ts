/** The questions that the operations ask of the project's handlers. */
import { type QueryFlag, ThreadCreate } from '@runyard/contracts';
import { parseNamespace } from '../http/namespace-query.ts';
import { isSet } from '../http/query-flag.ts';
import { isContinuing } from '../streams/continuation.ts';
import type { AuthEvent } from './auth-events.ts';
import {
  askAboutNested,
  askAboutPath,
  askAboutRequest,
  type Question,
  type RequestParts,
  withMetadata,
} from './question.ts';

export const CREATE_ASSISTANT = withMetadata(askAboutRequest('assistants:create'));
export const READ_ASSISTANT = askAboutPath('assistants:read');
export const UPDATE_ASSISTANT = askAboutRequest('assistants:update');
export const DELETE_ASSISTANT = askAboutRequest('assistants:delete');
export const SEARCH_ASSISTANTS = askAboutRequest('assistants:search');

export const CREATE_THREAD = withMetadata(askAboutRequest('threads:create'));
export const READ_THREAD = askAboutPath('threads:read');
/** The thread of a run whose path does not name it. */
export const READ_THREAD_OF_RUN: Question = {
  ...READ_THREAD,
  subject: () => 'run',
  show: ({ params }, { thread_id = null } = {}) => ({ ...params, thread_id }),
};
export const UPDATE_THREAD = askAboutRequest('threads:update');
export const DELETE_THREAD = askAboutPath('threads:delete');
export const PRUNE_THREADS = askAboutRequest('threads:delete');
export const SEARCH_THREADS = askAboutRequest('threads:search');

/** The copy of a thread is a new one, to which the handler may give metadata. */
export const CREATE_COPY: Question = {
  event: 'threads:create',
  givenBody: ThreadCreate,
  show: () => ({ metadata: {} }),
  apply: (parts, { metadata }) => ({ ...parts, body: { metadata } }),
};

export const READ_CRON = askAboutPath('crons:read');
export const DELETE_CRON = askAboutPath('crons:delete');
export const SEARCH_CRONS = askAboutRequest('crons:search');

/** The threads of an assistant that are deleted with it. */
export const DELETE_THREADS_OF_ASSISTANT: Question = {
  event: 'threads:delete',
  isNeeded: ({ query }) => isSet(query.delete_threads as QueryFlag | undefined),
  show: () => ({}),
  apply: (parts) => parts,
};

/** A row that exists already is shown to those alone who may read it. */
const readExisting = (event: AuthEvent, id: string): Question => ({
  event,
  isNeeded: ({ body = {} }) => body.if_exists === 'do_nothing' && body[id] !== undefined,
  show: ({ body = {} }) => ({ [id]: body[id] }),
  apply: (parts, value) => ({ ...parts, body: { ...parts.body, [id]: value[id] } }),
});
export const READ_EXISTING_ASSISTANT = readExisting('assistants:read', 'assistant_id');
export const READ_EXISTING_THREAD = readExisting('threads:read', 'thread_id');

/** Fields of runs that the SDK does not type as `kwargs`. */
const OUTSIDE_OF_RUN = ['assistant_id', 'metadata', 'multitask_strategy', 'if_not_exists', 'after_seconds'];
const RUN = { inner: 'kwargs', outer: OUTSIDE_OF_RUN };
const aboutRun = withMetadata(askAboutNested('threads:create_run', RUN));

/** Handlers know one of the two names under which a request may ask for a thread to be created. */
export const CREATE_RUN: Question = {
  ...aboutRun,
  show: ({ body: { on_not_exist, ...body } = {}, ...parts }, subject) => {
    const mayCreate = on_not_exist === 'create' ? { if_not_exists: 'create' } : {};
    return aboutRun.show({ ...parts, body: { ...body, ...mayCreate } }, subject);
  },
};

/** The assistant of a run or a cron that is created. */
export const READ_ASSISTANT_OF_RUN: Question = {
  event: 'assistants:read',
  show: ({ body = {} }) => ({ assistant_id: body.assistant_id }),
  apply: (parts, { assistant_id }) => ({ ...parts, body: { ...parts.body, assistant_id } }),
};

/** To cancel a run when its client leaves is a change of its thread. One process may continue the answer of another. */
export const CANCEL_ON_LEAVING: Question = {
  ...askAboutPath('threads:update'),
  isNeeded: ({ query }) => isSet(query.cancel_on_disconnect as QueryFlag | undefined),
  toleratesRefusal: isContinuing,
  show: ({ params }) => ({ ...params, action: 'interrupt' }),
};

/** The same about a run whose path does not name its thread. */
export const CANCEL_OF_RUN_ON_LEAVING: Question = {
  ...CANCEL_ON_LEAVING,
  subject: () => 'run',
  show: ({ params }, { thread_id = null } = {}) => ({ ...params, thread_id, action: 'interrupt' }),
};

/** Fields of crons that say when they fire. */
const OF_CRON_ALONE = ['schedule', 'timezone', 'end_time', 'enabled', 'is_enabled', 'on_run_completed'];
const OUTSIDE_OF_CRON = [...OF_CRON_ALONE, 'metadata'];
export const CREATE_CRON = withMetadata(askAboutNested('crons:create', { inner: 'payload', outer: OUTSIDE_OF_CRON }));

/** Without the thread, which a change does not name. */
const aboutCron = askAboutNested('crons:update', { inner: 'payload', outer: OUTSIDE_OF_CRON });
export const UPDATE_CRON: Question = {
  ...aboutCron,
  show: (parts) => {
    const { thread_id: _, ...value } = aboutCron.show(parts);
    return value;
  },
};

/** The runs of a cron, as those who create them one by one ask. */
export const CREATE_RUNS_OF_CRON = withMetadata(
  askAboutNested('threads:create_run', { ...RUN, hidden: OF_CRON_ALONE }),
);

/** Returns whether a change of a cron says what its runs do, and not only when. */
export function changesRuns({ body = {} }: Pick<RequestParts, 'body'>): boolean {
  return Object.keys(body).some((name) => !OUTSIDE_OF_CRON.includes(name));
}

/** The runs of a cron that is changed: of its assistant, which stays the same, and on its thread, if it has one. */
export const CHANGE_RUNS_OF_CRON: Question = {
  ...CREATE_RUNS_OF_CRON,
  subject: () => 'cron',
  isNeeded: changesRuns,
  apply: (parts, { assistant_id: _, ...value }) => CREATE_RUNS_OF_CRON.apply(parts, value),
};

/** The assistant of a cron that is changed: the cron alone knows it. */
export const READ_ASSISTANT_OF_CRON: Question = {
  event: 'assistants:read',
  subject: () => 'cron',
  isNeeded: changesRuns,
  show: (_, { assistant_id } = {}) => ({ assistant_id }),
  apply: (parts) => parts,
};

export const PUT_ITEM = askAboutRequest('store:put');
export const GET_ITEM = askAboutNamespace('store:get', 'query', 'namespace');
export const DELETE_ITEM = askAboutNamespace('store:delete', 'body', 'namespace');
export const SEARCH_ITEMS = askAboutNamespace('store:search', 'body', 'namespace_prefix');
export const LIST_NAMESPACES = askAboutNamespace('store:list_namespaces', 'body', 'prefix');

/** Asks about items: handlers get a list of labels as `namespace`, whatever the operation calls it. */
function askAboutNamespace(event: AuthEvent, place: 'query' | 'body', name: string): Question {
  return {
    event,
    show({ [place]: { [name]: namespace, ...others } = {} }) {
      return { ...others, namespace: parseNamespace((namespace ?? undefined) as string | string[] | undefined) ?? [] };
    },
    apply: (parts, { namespace, ...others }) => ({ ...parts, [place]: { ...others, [name]: namespace } }),
  };
}
