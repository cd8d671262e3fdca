import { badRequest } from '../scim-error.ts';
import { requireSchema, type ScimObject } from './normalize.ts';

const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

export interface PatchOperation {
  op: 'add' | 'replace' | 'remove';
  path: string | null;
  value: unknown;
}

const OPERATIONS_MAX = 1_000;

/** Reads a PATCH body; the names of operations in any case, as identity providers send them. @throws BadRequestError */
export function readPatch(body: ScimObject): PatchOperation[] {
  requireSchema(body, PATCH_SCHEMA);
  const operations = readField(body, 'operations');
  if (!Array.isArray(operations) || operations.length === 0) {
    throw badRequest('invalidSyntax', 'Operations must be a list of at least one');
  }
  if (operations.length > OPERATIONS_MAX) throw badRequest('tooMany', `More than ${OPERATIONS_MAX} operations`);
  return operations.map(readOperation);
}

function readOperation(operation: unknown): PatchOperation {
  if (typeof operation !== 'object' || operation === null || Array.isArray(operation)) {
    throw badRequest('invalidSyntax', 'An operation must be an object');
  }
  const fields = operation as ScimObject;
  const name = readField(fields, 'op');
  const op = typeof name === 'string' ? name.toLowerCase() : '';
  if (op !== 'add' && op !== 'replace' && op !== 'remove') {
    throw badRequest('invalidSyntax', 'op must be add, replace or remove');
  }
  const path = readField(fields, 'path') ?? null;
  if (path !== null && (typeof path !== 'string' || path.trim() === '')) {
    throw badRequest('invalidPath', 'path must be a text');
  }
  const value = readField(fields, 'value');
  if (op === 'remove' && path === null) throw badRequest('noTarget', 'remove needs a path');
  if (op !== 'remove' && value === undefined) throw badRequest('invalidValue', `${op} needs a value`);
  if (path === null && (typeof value !== 'object' || value === null || Array.isArray(value))) {
    throw badRequest('invalidValue', 'Without a path, value must be an object');
  }
  return { op, path, value };
}

function readField(object: ScimObject, name: string): unknown {
  return Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];
}
