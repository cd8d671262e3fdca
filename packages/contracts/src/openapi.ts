import type { TSchema } from 'typebox';
import { type Edge, responsesBehind } from './edge-responses.ts';
import type { Operation, OperationResponse } from './operation.ts';
import { describePermission } from './permissions.ts';
import { hoistSchemas } from './schema-components.ts';

export interface OpenApiInfo {
  title: string;
  version: string;
  description?: string;
  servers?: { url: string; description?: string }[];
  /** Adds the answers of this edge to each operation. */
  edge?: Edge;
}

interface OpenApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: unknown;
  example?: unknown;
}

type OpenApiContent = Record<string, { schema?: unknown; example?: unknown }>;

export interface OpenApiOperation {
  operationId: string;
  summary: string;
  /** Says which permission and plan callers need. */
  description?: string;
  tags: string[];
  parameters?: OpenApiParameter[];
  requestBody?: { required: boolean; content: OpenApiContent };
  responses: Record<
    string,
    {
      description: string;
      headers?: Record<string, { description: string; schema: unknown }>;
      content?: OpenApiContent;
    }
  >;
  /** Each is enough: schemes that are needed together, with their scopes. */
  security: Record<string, string[]>[];
}

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description?: string };
  servers?: { url: string; description?: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
}

/** Alternative ways to authenticate. A tenant header authenticates nobody: it only chooses the workspace. */
const SECURITY_SCHEMES = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
  TenantId: { type: 'apiKey', in: 'header', name: 'X-Tenant-Id' },
  Bearer: { type: 'http', scheme: 'bearer' },
};

/** Builds the OpenAPI 3.1 document of a service. Schemas with an `$id` become components of that name. */
export function buildOpenApi(operations: readonly Operation[], info: OpenApiInfo): OpenApiDocument {
  const schemas: Record<string, unknown> = {};
  const paths: OpenApiDocument['paths'] = {};
  const tags = new Set<string>();
  for (const operation of operations) {
    for (const tag of operation.tags) tags.add(tag);
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation, info, schemas) };
  }
  const { title, version, description, servers } = info;
  return {
    openapi: '3.1.0',
    info: { title, version, ...(description === undefined ? {} : { description }) },
    ...(servers === undefined ? {} : { servers }),
    tags: [...tags].map((name) => ({ name })),
    paths,
    components: { schemas: sorted(schemas), securitySchemes: SECURITY_SCHEMES },
  };
}

function headersOf({ headers = {} }: Operation): OpenApiParameter[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

function describe(operation: Operation, { edge }: OpenApiInfo, schemas: Record<string, unknown>): OpenApiOperation {
  const responses = edge ? responsesBehind(edge, operation) : operation.responses;
  const description = describePermission(operation);
  const parameters = [
    ...parametersOf(operation, 'path', schemas),
    ...parametersOf(operation, 'query', schemas),
    ...headersOf(operation),
  ];
  return {
    operationId: operation.operationId,
    summary: operation.summary,
    ...(description === undefined ? {} : { description }),
    tags: operation.tags,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(operation.body && { requestBody: bodyOf(operation, schemas) }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, responseOf(response, schemas)]),
    ),
    security: operation.access === 'principal' ? Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] })) : [],
  };
}

function parametersOf(
  operation: Operation,
  place: 'path' | 'query',
  schemas: Record<string, unknown>,
): OpenApiParameter[] {
  const container = place === 'path' ? operation.params : operation.query;
  if (!container) return [];
  const examples = (place === 'path' ? operation.examples?.params : operation.examples?.query) as
    | Record<string, unknown>
    | undefined;
  const required = new Set((container.required ?? []) as string[]);
  return Object.entries(container.properties as Record<string, TSchema & { description?: string }>).map(
    ([name, schema]) => ({
      name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(schema.description === undefined ? {} : { description: schema.description }),
      schema: hoistSchemas(schema, schemas, COMPONENTS),
      ...(examples?.[name] === undefined ? {} : { example: examples[name] }),
    }),
  );
}

const COMPONENTS = '#/components/schemas/';

function bodyOf(
  operation: Operation,
  schemas: Record<string, unknown>,
): { required: boolean; content: OpenApiContent } {
  const example = operation.examples?.body;
  return {
    required: operation.bodyOptional !== true,
    content: {
      [operation.bodyType ?? 'application/json']: {
        schema: hoistSchemas(operation.body, schemas, COMPONENTS),
        ...(example === undefined ? {} : { example }),
      },
    },
  };
}

function responseOf(response: OperationResponse, schemas: Record<string, unknown>) {
  const headers = Object.entries(response.headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return {
    description: response.description,
    ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
    ...(response.schema && {
      content: {
        [response.contentType ?? 'application/json']: {
          schema: hoistSchemas(response.schema, schemas, COMPONENTS),
          ...(response.example === undefined ? {} : { example: response.example }),
        },
        ...Object.fromEntries(
          Object.entries(response.otherContentTypes ?? {}).map(([type, schema]) => [
            type,
            { schema: hoistSchemas(schema, schemas, COMPONENTS) },
          ]),
        ),
      },
    }),
  };
}

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
