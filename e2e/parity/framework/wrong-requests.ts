import { type Operation, validatorOf } from '@runyard/contracts';
import type { TSchema } from 'typebox';
import type { ParityRequest } from './context.ts';

export interface WrongRequest {
  /** The fault of the request. */
  fault: string;
  request: ParityRequest;
  /** The name that the answer has to contain. */
  names: string;
}

const NO_UUID = 'not-a-uuid';
/** Values of every JSON type; the first that a field's schema refuses is a fault. */
const CANDIDATES: unknown[] = [-7, 'zap wrong', true, [[7]], { wrong: true }];

/**
 * Returns requests that an operation has to refuse, one for each parameter and field whose schema refuses
 * anything.
 */
export function wrongRequests(operation: Operation): WrongRequest[] {
  // Faults of its requests are errors of its own protocol.
  if (operation.tags.includes('A2A') || operation.tags.includes('MCP')) return [];
  const right: ParityRequest = {
    params: { ...(operation.examples?.params as Record<string, string> | undefined) },
    query: { ...(operation.examples?.query as Record<string, unknown> | undefined) },
    ...(operation.body && { body: operation.examples?.body ?? {} }),
  };
  return [...wrongIds(operation, right), ...wrongQueries(operation, right), ...wrongBodies(operation, right)];
}

/** Returns the status of an operation's answer to such requests: a protocol may demand another one than usual. */
export function statusOfWrongRequests({ responses }: Pick<Operation, 'responses'>): number {
  return 400 in responses && !(422 in responses) ? 400 : 422;
}

function wrongIds(operation: Operation, right: ParityRequest): WrongRequest[] {
  return propertiesOf(operation.params)
    .filter(([, schema]) => refuses(schema, NO_UUID))
    .map(([name]) => ({
      fault: `${name} is no uuid`,
      request: { ...right, params: { ...right.params, [name]: NO_UUID } },
      names: 'UUID',
    }));
}

function wrongQueries(operation: Operation, right: ParityRequest): WrongRequest[] {
  return propertiesOf(operation.query)
    .filter(([, schema]) => refuses(schema, 'zap wrong', { coerce: true }))
    .map(([name]) => ({
      fault: `query ${name} is wrong`,
      request: { ...right, query: { ...right.query, [name]: 'zap wrong' } },
      names: name,
    }));
}

function wrongBodies(operation: Operation, right: ParityRequest): WrongRequest[] {
  if (!operation.body) return [];
  const isList = (operation.body as { type?: string }).type === 'array';
  const schema = isList ? (operation.body as unknown as { items: TSchema }).items : operation.body;
  const base = (isList ? (right.body as unknown[])[0] : right.body) as object;
  const wrong = propertiesOf(schema).flatMap(([name, field]) => {
    const value = CANDIDATES.find((candidate) => refuses(field, candidate));
    if (value === undefined) return [];
    const body = { ...base, [name]: value };
    return [{ fault: `${name} is wrong`, request: { ...right, body: isList ? [body] : body }, names: name }];
  });
  return [...wrong, { fault: 'the body is of another type', request: { ...right, body: 'text' }, names: '' }];
}

function propertiesOf(schema: TSchema | undefined): [string, TSchema][] {
  return Object.entries((schema as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {});
}

function refuses(schema: TSchema, value: unknown, options: { coerce?: boolean } = {}): boolean {
  return !validatorOf(schema, options)(structuredClone(value)).ok;
}
