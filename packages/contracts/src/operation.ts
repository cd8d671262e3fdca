import type { Static, TObject, TSchema } from 'typebox';
import type { OperationAccess } from './permissions.ts';

/**
 * One HTTP operation: the single source of its types, its validators, its routes, who may call it and its OpenAPI
 * entry. `http/<service>/index.ts` lists the operations of a service.
 */
export type Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
> = OperationShape<Params, Query, Body> & OperationAccess;

interface OperationShape<Params extends TObject, Query extends TObject, Body extends TSchema> {
  /** Unique within its service; the OpenAPI operationId. */
  operationId: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Path with `{name}` placeholders, as in OpenAPI. */
  path: string;
  summary: string;
  tags: string[];
  /**
   * Creates something once for each idempotency key of a caller; the operations of one group share their keys' names.
   */
  idempotencyGroup?: string;
  /** Request headers that the operation reads: name in lower case, and effect. */
  headers?: Record<string, string>;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Media type of the body. Default: JSON. The fields of a form are texts, and a repeated one is a list of texts. */
  bodyType?: 'application/json' | 'application/x-www-form-urlencoded';
  /** True when an empty body counts as `{}`. */
  bodyOptional?: boolean;
  /** Maximum bytes of a body, where it is less than the service's own limit. */
  bodyLimitBytes?: number;
  responses: Record<number, OperationResponse>;
  /** The body of the service's own errors, where they have another form than those of the servers in front of it. */
  errors?: TSchema;
  /** Valid examples; tested against the schemas and shown in the documentation. */
  examples?: { body?: Static<Body>; params?: Static<Params>; query?: Static<Query> };
}

export interface OperationResponse {
  description: string;
  schema?: TSchema;
  /** Default `application/json` when there is a schema. */
  contentType?: string;
  /** Schemas of other media types for the same status. */
  otherContentTypes?: Record<string, TSchema>;
  /** Descriptions of headers by their names. */
  headers?: Record<string, string>;
  example?: unknown;
}

/** Infers the literal types of an operation. */
export function defineOperation<const Params extends TObject, const Query extends TObject, const Body extends TSchema>(
  operation: Operation<Params, Query, Body>,
): Operation<Params, Query, Body> {
  return operation;
}
