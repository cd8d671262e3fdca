import { ENTERPRISE, GROUP, PATCH, USER } from '../support/scim-client.ts';

/** A request as an identity provider documents it, and what it expects of the answer. */
export interface RecordedRequest {
  what: string;
  method: string;
  /** `{user}` and `{group}` stand for the ids of what was created. */
  path: string;
  body?: unknown;
  status: number;
  /** Parts of the answer. */
  answer?: object;
}

const find = (path: string, filter: string, more = '') => `${path}?${more}filter=${encodeURIComponent(filter)}`;
const patch = (...Operations: object[]) => ({ schemas: [PATCH], Operations });

/** The requests of Microsoft Entra ID. */
export const ENTRA: readonly RecordedRequest[] = [
  {
    what: 'tests the connection with a user that does not exist',
    method: 'GET',
    path: find('/Users', 'userName eq "a01e1f54-5f4e-4d7c-9f6c-1a0b7c3f8a52"'),
    status: 200,
    answer: { totalResults: 0, Resources: [], startIndex: 1 },
  },
  {
    what: 'creates a user',
    method: 'POST',
    path: '/Users',
    body: {
      schemas: [USER, ENTERPRISE],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'grace@entra.example',
      active: true,
      emails: [{ primary: true, type: 'work', value: 'grace@entra.example' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'Grace Hopper', familyName: 'Hopper', givenName: 'Grace' },
      roles: [],
    },
    status: 201,
    answer: { userName: 'grace@entra.example', active: true, meta: { resourceType: 'User' } },
  },
  { what: 'reads the user', method: 'GET', path: '/Users/{user}', status: 200 },
  {
    what: 'matches the user by externalId',
    method: 'GET',
    path: find('/Users', 'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"'),
    status: 200,
    answer: { totalResults: 1 },
  },
  {
    what: 'changes attributes of many values by a filter',
    method: 'PATCH',
    path: '/Users/{user}',
    body: patch(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'hopper@entra.example' },
      { op: 'Replace', path: 'name.familyName', value: 'Hopper-Murray' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' },
      { op: 'Add', path: 'addresses[type eq "work"].locality', value: 'Arlington' },
    ),
    status: 200,
    answer: {
      emails: [{ primary: true, type: 'work', value: 'hopper@entra.example' }],
      name: { familyName: 'Hopper-Murray' },
      phoneNumbers: [{ type: 'mobile', value: '+1 555' }],
      addresses: [{ type: 'work', locality: 'Arlington' }],
    },
  },
  {
    what: 'changes attributes by names with dots and without a path',
    method: 'PATCH',
    path: '/Users/{user}',
    body: patch({
      op: 'Add',
      value: { 'name.givenName': 'G.', [`${ENTERPRISE}:department`]: 'Navy', displayName: 'G. Hopper' },
    }),
    status: 200,
    answer: { name: { givenName: 'G.' }, [ENTERPRISE]: { department: 'Navy' }, displayName: 'G. Hopper' },
  },
  {
    what: 'names a manager by the bare id',
    method: 'PATCH',
    path: '/Users/{user}',
    body: patch({ op: 'Add', path: `${ENTERPRISE}:manager`, value: '{user}' }),
    status: 200,
    answer: { [ENTERPRISE]: { department: 'Navy', manager: { value: '{user}' } } },
  },
  {
    what: 'removes an attribute',
    method: 'PATCH',
    path: '/Users/{user}',
    body: patch({ op: 'Remove', path: 'phoneNumbers[type eq "mobile"].value' }),
    status: 200,
  },
  {
    what: 'disables the user, with a text in place of a boolean',
    method: 'PATCH',
    path: '/Users/{user}',
    body: patch({ op: 'Replace', path: 'active', value: 'False' }),
    status: 200,
    answer: { active: false },
  },
  {
    what: 'enables the user',
    method: 'PATCH',
    path: '/Users/{user}',
    body: patch({ op: 'Replace', path: 'active', value: true }),
    status: 200,
    answer: { active: true },
  },
  {
    what: 'looks for a group without its members',
    method: 'GET',
    path: find('/Groups', 'displayName eq "Organization User:Workspace 1:Editor"', 'excludedAttributes=members&'),
    status: 200,
    answer: { totalResults: 0 },
  },
  {
    what: 'creates a group',
    method: 'POST',
    path: '/Groups',
    body: {
      schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'Organization User:Workspace 1:Editor',
      meta: { resourceType: 'Group' },
    },
    status: 201,
    answer: { externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159' },
  },
  {
    what: 'adds a member',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: '{user}' }] }),
    status: 204,
  },
  {
    what: 'asks whether the user is a member',
    method: 'GET',
    path: find('/Groups', 'id eq "{group}" and members eq "{user}"', 'attributes=id&'),
    status: 200,
    answer: { totalResults: 1, Resources: [{ schemas: [GROUP], id: '{group}' }] },
  },
  {
    what: 'removes the member by a value',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{user}' }] }),
    status: 204,
  },
  { what: 'reads the group', method: 'GET', path: '/Groups/{group}?excludedAttributes=members', status: 200 },
  { what: 'deletes the group', method: 'DELETE', path: '/Groups/{group}', status: 204 },
  { what: 'deletes the user', method: 'DELETE', path: '/Users/{user}', status: 204 },
];

const OKTA_USER = {
  schemas: [USER],
  userName: 'katherine@okta.example',
  name: { givenName: 'Katherine', familyName: 'Johnson' },
  emails: [{ primary: true, value: 'katherine@okta.example', type: 'work' }],
  displayName: 'Katherine Johnson',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  active: true,
};

/** The requests of Okta. */
export const OKTA: readonly RecordedRequest[] = [
  {
    what: 'looks for the user by name',
    method: 'GET',
    path: find('/Users', 'userName eq "katherine@okta.example"', 'startIndex=1&count=100&'),
    status: 200,
    answer: { totalResults: 0, itemsPerPage: 0 },
  },
  {
    what: 'creates the user, with a password that is not for here',
    method: 'POST',
    path: '/Users',
    body: { ...OKTA_USER, password: '1mz050nq' },
    status: 201,
    answer: { name: { givenName: 'Katherine' }, active: true },
  },
  {
    what: 'refuses to create the user twice',
    method: 'POST',
    path: '/Users',
    body: OKTA_USER,
    status: 409,
    answer: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '409', scimType: 'uniqueness' },
  },
  {
    what: 'replaces the user with what was answered',
    method: 'PUT',
    path: '/Users/{user}',
    body: {
      ...OKTA_USER,
      id: '{user}',
      meta: { resourceType: 'User' },
      name: { givenName: 'K.', familyName: 'Johnson' },
    },
    status: 200,
    answer: { id: '{user}', name: { givenName: 'K.', familyName: 'Johnson' } },
  },
  {
    what: 'deactivates the user without a path',
    method: 'PATCH',
    path: '/Users/{user}',
    body: patch({ op: 'replace', value: { active: false } }),
    status: 200,
    answer: { active: false },
  },
  {
    what: 'activates the user',
    method: 'PUT',
    path: '/Users/{user}',
    body: OKTA_USER,
    status: 200,
    answer: { active: true },
  },
  { what: 'lists groups', method: 'GET', path: '/Groups?startIndex=1&count=100', status: 200 },
  {
    what: 'pushes a group with its members',
    method: 'POST',
    path: '/Groups',
    body: {
      schemas: [GROUP],
      displayName: 'Okta Organization User:Workspace 1:Viewer',
      members: [{ value: '{user}', display: 'katherine@okta.example' }],
    },
    status: 201,
    answer: { members: [{ value: '{user}' }] },
  },
  {
    what: 'sends id and name of the group once more',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: patch({
      op: 'replace',
      value: { id: '{group}', displayName: 'Okta Organization User:Workspace 1:Viewer' },
    }),
    status: 204,
  },
  {
    what: 'removes and adds members in one request',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: patch(
      { op: 'remove', path: 'members[value eq "{user}"]' },
      { op: 'add', path: 'members', value: [{ value: '{user}', display: 'katherine@okta.example' }] },
    ),
    status: 204,
  },
  {
    what: 'replaces the members',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: patch({ op: 'replace', path: 'members', value: [{ value: '{user}', display: 'katherine@okta.example' }] }),
    status: 204,
  },
  {
    what: 'reads the group',
    method: 'GET',
    path: '/Groups/{group}',
    status: 200,
    answer: { members: [{ value: '{user}', type: 'User' }] },
  },
  { what: 'deletes the group', method: 'DELETE', path: '/Groups/{group}', status: 204 },
];
