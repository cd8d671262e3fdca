import type { OpenApiDocument, OpenApiOperation } from '@runyard/contracts';

const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

/**
 * Returns a document with the routes of another one, which win where both describe the same. The other document may be
 * incomplete.
 */
export function mergeOpenApi(document: OpenApiDocument, other: Record<string, unknown>): OpenApiDocument {
  const paths = { ...document.paths };
  for (const [path, item] of Object.entries(objectOf(other.paths))) {
    for (const [method, operation] of Object.entries(objectOf(item))) {
      if (METHODS.has(method)) paths[path] = { ...paths[path], [method]: completed(objectOf(operation), method, path) };
    }
  }
  const { schemas, securitySchemes } = objectOf(other.components);
  const components = {
    schemas: { ...document.components.schemas, ...objectOf(schemas) },
    securitySchemes: { ...document.components.securitySchemes, ...objectOf(securitySchemes) },
  };
  return { ...document, paths, components } as OpenApiDocument;
}

function completed(operation: Record<string, unknown>, method: string, path: string): OpenApiOperation {
  return {
    operationId: `${method} ${path}`,
    summary: '',
    tags: ['Project'],
    responses: {},
    ...operation,
    security: Array.isArray(operation.security) ? operation.security : [],
  } as OpenApiOperation;
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
