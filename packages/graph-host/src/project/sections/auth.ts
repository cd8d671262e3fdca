import Type, { type Static } from 'typebox';

/** `auth`: who may call, decided by the project's own code. */
export const AuthSection = Type.Object(
  {
    path: Type.Optional(Type.String({ minLength: 1, description: 'The handler: `"./file.ts:export"`.' })),
    disable_studio_auth: Type.Optional(Type.Boolean({ default: false, description: 'No exception for Studio.' })),
    openapi: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Security schemes for the description of the API.',
      }),
    ),
    cache: Type.Optional(
      Type.Object(
        {
          cache_keys: Type.Optional(Type.Array(Type.String())),
          ttl_seconds: Type.Optional(Type.Number({ minimum: 0 })),
          max_size: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        { description: 'How long an answer of the handler is good for.' },
      ),
    ),
    allow_langsmith_api_keys: Type.Optional(
      Type.Boolean({ default: false, description: 'Keys of the platform are let in beside the handler.' }),
    ),
  },
  {
    description:
      'Custom authentication. Not served yet: a project with `auth.path` is refused at start rather than served without its handler.',
  },
);
export type AuthSection = Static<typeof AuthSection>;
