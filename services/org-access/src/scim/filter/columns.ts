import { Prisma } from '../../generated/client.ts';
import type { Attribute } from '../schemas/attribute.ts';
import { findAttribute, findNamed, GROUP_TYPE, type ResourceType, USER_TYPE } from '../schemas/resource-type.ts';
import type { Column } from './filter-sql.ts';
import type { Filter } from './parse-filter.ts';

const { sql } = Prisma;

/** `u` is the row of the user. */
const USER_COLUMNS: Record<string, Column> = {
  id: { kind: 'uuid', expression: sql`u.id` },
  externalid: { kind: 'text', expression: sql`u.external_id`, isExact: true },
  username: { kind: 'text', expression: sql`u.user_name_key`, isExact: false },
  active: { kind: 'boolean', expression: sql`u.is_active` },
  // Clients look people up by the address that is the member's, and there is an index for it.
  'emails.value': { kind: 'text', expression: sql`u.email`, isExact: false },
  'meta.created': { kind: 'time', expression: sql`u.created_at` },
  'meta.lastmodified': { kind: 'time', expression: sql`u.updated_at` },
  groups: {
    kind: 'list',
    exists: (condition) => sql`EXISTS (
      SELECT FROM scim_group_member m JOIN scim_group g ON g.id = m.group_id WHERE m.user_id = u.id AND ${condition})`,
    find: (path) =>
      path.toLowerCase() === 'value'
        ? { kind: 'uuid', expression: sql`g.id` }
        : path.toLowerCase() === 'display'
          ? { kind: 'text', expression: sql`lower(g.display_name)`, isExact: false }
          : undefined,
  },
};

/** `g` is the row of the group. */
const GROUP_COLUMNS: Record<string, Column> = {
  id: { kind: 'uuid', expression: sql`g.id` },
  externalid: { kind: 'text', expression: sql`g.external_id`, isExact: true },
  displayname: { kind: 'text', expression: sql`lower(g.display_name)`, isExact: false },
  'meta.created': { kind: 'time', expression: sql`g.created_at` },
  'meta.lastmodified': { kind: 'time', expression: sql`g.updated_at` },
  members: {
    kind: 'list',
    exists: (condition) => sql`EXISTS (SELECT FROM scim_group_member m WHERE m.group_id = g.id AND ${condition})`,
    find: (path) => (path.toLowerCase() === 'value' ? { kind: 'uuid', expression: sql`m.user_id` } : undefined),
  },
};

/** Finds what a filter of users is about: a column, or a place in the attributes of the user. */
export function findUserColumn(path: string): Column | undefined {
  const name = withoutUrn(USER_TYPE, path);
  const column = columnNamed(USER_COLUMNS, name) ?? columnOfPart(USER_COLUMNS, name);
  if (column) return column;
  const place = findAttribute(USER_TYPE, path);
  if (!place?.attribute || ['schemas', 'meta'].includes(place.attribute.name)) return undefined;
  const { extension, attribute, subAttribute } = place;
  const keys = [...(extension === null ? [] : [extension]), attribute.name];
  if (attribute.multiValued) {
    const list = listColumn(keys, attribute);
    if (subAttribute) return narrowed(list, subAttribute.name);
    return attribute.name === 'emails' ? { ...list, indexed: equalWorkAddress } : list;
  }
  if (attribute.type === 'complex' && !subAttribute) return undefined;
  return textAt(sql`u.attributes`, subAttribute ? [...keys, subAttribute.name] : keys, subAttribute ?? attribute);
}

export function findGroupColumn(path: string): Column | undefined {
  const name = withoutUrn(GROUP_TYPE, path);
  return columnNamed(GROUP_COLUMNS, name) ?? columnOfPart(GROUP_COLUMNS, name);
}

function withoutUrn({ schema }: ResourceType, path: string): string {
  const lower = path.toLowerCase();
  const urn = `${schema.id.toLowerCase()}:`;
  return lower.startsWith(urn) ? lower.slice(urn.length) : lower;
}

/** A client names columns, and so could name what every object has. */
function columnNamed(columns: Record<string, Column>, name: string): Column | undefined {
  return Object.hasOwn(columns, name) ? columns[name] : undefined;
}

/** `members.value` is a part of the list `members`. */
function columnOfPart(columns: Record<string, Column>, name: string): Column | undefined {
  const [list, part, ...more] = name.split('.');
  const column = columnNamed(columns, list!);
  if (column?.kind !== 'list' || part === undefined || more.length > 0) return undefined;
  return narrowed(column, part);
}

/** Returns the list whose comparisons are with one part of its values. */
function narrowed(list: Column & { kind: 'list' }, part: string): Column | undefined {
  return list.find(part) && { ...list, find: () => list.find(part) };
}

/** Recognizes `emails[type eq "work"].value eq "…"`, by which identity providers look people up. */
function equalWorkAddress(filter: Filter): Prisma.Sql | undefined {
  const parts = filter.kind === 'and' ? filter.filters : [];
  const equalTo = (name: string) => {
    const part = parts.find((each) => each.kind === 'comparison' && each.path.toLowerCase() === name);
    return part?.kind === 'comparison' && part.operator === 'eq' ? String(part.value).toLowerCase() : undefined;
  };
  const address = equalTo('value');
  return parts.length === 2 && equalTo('type') === 'work' && address !== undefined
    ? sql`u.email = ${address}`
    : undefined;
}

function listColumn(keys: string[], attribute: Attribute): Column & { kind: 'list' } {
  return {
    kind: 'list',
    exists: (condition) => sql`EXISTS (
      SELECT FROM jsonb_array_elements(coalesce(u.attributes #> ${keys}::text[], '[]')) AS element (value) WHERE ${condition})`,
    find: (path) => {
      const part = findNamed(attribute.subAttributes ?? [], path);
      return part && textAt(sql`element.value`, [part.name], part);
    },
  };
}

function textAt(from: Prisma.Sql, keys: string[], { type, caseExact }: Attribute): Column {
  const text = sql`(${from} #>> ${keys}::text[])`;
  if (type === 'boolean') return { kind: 'boolean', expression: sql`${text}::boolean` };
  return { kind: 'text', expression: caseExact ? text : sql`lower(${text})`, isExact: caseExact };
}
