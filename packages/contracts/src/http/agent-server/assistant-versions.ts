import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import {
  Assistant,
  AssistantParams,
  assistantTags,
  exampleAssistant,
  invalidRequest,
  noSuchAssistant,
} from './assistants.ts';
import { Limit, Offset } from './parts.ts';

export const AssistantVersion = Type.Object(Type.Omit(Assistant, ['updated_at']).properties, {
  $id: 'AssistantVersion',
});
export type AssistantVersion = Static<typeof AssistantVersion>;

export const AssistantVersionsSearchRequest = Type.Object(
  {
    metadata: Type.Optional(JsonObject),
    limit: Type.Optional(Limit(10)),
    offset: Type.Optional(Offset),
  },
  { $id: 'AssistantVersionsSearchRequest' },
);
export type AssistantVersionsSearchRequest = Static<typeof AssistantVersionsSearchRequest>;

const VersionNumber = Type.Integer({
  minimum: 1,
  maximum: 2 ** 31 - 1,
  description: 'In the body or in the query; one of the two is required.',
});

const AssistantVersionChange = Type.Object(
  { version: Type.Optional(VersionNumber) },
  { $id: 'AssistantVersionChange' },
);

const params = { assistant_id: exampleAssistant.assistant_id };
const { updated_at: _, ...exampleVersion } = exampleAssistant;

export const listAssistantVersions = defineOperation({
  operationId: 'listAssistantVersions',
  method: 'post',
  path: '/assistants/{assistant_id}/versions',
  permission: 'runs:read',
  summary: 'List the versions of an assistant',
  tags: assistantTags,
  access: 'principal',
  params: AssistantParams,
  body: AssistantVersionsSearchRequest,
  bodyOptional: true,
  responses: {
    200: {
      description: 'One page of versions, newest first.',
      schema: Type.Array(AssistantVersion),
      example: [exampleVersion],
    },
    404: noSuchAssistant,
    422: invalidRequest,
  },
  examples: { params, body: { limit: 10, metadata: { team: 'blue' } } },
});

export const setLatestAssistantVersion = defineOperation({
  operationId: 'setLatestAssistantVersion',
  method: 'post',
  path: '/assistants/{assistant_id}/latest',
  permission: 'runs:update',
  summary: 'Make a version the one that counts',
  tags: assistantTags,
  access: 'principal',
  params: AssistantParams,
  query: Type.Object({ version: Type.Optional(VersionNumber) }),
  body: AssistantVersionChange,
  bodyOptional: true,
  responses: {
    200: { description: 'The assistant as that version says.', schema: Assistant, example: exampleAssistant },
    404: { ...noSuchAssistant, description: 'No such assistant or version.' },
    422: invalidRequest,
  },
  examples: { params, body: { version: 1 } },
});

export const ASSISTANT_VERSION_OPERATIONS = [listAssistantVersions, setLatestAssistantVersion];
