import { attribute, type Schema } from './attribute.ts';

const GROUP_SCHEMA_ID = 'urn:ietf:params:scim:schemas:core:2.0:Group';

export const GROUP_SCHEMA: Schema = {
  id: GROUP_SCHEMA_ID,
  name: 'Group',
  description: 'Users who have the roles that the name of the group says.',
  attributes: [
    attribute('displayName', 'The name. It says which roles the members have, and never changes.', {
      required: true,
      mutability: 'immutable',
      uniqueness: 'server',
    }),
    attribute('members', 'The members: users of this organization.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        attribute('value', 'The id of the user.', { mutability: 'immutable' }),
        attribute('$ref', 'The address of the user.', {
          type: 'reference',
          referenceTypes: ['User'],
          mutability: 'immutable',
        }),
        attribute('type', 'Always User: groups have no groups.', {
          mutability: 'immutable',
          canonicalValues: ['User'],
        }),
      ],
    }),
  ],
};
