import { normalizeEmail } from '../../directory/people/normalize-email.ts';
import type { ScimUser as StoredUser } from '../../generated/client.ts';
import { checkText, normalizeResource, requireSchema, type ScimObject } from '../resources/normalize.ts';
import { USER_TYPE } from '../schemas/resource-type.ts';
import { badRequest } from '../scim-error.ts';
import type { ScimScope } from '../scim-gate.ts';
import { etagOf } from '../versions.ts';

/** The columns of a user, as a resource says. */
export interface UserColumns {
  externalId: string | null;
  userName: string;
  userNameKey: string;
  /** Work address, normalized. */
  email: string;
  isActive: boolean;
  /** Everything that has no column of its own. */
  attributes: ScimObject;
}

const EMAIL = /^[^\s@,;<>"]+@[^\s@,;<>"]+$/;
const EMAIL_MAX = 320;
const KEY_MAX = 1_024;
/** Bytes of what is stored of a user: a list has up to 200 of them. */
const USER_BYTES_MAX = 131_072;

/** Reads a user from a body. @throws BadRequestError when it is not valid, for example without a work address */
export function readUser(body: ScimObject): UserColumns {
  requireSchema(body, USER_TYPE.schema.id);
  return toColumns(normalizeResource(USER_TYPE, body));
}

/** Splits a resource whose values are valid into its columns. @throws BadRequestError */
export function toColumns(resource: ScimObject): UserColumns {
  const { externalId = null, userName: givenName, active = true, ...attributes } = resource;
  const email = findWorkAddress((attributes.emails ?? []) as ScimObject[]);
  const userName = (givenName as string | undefined)?.trim() || email;
  for (const [name, value] of Object.entries({ externalId, userName })) {
    if (typeof value === 'string' && value.length > KEY_MAX) {
      throw badRequest('invalidValue', `${name} is longer than ${KEY_MAX} characters`);
    }
  }
  if (Buffer.byteLength(JSON.stringify(attributes)) > USER_BYTES_MAX)
    throw badRequest('invalidValue', `The user is larger than ${USER_BYTES_MAX} bytes`);
  return {
    externalId: externalId as string | null,
    userName,
    userNameKey: userName.toLowerCase(),
    email,
    isActive: active as boolean,
    attributes,
  };
}

/** Returns the resource that PATCH works on: without what is read-only. */
export function toResource(user: Omit<UserColumns, 'userNameKey' | 'email'>): ScimObject {
  return {
    ...(user.externalId !== null && { externalId: user.externalId }),
    userName: user.userName,
    active: user.isActive,
    ...user.attributes,
  };
}

/** Returns the name that members see. */
export function displayNameOf({ attributes, userName }: Pick<UserColumns, 'attributes' | 'userName'>): string {
  const { displayName, name } = attributes as { displayName?: string; name?: Record<string, string> };
  const parts = [name?.givenName, name?.familyName].filter(Boolean).join(' ');
  return (displayName?.trim() || name?.formatted?.trim() || parts || userName).slice(0, 500);
}

/** Renders a user; `groups` are left out where nobody asked for them. */
export function renderUser(
  user: StoredUser,
  groups: readonly { id: string; displayName: string }[] | undefined,
  { baseUrl }: ScimScope,
): ScimObject {
  const resource = toResource({ ...user, attributes: user.attributes as ScimObject });
  const extensions = USER_TYPE.extensions.map(({ id }) => id).filter((id) => resource[id] !== undefined);
  return {
    schemas: [USER_TYPE.schema.id, ...extensions],
    id: user.id,
    ...resource,
    ...(groups &&
      groups.length > 0 && {
        groups: groups.map(({ id, displayName }) => ({
          value: id,
          $ref: `${baseUrl}/Groups/${id}`,
          display: displayName,
          type: 'direct',
        })),
      }),
    meta: {
      resourceType: USER_TYPE.name,
      created: user.createdAt.toISOString(),
      lastModified: user.updatedAt.toISOString(),
      location: `${baseUrl}/Users/${user.id}`,
      version: etagOf(user),
    },
  };
}

/** Prefers the address of the type work, then the primary one, then the first. */
function findWorkAddress(emails: readonly ScimObject[]): string {
  const withValue = emails.filter(({ value }) => typeof value === 'string' && value.trim() !== '');
  const isWork = ({ type }: ScimObject) => typeof type === 'string' && type.toLowerCase() === 'work';
  const chosen = withValue.find(isWork) ?? withValue.find(({ primary }) => primary === true) ?? withValue[0];
  if (!chosen) throw badRequest('invalidValue', 'emails[type eq "work"].value is required');
  const email = normalizeEmail(checkText(chosen.value as string, 'emails.value'));
  if (email.length > EMAIL_MAX || !EMAIL.test(email)) {
    throw badRequest('invalidValue', 'emails[type eq "work"].value is not an email address');
  }
  return email;
}
