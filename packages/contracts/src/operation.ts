import type { Static, TObject, TSchema } from 'typebox';

/** What a role of a workspace may let its holders do on a deployment's agent server. */
export type WorkspacePermission = 'runs:create' | 'runs:read' | 'runs:update' | 'runs:delete';

/**
 * One HTTP operation: the single source of its types, its validators, its routes and its OpenAPI entry.
 * Lists of operations per service are in `http/<service>/index.ts`.
 */
export interface Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
> {
  /** Unique within its service; the OpenAPI operationId. */
  operationId: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With `{name}` placeholders, as in OpenAPI. */
  path: string;
  summary: string;
  tags: string[];
  /** Who may call: a caller with a principal token, anybody, or another service of the platform. */
  access: 'principal' | 'public' | 'internal';
  /** The permission of the workspace a principal must have, where the service asks for one by operation. */
  permission?: WorkspacePermission;
  /** Creates something once for each idempotency key of a caller; operations of one group share their keys' names. */
  idempotencyGroup?: string;
  /** Request headers that mean something to this operation: name in lower case, and what it does. */
  headers?: Record<string, string>;
  params?: Params;
  query?: Query;
  body?: Body;
  /** True: an empty body counts as `{}`. */
  bodyOptional?: boolean;
  /** Bytes of a body at most, where less than the service's own limit. */
  bodyLimitBytes?: number;
  responses: Record<number, OperationResponse>;
  /** Valid examples; tested against the schemas and shown in the documentation. */
  examples?: { body?: Static<Body>; params?: Static<Params>; query?: Static<Query> };
}

export interface OperationResponse {
  description: string;
  schema?: TSchema;
  /** Default `application/json` when there is a schema. */
  contentType?: string;
  /** Schemas of further media types that the same status may have. */
  alsoAs?: Record<string, TSchema>;
  /** Header name to meaning. */
  headers?: Record<string, string>;
  example?: unknown;
}

/** Gives an operation its literal types. */
export function defineOperation<const Params extends TObject, const Query extends TObject, const Body extends TSchema>(
  operation: Operation<Params, Query, Body>,
): Operation<Params, Query, Body> {
  return operation;
}
