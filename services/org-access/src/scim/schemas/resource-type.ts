import { type Attribute, attribute, type Schema } from './attribute.ts';
import { ENTERPRISE_SCHEMA } from './enterprise-schema.ts';
import { GROUP_SCHEMA } from './group-schema.ts';
import { USER_SCHEMA } from './user-schema.ts';

export interface ResourceType {
  name: 'User' | 'Group';
  /** The path below `/scim/v2`. */
  endpoint: '/Users' | '/Groups';
  description: string;
  schema: Schema;
  extensions: readonly Schema[];
}

export const USER_TYPE: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'People of the organization.',
  schema: USER_SCHEMA,
  extensions: [ENTERPRISE_SCHEMA],
};

export const GROUP_TYPE: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Groups, whose names say which roles their members have.',
  schema: GROUP_SCHEMA,
  extensions: [],
};

const readOnly = { mutability: 'readOnly', caseExact: true } as const;

/** Every resource has these attributes besides those of its schema. */
const COMMON: readonly Attribute[] = [
  attribute('id', 'The id.', { ...readOnly, returned: 'always', uniqueness: 'server' }),
  attribute('externalId', 'The id at the identity provider.', { caseExact: true }),
  attribute('schemas', 'The URNs of the schemas.', { ...readOnly, returned: 'always', multiValued: true }),
  attribute('meta', 'Facts about the resource.', {
    ...readOnly,
    type: 'complex',
    subAttributes: ['resourceType', 'created', 'lastModified', 'location', 'version'].map((name) =>
      attribute(name, name, readOnly),
    ),
  }),
];

/** A place in a resource that a name leads to. */
export interface AttributePlace {
  /** The URN under which the attribute stands; null for those of the resource itself. */
  extension: string | null;
  /** Null: the name is that of the whole extension. */
  attribute: Attribute | null;
  subAttribute: Attribute | null;
}

/** Finds the attribute that a name means: with or without the URN of its schema, in any case. Null: there is none. */
export function findAttribute(type: ResourceType, name: string): AttributePlace | null {
  const lower = name.toLowerCase();
  for (const schema of type.extensions) {
    const urn = schema.id.toLowerCase();
    if (lower === urn) return { extension: schema.id, attribute: null, subAttribute: null };
    if (lower.startsWith(`${urn}:`)) return findIn(schema.attributes, lower.slice(urn.length + 1), schema.id);
  }
  const core = `${type.schema.id.toLowerCase()}:`;
  return findIn(attributesOf(type), lower.startsWith(core) ? lower.slice(core.length) : lower, null);
}

/** Returns the attributes of a resource itself, without those of extensions. */
export function attributesOf(type: ResourceType): readonly Attribute[] {
  return [...COMMON, ...type.schema.attributes];
}

function findIn(attributes: readonly Attribute[], path: string, extension: string | null): AttributePlace | null {
  const [name, subName, ...more] = path.split('.');
  const found = findNamed(attributes, name!);
  if (!found || more.length > 0) return null;
  if (subName === undefined) return { extension, attribute: found, subAttribute: null };
  const subAttribute = findNamed(found.subAttributes ?? [], subName);
  return subAttribute ? { extension, attribute: found, subAttribute } : null;
}

/** Finds an attribute by its name in any case. */
export function findNamed(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const lower = name.toLowerCase();
  return attributes.find((each) => each.name.toLowerCase() === lower);
}
