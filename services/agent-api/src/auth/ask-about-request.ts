import { type Operation, validatorOf } from '@runyard/contracts';
import { ForbiddenError, type HandlerRequest } from '@runyard/service-kit';
import { inSlices } from '../access/in-slices.ts';
import type { Scope } from '../access/scope.ts';
import { ProjectRefusalError } from './auth-answers.ts';
import type { Authorizer } from './authorizer.ts';
import type { Question, RequestParts } from './question.ts';

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

/** Returns a function that asks about a request: the questions one after another, each about what the last left. */
export function askAboutOne(
  authorizer: Authorizer,
  operation: Operation,
  questions: readonly Question[],
): (original: HandlerRequest) => Promise<Answered<Scope[]>> {
  const validate = validatorOfParts(operation, questions);
  return async (original) => {
    const parts = partsOf(original, original.body);
    const answer = await askAll(authorizer, questions, original, parts);
    const request = answer.parts === parts ? original : withParts(original, validate(answer.parts));
    return { request, scopes: answer.scopes };
  };
}

/** Returns a function that asks about each item of a request whose body is a list. */
export function askAboutEach(
  authorizer: Authorizer,
  operation: Operation,
  questions: readonly Question[],
): (original: HandlerRequest) => Promise<Answered<Scope[][]>> {
  const validate = validatorOfParts(operation, questions);
  return async (original) => {
    const items = (original.body as unknown[]).map((item) => partsOf(original, item));
    const answers = await inSlices(items, (item) => askAll(authorizer, questions, original, item));
    const scopes = answers.map((answer) => answer.scopes);
    if (answers.every(({ parts }, index) => parts === items[index])) return { request: original, scopes };
    const { params, query } = partsOf(original, undefined);
    const body = answers.map(({ parts }) => parts.body);
    return { request: withParts(original, validate({ params, query, body })), scopes };
  };
}

/** Returns the same parts when no handler changed them. */
async function askAll(
  authorizer: Authorizer,
  questions: readonly Question[],
  { caller, headers }: HandlerRequest,
  parts: RequestParts,
): Promise<{ parts: RequestParts; scopes: Scope[] }> {
  const scopes: Scope[] = [];
  let left = parts;
  for (const question of questions) {
    if (question.isNeeded && !question.isNeeded(left)) {
      scopes.push(NOTHING);
      continue;
    }
    const value = question.show(left);
    try {
      const answer = await authorizer.authorize(caller, question.event, value);
      if (answer.value !== value) left = question.apply(left, answer.value);
      scopes.push(answer.scope);
    } catch (error) {
      if (!isRefusal(error) || !question.toleratesRefusal?.(headers)) throw error;
      scopes.push(NOTHING);
    }
  }
  return { parts: left, scopes };
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
