import Type, { type Static, type TSchema } from 'typebox';
import { noEffect } from './no-effect.ts';

const authHandlerKey = <T extends TSchema>(schema: T) =>
  Type.Optional(noEffect(schema, 'it belongs to custom authentication, which is not available'));

/** `auth`: the project's own code that decides who may call. */
export const AuthSection = Type.Object(
  {
    path: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The handler: `"./file.ts:export"`. A project that has one is refused.',
      }),
    ),
    disable_studio_auth: authHandlerKey(Type.Boolean({ description: 'No exception for Studio.' })),
    openapi: authHandlerKey(Type.Record(Type.String(), Type.Unknown(), { description: 'Security schemes.' })),
    cache: authHandlerKey(
      Type.Object(
        {
          cache_keys: Type.Optional(Type.Array(Type.String())),
          ttl_seconds: Type.Optional(Type.Number({ minimum: 0 })),
          max_size: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        { description: 'How long an answer of the handler is good for.' },
      ),
    ),
    allow_langsmith_api_keys: authHandlerKey(Type.Boolean({ description: 'Keys are let in beside the handler.' })),
  },
  {
    description:
      'Custom authentication. Not available: a project with `auth.path` is refused at start rather than served without its handler.',
  },
);
export type AuthSection = Static<typeof AuthSection>;
