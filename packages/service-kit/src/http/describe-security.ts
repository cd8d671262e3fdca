import type { OpenApiDocument, OpenApiOperation } from '@runyard/contracts';

/** Schemes that prove together who calls, with the scopes each needs. Of a list one is enough. */
type SecurityRequirement = Record<string, string[]>;

/** How callers prove who they are, in the terms of OpenAPI. */
export interface SecurityDescription {
  securitySchemes?: Record<string, unknown>;
  /** The demands of all operations. Left out: any one of the schemes. */
  security?: SecurityRequirement[];
  /** The demands of single operations, by path and method. */
  paths?: Record<string, Record<string, SecurityRequirement[]>>;
}

/** Describes how callers prove who they are to the operations of a document that are not public. */
export function describeSecurity(document: OpenApiDocument, description: SecurityDescription): OpenApiDocument {
  const { securitySchemes = {}, security, paths = {} } = description;
  const names = Object.keys(securitySchemes);
  const demanded = security ?? (names.length > 0 ? names.map((name) => ({ [name]: [] })) : undefined);
  const described = (operation: OpenApiOperation, method: string, path: string): OpenApiOperation => {
    const own = ownRequirements(paths[path], method);
    if (own) return { ...operation, security: own };
    return demanded && operation.security.length > 0 ? { ...operation, security: demanded } : operation;
  };
  return {
    ...document,
    paths: Object.fromEntries(
      Object.entries(document.paths).map(([path, methods]) => [
        path,
        Object.fromEntries(
          Object.entries(methods).map(([method, operation]) => [method, described(operation, method, path)]),
        ),
      ]),
    ),
    components: {
      ...document.components,
      securitySchemes: { ...document.components.securitySchemes, ...securitySchemes },
    },
  };
}

/** Methods may be written in either case. */
function ownRequirements(
  methods: Record<string, SecurityRequirement[]> | undefined,
  method: string,
): SecurityRequirement[] | undefined {
  return Object.entries(methods ?? {}).find(([name]) => name.toLowerCase() === method)?.[1];
}
