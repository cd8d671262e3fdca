import type { IncomingHttpHeaders } from 'node:http';
import type { TSchema } from 'typebox';
import { type Fields, isFields } from '../http/fields.ts';
import type { AuthEvent } from './auth-events.ts';
import type { Subject } from './subjects.ts';

/** The parts of a request that the project's handlers see, and may change. */
export interface RequestParts {
  params: Fields;
  query: Fields;
  /** Undefined for an operation without a body. */
  body: Fields | undefined;
}

/** A question to the project's handlers about a request: may its caller do this, and to what? */
export interface Question {
  event: AuthEvent;
  /** Returns the thing that knows ids which the request does not name. Left out: the request names all. */
  subject?(parts: RequestParts): Subject | undefined;
  /** Returns the `value` that the handler gets. @param subject the ids of `subject` */
  show(parts: RequestParts, subject?: Fields): Fields;
  /** Returns the request with the handler's changes, which are not validated yet. */
  apply(parts: RequestParts, value: Fields): RequestParts;
  /** Returns whether the request needs the answer; its scope is empty otherwise. Left out: every request does. */
  isNeeded?(parts: RequestParts): boolean;
  /** Returns whether a refusal only leaves the scope empty. Left out: a refusal refuses the request. */
  toleratesRefusal?(headers: IncomingHttpHeaders): boolean;
  /** The schema of a body that only the project's handler can give. */
  givenBody?: TSchema;
}

/** Asks about what the path names. The handler may name something else. */
export function askAboutPath(event: AuthEvent): Question {
  return {
    event,
    show: ({ params }) => ({ ...params }),
    apply: (parts, value) => ({ ...parts, params: pick(value, parts.params) }),
  };
}

/** Asks about the whole request: the fields of path, query and body are one value. */
export function askAboutRequest(event: AuthEvent): Question {
  return {
    event,
    show: ({ params, query, body }) => ({ ...query, ...body, ...params }),
    apply: ({ params, query, body }, value) => ({
      params: pick(value, params),
      query: pick(value, query),
      body: body && omit(value, { ...omit(query, body), ...params }),
    }),
  };
}

/** Shows handlers of what creates something metadata to write to, also where the client sends none. */
export function withMetadata(question: Question): Question {
  return {
    ...question,
    show(parts, subject) {
      const value = question.show(parts, subject);
      return { ...value, metadata: value.metadata ?? {} };
    },
    apply: (parts, value) => question.apply({ ...parts, body: parts.body ?? {} }, value),
  };
}

/** How a body is shown that the SDK types with an object inside. */
export interface Nesting {
  /** The name of the object inside. */
  inner: string;
  /** The fields that stay outside of it. */
  outer: readonly string[];
  /** Fields that this question is not about. */
  hidden?: readonly string[];
}

/** Asks about a request for a run, or for a cron, on the thread of the path or on none. */
export function askAboutNested(event: AuthEvent, { inner, outer, hidden = [] }: Nesting): Question {
  return {
    event,
    show({ params, body = {} }, subject) {
      const [, shown] = split(body, hidden);
      const [outside, inside] = split(shown, outer);
      return { ...outside, thread_id: null, ...subject, ...params, [inner]: inside };
    },
    apply({ params, query, body = {} }, { [inner]: inside, ...outside }) {
      const [kept] = split(body, hidden);
      const changed = { ...(isFields(inside) && inside), ...omit(outside, { ...params, thread_id: null }) };
      return { params: pick(outside, params), query, body: { ...omit(changed, kept), ...kept } };
    },
  };
}

/** Returns the fields of a value that are in another one too. */
function pick(value: Fields, names: Fields): Fields {
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(names, name)));
}

/** Returns the fields of a value that are not in another one. */
function omit(value: Fields, names: Fields): Fields {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !Object.hasOwn(names, name)));
}

/** Returns the fields with these names, and the others. */
function split(value: Fields, names: readonly string[]): [Fields, Fields] {
  const named = Object.fromEntries(names.map((name) => [name, true]));
  return [pick(value, named), omit(value, named)];
}
