import Type, { type Static, type TSchema } from 'typebox';
import { defineOperation, type OperationResponse } from '../../operation.ts';
import { ErrorResponse } from '../common.ts';

const BASE = '/scim/v2';
const CONTENT_TYPE = 'application/scim+json';
/** Bytes of a body about a user, and of a search. */
const BODY_BYTES_MAX = 256 * 1024;
/** A group names its members, of whom there may be a hundred thousand. */
export const GROUP_BODY_BYTES_MAX = 16 * 1024 * 1024;
/** Characters of a text in the query, which no URL that a server reads is longer than. */
const TEXT_MAX = 16_384;

/** An error of RFC 7644 §3.12. */
const ScimError = Type.Object(
  {
    schemas: Type.Array(Type.Literal('urn:ietf:params:scim:api:messages:2.0:Error')),
    status: Type.String(),
    scimType: Type.Optional(Type.String()),
    detail: Type.String(),
  },
  { $id: 'ScimError' },
);

const Schemas = Type.Array(Type.String());
const Meta = Type.Object({
  resourceType: Type.String(),
  created: Type.Optional(Type.String({ format: 'date-time' })),
  lastModified: Type.Optional(Type.String({ format: 'date-time' })),
  location: Type.String(),
  version: Type.Optional(Type.String()),
});

/** A user as RFC 7643 §4.1 has it; the server's schemas name every attribute. */
const ScimUser = Type.Object(
  {
    schemas: Schemas,
    id: Type.String({ format: 'uuid' }),
    externalId: Type.Optional(Type.String()),
    userName: Type.Optional(Type.String()),
    active: Type.Optional(Type.Boolean()),
    meta: Type.Optional(Meta),
  },
  { $id: 'ScimUser', additionalProperties: true },
);

const ScimGroup = Type.Object(
  {
    schemas: Schemas,
    id: Type.String({ format: 'uuid' }),
    externalId: Type.Optional(Type.String()),
    displayName: Type.Optional(Type.String()),
    members: Type.Optional(Type.Array(Type.Object({ value: Type.Optional(Type.String()) }))),
    meta: Type.Optional(Meta),
  },
  { $id: 'ScimGroup', additionalProperties: true },
);

/** A document of the protocol itself: a schema, a resource type or the configuration of the server. */
const ScimDocument = Type.Object({ schemas: Schemas, meta: Meta }, { $id: 'ScimDocument', additionalProperties: true });

const listOf = (resource: TSchema, $id: string) =>
  Type.Object(
    {
      schemas: Schemas,
      totalResults: Type.Integer(),
      startIndex: Type.Integer(),
      itemsPerPage: Type.Integer(),
      Resources: Type.Array(resource),
    },
    { $id },
  );

/** A resource, or a message about one, as a client sends it: its schemas decide what is valid. */
const ScimBody = Type.Record(Type.String(), Type.Unknown(), { $id: 'ScimBody' });

const error = (description: string): OperationResponse => ({
  description,
  schema: ScimError,
  contentType: CONTENT_TYPE,
});
const ERRORS = {
  400: error('The request is not valid; `scimType` says in which way.'),
  401: error('No valid SCIM token.'),
  426: error('HTTP/1.0 is not supported.'),
  503: { ...error('A part that is needed is away.'), otherContentTypes: { 'application/json': ErrorResponse } },
};
const BODY_ERRORS = {
  413: error('The body is larger than the limit.'),
  415: error('The body is neither `application/scim+json` nor `application/json`.'),
};
const NOT_FOUND = { 404: error('Not there, or of another organization.') };
const CONFLICT = { 409: error('Another resource has this name or id, or the last administrator would be lost.') };
const PRECONDITION = { 412: error('The resource is not in the version of `If-Match`.') };
const NOT_IMPLEMENTED = { 501: error('The server does not support it.') };

const answer = (description: string, schema: TSchema, headers?: Record<string, string>): OperationResponse => ({
  description,
  schema,
  contentType: CONTENT_TYPE,
  ...(headers && { headers }),
});
const ETAG = { ETag: 'The version of the resource.' };
const NO_CHANGE: OperationResponse = { description: 'The client has this version.', headers: ETAG };

const selection = {
  attributes: Type.Optional(
    Type.String({ maxLength: TEXT_MAX, description: 'Attributes to answer, separated by commas.' }),
  ),
  excludedAttributes: Type.Optional(
    Type.String({ maxLength: TEXT_MAX, description: 'Attributes to leave out, separated by commas.' }),
  ),
};
const Selection = Type.Object(selection);
const ListQuery = Type.Object({
  ...selection,
  filter: Type.Optional(Type.String({ maxLength: TEXT_MAX, description: 'A filter of RFC 7644 §3.4.2.2.' })),
  startIndex: Type.Optional(Type.String({ maxLength: 100, description: 'The first result, from 1.' })),
  count: Type.Optional(Type.String({ maxLength: 100, description: 'Results of a page: 100 by default, 200 at most.' })),
});
const IF_MATCH = { 'if-match': 'Change this version only; otherwise 412.' };
const IF_NONE_MATCH = { 'if-none-match': 'Answer 304 when the resource still has this version.' };
const params = Type.Object({ id: Type.String({ maxLength: 1_000 }) });
const common = { tags: ['SCIM'] as string[], access: 'public' as const };

/** Defines the operations of one type of resource. */
function resourceOperations<Resource extends TSchema>(kind: {
  name: 'User' | 'Group';
  resource: Resource;
  example: Static<typeof ScimBody>;
  patchExample: Static<typeof ScimBody>;
  patched: Record<number, OperationResponse>;
  /** Bytes of a body that creates or changes one. */
  bodyLimitBytes: number;
}) {
  const path = `${BASE}/${kind.name}s`;
  const list = listOf(kind.resource, `Scim${kind.name}List`);
  const noun = kind.name.toLowerCase();
  return {
    list: defineOperation({
      ...common,
      operationId: `listScim${kind.name}s`,
      method: 'get',
      path,
      summary: `Lists ${noun}s, or finds those that a filter matches.`,
      query: ListQuery,
      responses: { 200: answer(`The ${noun}s.`, list), ...ERRORS },
    }),
    search: defineOperation({
      ...common,
      operationId: `searchScim${kind.name}s`,
      method: 'post',
      path: `${path}/.search`,
      summary: `Finds ${noun}s like the list, with a body in place of the query.`,
      body: ScimBody,
      bodyLimitBytes: BODY_BYTES_MAX,
      responses: { 200: answer(`The ${noun}s.`, list), ...ERRORS, ...BODY_ERRORS },
      examples: { body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], count: 10 } },
    }),
    create: defineOperation({
      ...common,
      operationId: `createScim${kind.name}`,
      method: 'post',
      path,
      summary: `Creates a ${noun}.`,
      query: Selection,
      body: ScimBody,
      bodyLimitBytes: kind.bodyLimitBytes,
      responses: {
        201: answer(`The new ${noun}.`, kind.resource, { ...ETAG, Location: `The address of the ${noun}.` }),
        ...ERRORS,
        ...BODY_ERRORS,
        ...CONFLICT,
      },
      examples: { body: kind.example },
    }),
    get: defineOperation({
      ...common,
      operationId: `getScim${kind.name}`,
      method: 'get',
      path: `${path}/{id}`,
      summary: `Answers a ${noun}.`,
      headers: IF_NONE_MATCH,
      params,
      query: Selection,
      responses: {
        200: answer(`The ${noun}.`, kind.resource, ETAG),
        304: NO_CHANGE,
        ...ERRORS,
        ...NOT_FOUND,
      },
    }),
    replace: defineOperation({
      ...common,
      operationId: `replaceScim${kind.name}`,
      method: 'put',
      path: `${path}/{id}`,
      summary: `Replaces a ${noun}: attributes that are missing are removed.`,
      headers: IF_MATCH,
      params,
      query: Selection,
      body: ScimBody,
      bodyLimitBytes: kind.bodyLimitBytes,
      responses: {
        200: answer(`The ${noun} after the change.`, kind.resource, ETAG),
        ...ERRORS,
        ...BODY_ERRORS,
        ...NOT_FOUND,
        ...CONFLICT,
        ...PRECONDITION,
      },
      examples: { body: kind.example },
    }),
    patch: defineOperation({
      ...common,
      operationId: `patchScim${kind.name}`,
      method: 'patch',
      path: `${path}/{id}`,
      summary: `Changes parts of a ${noun}, all of them or none.`,
      headers: IF_MATCH,
      params,
      query: Selection,
      body: ScimBody,
      bodyLimitBytes: kind.bodyLimitBytes,
      responses: {
        200: answer(`The ${noun} after the change.`, kind.resource, ETAG),
        ...kind.patched,
        ...ERRORS,
        ...BODY_ERRORS,
        ...NOT_FOUND,
        ...CONFLICT,
        ...PRECONDITION,
      },
      examples: { body: kind.patchExample },
    }),
    delete: defineOperation({
      ...common,
      operationId: `deleteScim${kind.name}`,
      method: 'delete',
      path: `${path}/{id}`,
      summary: `Deletes a ${noun}.`,
      headers: IF_MATCH,
      params,
      responses: { 204: { description: 'It is deleted.' }, ...ERRORS, ...NOT_FOUND, ...CONFLICT, ...PRECONDITION },
    }),
  };
}

const PATCH_SCHEMAS = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];

export const scimUserOperations = resourceOperations({
  name: 'User',
  resource: ScimUser,
  example: {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    externalId: '00u1',
    userName: 'ada@example.com',
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    emails: [{ type: 'work', value: 'ada@example.com', primary: true }],
    active: true,
  },
  patchExample: { schemas: PATCH_SCHEMAS, Operations: [{ op: 'replace', path: 'active', value: false }] },
  patched: {},
  bodyLimitBytes: BODY_BYTES_MAX,
});

export const scimGroupOperations = resourceOperations({
  name: 'Group',
  resource: ScimGroup,
  example: {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName: 'Organization User:Production:Editor',
    members: [],
  },
  patchExample: { schemas: PATCH_SCHEMAS, Operations: [{ op: 'remove', path: 'members' }] },
  patched: {
    204: { description: 'The group is changed. It is answered only where `attributes` ask for it.', headers: ETAG },
  },
  bodyLimitBytes: GROUP_BODY_BYTES_MAX,
});

const ScimResource = Type.Object(
  { schemas: Schemas, id: Type.String({ format: 'uuid' }) },
  { $id: 'ScimResource', additionalProperties: true },
);

export const searchScim = defineOperation({
  ...common,
  operationId: 'searchScim',
  method: 'post',
  path: `${BASE}/.search`,
  summary: 'Finds users and then groups that a filter matches.',
  body: ScimBody,
  bodyLimitBytes: BODY_BYTES_MAX,
  responses: { 200: answer('The resources.', listOf(ScimResource, 'ScimResourceList')), ...ERRORS, ...BODY_ERRORS },
  examples: { body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], count: 10 } },
});

const DocumentList = listOf(ScimDocument, 'ScimDocumentList');
const documents = (name: string, path: string) => ({
  list: defineOperation({
    ...common,
    operationId: `listScim${name}s`,
    method: 'get',
    path: `${BASE}/${path}`,
    summary: `Lists the ${path} of the server.`,
    query: Type.Object({ filter: Type.Optional(Type.String({ maxLength: TEXT_MAX })) }),
    responses: { 200: answer('The list.', DocumentList), ...ERRORS, 403: error('These lists take no filter.') },
  }),
  get: defineOperation({
    ...common,
    operationId: `getScim${name}`,
    method: 'get',
    path: `${BASE}/${path}/{id}`,
    summary: `Answers one of the ${path}.`,
    params,
    responses: { 200: answer('The document.', ScimDocument), ...ERRORS, ...NOT_FOUND },
  }),
});

export const scimResourceTypeOperations = documents('ResourceType', 'ResourceTypes');
export const scimSchemaOperations = documents('Schema', 'Schemas');

export const getScimConfiguration = defineOperation({
  ...common,
  operationId: 'getScimConfiguration',
  method: 'get',
  path: `${BASE}/ServiceProviderConfig`,
  summary: 'What of SCIM the server supports.',
  responses: { 200: answer('The configuration.', ScimDocument), ...ERRORS },
});

/** A SCIM token has no user, so `/Me` has no resource to answer with. */
export const scimMeOperations = (['get', 'post', 'put', 'patch', 'delete'] as const).map((method) =>
  defineOperation({
    ...common,
    operationId: `${method}ScimMe`,
    method,
    path: `${BASE}/Me`,
    summary: 'Not supported: a SCIM token has no user.',
    responses: { ...ERRORS, ...NOT_IMPLEMENTED },
  }),
);

export const postScimBulk = defineOperation({
  ...common,
  operationId: 'postScimBulk',
  method: 'post',
  path: `${BASE}/Bulk`,
  summary: 'Not supported, as the configuration says.',
  responses: { ...ERRORS, ...NOT_IMPLEMENTED },
});

/** Every operation that identity providers call. */
export const scimOperations = [
  ...Object.values(scimUserOperations),
  ...Object.values(scimGroupOperations),
  searchScim,
  ...Object.values(scimResourceTypeOperations),
  ...Object.values(scimSchemaOperations),
  getScimConfiguration,
  ...scimMeOperations,
  postScimBulk,
];
