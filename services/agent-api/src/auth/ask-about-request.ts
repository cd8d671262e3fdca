import { isDeepStrictEqual } from 'node:util';
import { type Operation, validatorOf } from '@runyard/contracts';
import { ForbiddenError, type HandlerRequest } from '@runyard/service-kit';
import { inSlices } from '../access/in-slices.ts';
import type { Scope } from '../access/scope.ts';
import type { Fields } from '../http/fields.ts';
import { ProjectRefusalError } from './auth-answers.ts';
import type { Authorizer } from './authorizer.ts';
import type { Question, RequestParts } from './question.ts';
import type { Subjects } from './subjects.ts';

/** The parts that answer questions about requests. */
export interface GuardParts {
  authorizer: Pick<Authorizer, 'authorize'>;
  subjects: Subjects;
}

/** A handler of the project left a value that the operation does not take. Nothing is done then. */
export class AuthValueError extends Error {
  constructor(operationId: string, issues: string) {
    super(`The auth handler left a value that ${operationId} does not take: ${issues}`);
    this.name = 'AuthValueError';
  }
}

/** The scope of a question that was not asked, or whose refusal is tolerated: nothing. */
const NOTHING: Scope = [];
const FORBIDDEN = 403;

interface Answered<Scopes> {
  /** The request as the project's handlers left it: valid for the operation. */
  request: HandlerRequest;
  scopes: Scopes;
}

/** Returns a function that asks about a request: each question about what the handler of the one before left. */
export function askAboutOne(
  guard: GuardParts,
  operation: Operation,
  questions: readonly Question[],
): (original: HandlerRequest) => Promise<Answered<Scope[]>> {
  const validate = validatorOfParts(operation, questions);
  return async (original) => {
    const parts = partsOf(original, original.body);
    const answer = await askAll(guard, questions, original, parts);
    const request = answer.parts === parts ? original : withParts(original, validate(answer.parts));
    return { request, scopes: answer.scopes };
  };
}

/** Returns a function that asks about each item of a request whose body is a list. */
export function askAboutEach(
  guard: GuardParts,
  operation: Operation,
  questions: readonly Question[],
): (original: HandlerRequest) => Promise<Answered<Scope[][]>> {
  const validate = validatorOfParts(operation, questions);
  return async (original) => {
    const items = (original.body as unknown[]).map((item) => partsOf(original, item));
    const answers = await inSlices(items, (item) => askAll(guard, questions, original, item));
    const scopes = answers.map((answer) => answer.scopes);
    if (answers.every(({ parts }, index) => parts === items[index])) return { request: original, scopes };
    const { params, query } = partsOf(original, undefined);
    const body = answers.map(({ parts }) => parts.body);
    return { request: withParts(original, validate({ params, query, body })), scopes };
  };
}

/**
 * Asks all questions at once, about the request as it came: what a handler changes is seldom what the next one is shown.
 * A question about something that has changed is asked again. Returns the same parts when no handler changed them.
 */
async function askAll(
  guard: GuardParts,
  questions: readonly Question[],
  { caller, headers }: HandlerRequest,
  parts: RequestParts,
): Promise<{ parts: RequestParts; scopes: Scope[] }> {
  const { authorizer } = guard;
  const subjects = onceEach(guard.subjects);
  const ask = ({ event }: Question, value: Fields | undefined) => {
    const answer = value && authorizer.authorize(caller, event, value);
    // A refusal counts when it is the question's turn, if the question is still the same then.
    answer?.catch(() => undefined);
    return { value, answer };
  };
  const asked = await Promise.all(
    questions.map(async (question) => ask(question, await shownBy(question, parts, subjects))),
  );
  const scopes: Scope[] = [];
  let left = parts;
  for (const [index, question] of questions.entries()) {
    let { value, answer } = asked[index]!;
    const shown = left === parts ? value : await shownBy(question, left, subjects);
    if (!isDeepStrictEqual(shown, value)) ({ value, answer } = ask(question, shown));
    try {
      const given = await answer;
      if (given && given.value !== value) left = question.apply(left, given.value);
      scopes.push(given?.scope ?? NOTHING);
    } catch (error) {
      if (!isRefusal(error) || !question.toleratesRefusal?.(headers)) throw error;
      scopes.push(NOTHING);
    }
  }
  return { parts: left, scopes };
}

/** Returns what the question is about; undefined when the request does not need it. */
async function shownBy(
  { isNeeded, subject: subjectOf, show }: Question,
  parts: RequestParts,
  subjects: Subjects,
): Promise<Fields | undefined> {
  if (isNeeded && !isNeeded(parts)) return undefined;
  const subject = subjectOf?.(parts);
  return subject ? show(parts, await subjects.find(subject, parts.params)) : show(parts);
}

/** Looks each subject up once: several questions of a request are about the same. */
function onceEach(subjects: Subjects): Subjects {
  const found = new Map<string, Promise<Fields>>();
  return {
    find(subject, params) {
      const name = JSON.stringify([subject, params]);
      const finding = found.get(name) ?? subjects.find(subject, params);
      found.set(name, finding);
      return finding;
    },
  };
}

function isRefusal(error: unknown): boolean {
  return (error instanceof ForbiddenError || error instanceof ProjectRefusalError) && error.status === FORBIDDEN;
}

/** Validates changed parts: their numbers and flags are no texts any more. @throws AuthValueError */
function validatorOfParts(operation: Operation, questions: readonly Question[]) {
  const given = questions.find(({ givenBody }) => givenBody)?.givenBody;
  const schemas = { params: operation.params, query: operation.query, body: operation.body ?? given };
  const validators = Object.entries(schemas).map(([name, schema]) => [name, schema && validatorOf(schema)] as const);
  return (parts: { params: unknown; query: unknown; body: unknown }) => {
    const left: Record<string, unknown> = { ...parts };
    for (const [name, validate] of validators) {
      if (!validate || left[name] === undefined) continue;
      const checked = validate(left[name]);
      if (!checked.ok) {
        const issues = checked.issues.map(({ path, message }) => `${[name, ...path].join('.')} ${message}`);
        throw new AuthValueError(operation.operationId, issues.join('; '));
      }
      left[name] = checked.value;
    }
    return left as typeof parts;
  };
}

function partsOf({ params, query }: HandlerRequest, body: unknown): RequestParts {
  return { params, query, body } as RequestParts;
}

function withParts(
  original: HandlerRequest,
  { params, query, body }: { params: unknown; query: unknown; body: unknown },
): HandlerRequest {
  const { caller, headers, raw, res, log } = original;
  return {
    caller,
    headers,
    raw,
    res,
    log,
    params,
    query,
    body,
    // Made when somebody reads it: each one listens to the response.
    get signal() {
      return original.signal;
    },
  };
}
