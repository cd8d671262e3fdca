import { describeShape, type Json, resolveReference, type Schema } from './schema-shape.ts';

/**
 * The direction of a schema: older clients write a `request` and read an `answer`; an `event` is both, since
 * processes of two releases read what the other wrote.
 */
type Direction = 'request' | 'answer' | 'event';

interface Documents {
  before: Schema;
  after: Schema;
  /**
   * Comparisons that were made already: each is reported once, where it was met first. Types that contain themselves
   * end here too.
   */
  compared: Set<string>;
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Returns the promises of an earlier OpenAPI or AsyncAPI document that a later one breaks, one sentence each. */
export function findBreakingChanges(before: Schema, after: Schema): string[] {
  const documents = { before, after, compared: new Set<string>() };
  return [...new Set([...operationChanges(documents), ...messageChanges(documents)])];
}

function operationChanges(documents: Documents): string[] {
  const found: string[] = [];
  for (const [path, item] of entries(documents.before.paths)) {
    for (const method of METHODS) {
      const before = item[method] as Schema | undefined;
      if (before === undefined) continue;
      const where = `${method.toUpperCase()} ${path}`;
      const after = object(object(documents.after.paths)[path])[method] as Schema | undefined;
      if (after === undefined) found.push(`${where} is gone`);
      else found.push(...operationChange(where, before, after, documents));
    }
  }
  return found;
}

function operationChange(where: string, before: Schema, after: Schema, documents: Documents): string[] {
  const found: string[] = [];
  const parametersBefore = parametersOf(before, documents.before);
  const parametersAfter = parametersOf(after, documents.after);
  for (const name of parametersBefore.keys()) {
    if (!parametersAfter.has(name)) found.push(`${where}: ${name} is gone`);
  }
  for (const [name, { required }] of parametersAfter) {
    if (required && !parametersBefore.get(name)?.required) found.push(`${where}: ${name} has become required`);
  }
  const [bodyBefore, bodyAfter] = [
    resolveReference(object(before.requestBody), documents.before),
    object(after.requestBody),
  ];
  if (object(resolveReference(bodyAfter, documents.after)).required && !bodyBefore.required) {
    found.push(`${where}: a body has become required`);
  }
  found.push(...contentChanges(`${where}, body`, bodyBefore, bodyAfter, 'request', documents));
  for (const [status, response] of entries(before.responses)) {
    const answer = object(after.responses)[status];
    const isSuccess = status.startsWith('2');
    if (answer === undefined && isSuccess) found.push(`${where}: the answer ${status} is gone`);
    if (answer === undefined) continue;
    found.push(...contentChanges(`${where}, ${status}`, response, object(answer), 'answer', documents));
  }
  return found;
}

function messageChanges(documents: Documents): string[] {
  const found: string[] = [];
  const after = object(object(documents.after.components).messages);
  for (const [name, message] of entries(object(documents.before.components).messages)) {
    if (after[name] === undefined) found.push(`${name} is gone`);
    else {
      const [from, to] = [object(message.payload), object(object(after[name]).payload)];
      found.push(...schemaChanges(name, [from], [to], 'event', documents));
    }
  }
  for (const [name, { address }] of entries(documents.before.channels)) {
    const now = object(object(documents.after.channels)[name]).address;
    if (now !== address) found.push(`the channel ${address} is gone`);
  }
  return found;
}

function contentChanges(
  where: string,
  before: Schema,
  after: Schema,
  direction: Direction,
  documents: Documents,
): string[] {
  const contentAfter = object(resolveReference(after, documents.after).content);
  return entries(resolveReference(before, documents.before).content).flatMap(([type, { schema }]) => {
    const now = contentAfter[type];
    if (now === undefined) return [`${where}: ${type} is gone`];
    return schemaChanges(where, [object(schema)], [object(object(now).schema)], direction, documents);
  });
}

/** Compares what several schemas together say about one value. */
function schemaChanges(
  where: string,
  before: Schema[],
  after: Schema[],
  direction: Direction,
  documents: Documents,
): string[] {
  const pair = JSON.stringify([direction, before, after]);
  if (documents.compared.has(pair)) return [];
  documents.compared.add(pair);
  const [was, is] = [
    describeShape({ anyOf: before }, documents.before),
    describeShape({ anyOf: after }, documents.after),
  ];
  const found: string[] = [];
  for (const [name, schemas] of was.properties) {
    const now = is.properties.get(name);
    if (now === undefined) found.push(`${where}: ${name} is gone`);
    else found.push(...schemaChanges(`${where}.${name}`, schemas, now, direction, documents));
  }
  if (direction !== 'answer') {
    for (const name of is.required) if (!was.required.has(name)) found.push(`${where}: ${name} has become required`);
  }
  if (direction !== 'request') {
    for (const name of was.required) {
      if (is.properties.has(name) && !is.required.has(name)) found.push(`${where}: ${name} may now be missing`);
    }
  }
  if (was.items.length > 0 && is.items.length > 0) {
    found.push(...schemaChanges(`${where}[]`, was.items, is.items, direction, documents));
  }
  if (was.types && is.types && direction !== 'answer') {
    for (const type of was.types) {
      if (!is.types.has(type) && !(type === 'integer' && is.types.has('number'))) {
        found.push(`${where}: no longer a ${type}`);
      }
    }
  }
  if (is.values && direction !== 'answer') {
    if (!was.values) found.push(`${where}: only some values are left`);
    for (const value of was.values ?? []) if (!is.values.has(value)) found.push(`${where}: ${value} is gone`);
  }
  return found;
}

function parametersOf(operation: Schema, root: Schema): Map<string, Schema> {
  const parameters = ((operation.parameters ?? []) as Schema[]).map((parameter) => resolveReference(parameter, root));
  return new Map(parameters.map((parameter) => [`${parameter.in} parameter ${parameter.name}`, parameter]));
}

function object(value: Json | undefined): Schema {
  return (value ?? {}) as Schema;
}

function entries(value: Json | undefined): [string, Schema][] {
  return Object.entries(object(value)) as [string, Schema][];
}
