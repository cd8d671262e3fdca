import type { Filter } from '../filter/parse-filter.ts';
import { parsePath } from '../filter/parse-filter.ts';
import type { ScimObject } from '../resources/normalize.ts';
import type { PatchOperation } from '../resources/patch-request.ts';
import { findAttribute, GROUP_TYPE } from '../schemas/resource-type.ts';
import { badRequest } from '../scim-error.ts';
import { checkName, readMemberIds } from './scim-group.ts';

/** A change of a group, which does not have to know its members. */
export interface GroupChange {
  /** Undefined: the change does not name it. */
  displayName?: string;
  externalId?: string | null;
  /** True when those who are not in `added` leave. */
  areOthersRemoved: boolean;
  added: Set<string>;
  removed: Set<string>;
}

/** Reads the operations of a PATCH, one after the other, as one change. @throws BadRequestError */
export function readGroupChange(operations: readonly PatchOperation[]): GroupChange {
  const change: GroupChange = { areOthersRemoved: false, added: new Set(), removed: new Set() };
  for (const { op, path, value } of operations) {
    if (path !== null) {
      applyAt(change, op, path, value);
      continue;
    }
    for (const [key, each] of Object.entries(value as ScimObject)) {
      const place = findAttribute(GROUP_TYPE, key);
      // Clients send `id` and `schemas` along.
      if (place?.attribute && place.attribute.mutability !== 'readOnly') applyAt(change, op, key, each);
    }
  }
  return change;
}

function applyAt(change: GroupChange, op: PatchOperation['op'], text: string, value: unknown): void {
  const { path, filter, subAttribute } = parsePath(text);
  const place = findAttribute(GROUP_TYPE, path);
  if (!place?.attribute || place.subAttribute || subAttribute !== null) {
    throw badRequest('invalidPath', `There is no attribute ${text.slice(0, 200)} to change`);
  }
  switch (place.attribute.name) {
    case 'members':
      applyToMembers(change, op, filter, value);
      return;
    case 'displayName':
      if (op === 'remove') throw badRequest('mutability', 'displayName is required');
      change.displayName = checkName('displayName', value);
      return;
    case 'externalId':
      change.externalId = op === 'remove' || value === null ? null : checkName('externalId', value);
      return;
    default:
      throw badRequest('mutability', `${place.attribute.name} is read-only`);
  }
}

function applyToMembers(change: GroupChange, op: PatchOperation['op'], filter: Filter | null, value: unknown): void {
  if (filter && op !== 'remove') throw badRequest('invalidPath', 'Members are added and replaced without a filter');
  if (op === 'remove') {
    const ids = filter ? idsOf(filter) : value === undefined || value === null ? null : readMemberIds(value);
    if (ids === null) removeOthers(change, []);
    else for (const id of ids) remove(change, id);
    return;
  }
  const ids = readMemberIds(value);
  if (op === 'replace') removeOthers(change, ids);
  else for (const id of ids) add(change, id);
}

function removeOthers(change: GroupChange, ids: readonly string[]): void {
  change.areOthersRemoved = true;
  change.added = new Set(ids);
  change.removed = new Set();
}

function add(change: GroupChange, id: string): void {
  change.added.add(id);
  change.removed.delete(id);
}

function remove(change: GroupChange, id: string): void {
  change.added.delete(id);
  change.removed.add(id);
}

/** Returns the ids of `members[value eq "…"]`, also of several joined by `or`. @throws BadRequestError `invalidFilter` */
function idsOf(filter: Filter): string[] {
  if (filter.kind === 'or') return filter.filters.flatMap(idsOf);
  if (filter.kind === 'comparison' && filter.operator === 'eq' && filter.path.toLowerCase() === 'value') {
    return [String(filter.value).toLowerCase()];
  }
  throw badRequest('invalidFilter', 'Members are selected by value eq "<id>"');
}
