import { isUuid } from '@runyard/contracts';
import type { ScimGroup } from '../../generated/client.ts';
import { checkText, normalizeResource, requireSchema, type ScimObject } from '../resources/normalize.ts';
import { GROUP_TYPE } from '../schemas/resource-type.ts';
import { badRequest } from '../scim-error.ts';
import type { ScimScope } from '../scim-gate.ts';
import { etagOf } from '../versions.ts';

/** A group as a body says. */
export interface GroupColumns {
  displayName: string;
  externalId: string | null;
  /** Ids of users. */
  memberIds: string[];
}

const NAME_MAX = 1_024;

/** Reads a group from a body. @throws BadRequestError */
export function readGroup(body: ScimObject): GroupColumns {
  requireSchema(body, GROUP_TYPE.schema.id);
  const isMembers = ([key]: [string, unknown]) => key.toLowerCase() === 'members';
  const entries = Object.entries(body);
  const others = Object.fromEntries(entries.filter((entry) => !isMembers(entry)));
  const { displayName, externalId = null } = normalizeResource(GROUP_TYPE, others);
  return {
    displayName: checkName('displayName', displayName ?? ''),
    externalId: externalId === null ? null : checkName('externalId', externalId),
    memberIds: readMemberIds(entries.find(isMembers)?.[1]),
  };
}

/** Reads the ids of members: of objects with a `value`, or of bare texts. @throws BadRequestError for groups in groups */
export function readMemberIds(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const members = Array.isArray(value) ? value : [value];
  return [...new Set(members.map(readMemberId))];
}

function readMemberId(member: unknown): string {
  const fields = typeof member === 'object' && member !== null ? (member as ScimObject) : { value: member };
  const { value, type } = Object.fromEntries(Object.entries(fields).map(([key, each]) => [key.toLowerCase(), each]));
  if (typeof type === 'string' && type.toLowerCase() === 'group') {
    throw badRequest('invalidValue', 'Groups in groups are not supported');
  }
  if (typeof value !== 'string') throw badRequest('invalidValue', 'members.value must be the id of a user');
  return value.toLowerCase();
}

/** Leaves out what is no id of anything. */
export function onlyUuids(ids: Iterable<string>): string[] {
  return [...ids].filter(isUuid);
}

export function checkName(attribute: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw badRequest('invalidValue', `${attribute} is required`);
  if (value.length > NAME_MAX) throw badRequest('invalidValue', `${attribute} is longer than ${NAME_MAX} characters`);
  return checkText(value, attribute);
}

/** Renders a group; members are left out where nobody asked for them. */
export function renderGroup(
  group: ScimGroup,
  memberIds: readonly string[] | undefined,
  { baseUrl }: ScimScope,
): ScimObject {
  return {
    schemas: [GROUP_TYPE.schema.id],
    id: group.id,
    ...(group.externalId !== null && { externalId: group.externalId }),
    displayName: group.displayName,
    ...(memberIds &&
      memberIds.length > 0 && {
        members: memberIds.map((value) => ({ value, $ref: `${baseUrl}/Users/${value}`, type: 'User' })),
      }),
    meta: {
      resourceType: GROUP_TYPE.name,
      created: group.createdAt.toISOString(),
      lastModified: group.updatedAt.toISOString(),
      location: `${baseUrl}/Groups/${group.id}`,
      version: etagOf(group),
    },
  };
}
