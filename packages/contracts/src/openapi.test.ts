import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { buildAsyncApi } from './asyncapi.ts';
import { buildOpenApi } from './openapi.ts';
import { defineOperation } from './operation.ts';

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
