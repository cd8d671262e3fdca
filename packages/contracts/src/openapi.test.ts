import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { buildAsyncApi } from './asyncapi.ts';
import type { Edge } from './edge-responses.ts';
import { buildOpenApi } from './openapi.ts';
import { defineOperation } from './operation.ts';
import type { OperationPermission } from './permissions.ts';

const Thing = Type.Object({ id: Type.String(), default: Type.Optional(Type.String()) }, { $id: 'Thing' });
const operation = defineOperation({
  operationId: 'putThing',
  method: 'put',
  path: '/things/{id}',
  summary: 'Keep a thing.',
  tags: ['things'],
  access: 'principal',
  permission: 'runs:update',
  params: Type.Object({ id: Type.String() }),
  query: Type.Object({ dry: Type.Optional(Type.Boolean({ description: 'Change nothing.' })) }),
  body: Type.Object({ thing: Thing, others: Type.Array(Thing) }),
  responses: {
    200: { description: 'Kept.', schema: Thing, headers: { Location: 'Where it is.' }, example: { id: 'a' } },
  },
  examples: { body: { thing: { id: 'a' }, others: [] }, params: { id: 'a' } },
});

describe('an OpenAPI document', () => {
  const document = buildOpenApi([operation], { title: 'T', version: '1' });
  const described = document.paths['/things/{id}']!.put!;

  it('defines each named schema once and refers to it', () => {
    expect(Object.keys(document.components.schemas)).toEqual(['Thing']);
    expect(described.requestBody?.content['application/json']?.schema).toMatchObject({
      properties: {
        thing: { $ref: '#/components/schemas/Thing' },
        others: { items: { $ref: '#/components/schemas/Thing' } },
      },
    });
  });

  it('keeps properties whose names are keywords', () => {
    expect(document.components.schemas.Thing).toMatchObject({ properties: { default: { type: 'string' } } });
  });

  it('has parameters, headers, examples and alternative ways to authenticate', () => {
    expect(described.parameters).toMatchObject([
      { name: 'id', in: 'path', required: true, example: 'a' },
      { name: 'dry', in: 'query', required: false, description: 'Change nothing.' },
    ]);
    expect(described.responses['200']).toMatchObject({
      headers: { Location: { description: 'Where it is.' } },
      content: { 'application/json': { example: { id: 'a' } } },
    });
    expect(described.security).toEqual([{ ApiKey: [] }, { TenantId: [] }, { Bearer: [] }]);
  });

  it('says of operations of a workspace that it may be deleted, unless a deployment answers them', () => {
    const answersOf = (edge: Edge, permission: OperationPermission) =>
      buildOpenApi([{ ...operation, access: 'principal', permission }], { title: 'T', version: '1', edge }).paths[
        '/things/{id}'
      ]!.put!.responses;
    const deleted = { description: 'The workspace that was named is deleted.' };
    expect(answersOf('platform', 'workspaces:read')['404']).toMatchObject(deleted);
    expect(answersOf('platform', { checkedByService: 'runs:read', because: 'x' })['404']).toMatchObject(deleted);
    expect(answersOf('platform', 'organization:read')).not.toHaveProperty('404');
    expect(answersOf('platform', 'any key')).not.toHaveProperty('404');
    expect(answersOf('deployment', 'runs:read')['404']).not.toMatchObject(deleted);
  });

  it('has the errors of the edge in both forms where those of the service have one of their own', () => {
    const Own = Type.Object({ error: Type.String() }, { $id: 'Own' });
    const page = { description: 'A page.', contentType: 'text/html', schema: Type.String() };
    const later = { description: 'Later.', schema: Own };
    const own = { ...operation, errors: Own, responses: { 400: page, 429: later } };
    const { responses } = buildOpenApi([own], { title: 'T', version: '1', edge: 'platform' }).paths['/things/{id}']!
      .put!;
    const either = { anyOf: ['Own', 'ErrorResponse'].map((name) => ({ $ref: `#/components/schemas/${name}` })) };
    for (const status of ['413', '429', '503']) {
      expect(responses[status]?.content?.['application/json']?.schema).toEqual(either);
    }
    expect(responses['429']).toMatchObject({ description: 'Later.' });
    expect(responses['400']?.content).toEqual({
      'text/html': { schema: { type: 'string' } },
      'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } },
    });
  });

  it('cannot be built from two different schemas with one name', () => {
    const other = {
      ...operation,
      path: '/x',
      operationId: 'x',
      body: Type.Object({ a: Type.String() }, { $id: 'Thing' }),
    };
    expect(() => buildOpenApi([operation, other], { title: 'T', version: '1' })).toThrow(/named Thing/);
  });
});

describe('the AsyncAPI document', () => {
  it('has every topic and queue with its messages', () => {
    const document = buildAsyncApi({ title: 'T', version: '1' });
    expect(document.channels.organizations).toMatchObject({
      address: 'runyard.organizations',
      messages: { 'runyard.key.revoked': { $ref: '#/components/messages/runyard.key.revoked' } },
    });
    expect(document.channels.runWakeup).toMatchObject({ address: 'run-wakeup-v1' });
  });
});
