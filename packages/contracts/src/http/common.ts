import Type, { type TSchema } from 'typebox';

/** The body of every error answer except those of JSON-RPC and the control plane's validation errors. */
export const ErrorResponse = Type.Object({ detail: Type.String() }, { $id: 'ErrorResponse' });

/** The control plane's and org-access's 422 body. */
export const ValidationErrorResponse = Type.Object(
  {
    detail: Type.Array(
      Type.Object({
        loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
        msg: Type.String(),
        type: Type.String(),
      }),
    ),
  },
  { $id: 'ValidationErrorResponse' },
);

/** One event of a stream; comments between events are heartbeats. */
export const ServerSentEvent = Type.Object(
  {
    id: Type.Optional(Type.String({ description: 'Where to go on reading: `Last-Event-ID`.' })),
    event: Type.String(),
    data: Type.Optional(Type.String({ contentMediaType: 'application/json' })),
  },
  { $id: 'ServerSentEvent' },
);

export const Uuid = Type.String({ format: 'uuid' });
export const Timestamp = Type.String({ format: 'date-time' });

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** Accepts null like a missing field. */
export const OptionalNullable = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema));
