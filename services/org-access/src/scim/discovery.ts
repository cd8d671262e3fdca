import {
  getScimConfiguration,
  postScimBulk,
  scimMeOperations,
  scimResourceTypeOperations,
  scimSchemaOperations,
} from '@runyard/contracts';
import { type BoundOperation, ForbiddenError, NotFoundError, ok } from '@runyard/service-kit';
import { COUNT_MAX, listResponse } from './list-request.ts';
import type { ScimObject } from './resources/normalize.ts';
import { GROUP_TYPE, type ResourceType, USER_TYPE } from './schemas/resource-type.ts';
import { NotImplementedError } from './scim-error.ts';
import { bindScim, type ScimScope } from './scim-gate.ts';

const TYPES = [USER_TYPE, GROUP_TYPE];

/** Serves what clients learn about the server, and refuses what it does not support. */
export function discoveryRoutes(): BoundOperation[] {
  return [
    bindScim(getScimConfiguration, (_, scope) => ok(renderConfiguration(scope))),
    ...documentRoutes(scimResourceTypeOperations, (scope) => TYPES.map((type) => renderType(type, scope))),
    ...documentRoutes(scimSchemaOperations, renderSchemas),
    ...scimMeOperations.map((operation) => bindScim(operation, refuseAs('A SCIM token has no user'))),
    bindScim(postScimBulk, refuseAs('Bulk operations are not supported')),
  ];
}

function documentRoutes(
  { list, get }: typeof scimSchemaOperations,
  render: (scope: ScimScope) => (ScimObject & { id: string })[],
): BoundOperation[] {
  return [
    bindScim(list, ({ query }, scope) => {
      if (query.filter !== undefined) {
        throw new ForbiddenError('This list takes no filter', { code: 'scim_discovery_filter' });
      }
      const resources = render(scope);
      return ok(listResponse({ total: resources.length, startIndex: 1, resources }));
    }),
    bindScim(get, ({ params }, scope) => {
      const found = render(scope).find(({ id }) => id.toLowerCase() === params.id.toLowerCase());
      if (!found) throw new NotFoundError('No such document');
      return ok(found);
    }),
  ];
}

function refuseAs(detail: string): () => never {
  return () => {
    throw new NotImplementedError(detail, { code: 'scim_not_implemented' });
  };
}

function renderConfiguration({ baseUrl }: ScimScope): ScimObject {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: COUNT_MAX },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'SCIM token',
        description: 'A token of the organization, in the header Authorization.',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  };
}

function renderType({ name, endpoint, description, schema, extensions }: ResourceType, { baseUrl }: ScimScope) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint,
    description,
    schema: schema.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  };
}

function renderSchemas({ baseUrl }: ScimScope) {
  return TYPES.flatMap(({ schema, extensions }) => [schema, ...extensions]).map((schema) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...schema,
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
  }));
}
