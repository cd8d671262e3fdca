import Type, { type Static } from 'typebox';

const flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description }));

/** Schemes that prove together who calls, with the scopes each needs. Of a list one is enough. */
const Requirement = Type.Record(Type.String(), Type.Array(Type.String()));

/** `auth.openapi`: how callers prove who they are, for readers of `/docs` and `/openapi.json`. */
const AuthOpenApi = Type.Object(
  {
    securitySchemes: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
        description: 'Security schemes of OpenAPI, by name. They stand beside `ApiKey`, `TenantId` and `Bearer`.',
      }),
    ),
    security: Type.Optional(
      Type.Array(Requirement, {
        description: 'What every operation that is not public demands. Left out: any one of the `securitySchemes`.',
      }),
    ),
    paths: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.Array(Requirement)), {
        description: 'The same for single operations, by path and method: `{"/threads": {"post": [{"oauth": []}]}}`.',
      }),
    ),
  },
  { description: 'How callers prove who they are, shown in `/docs` and `/openapi.json`. It checks nothing.' },
);

/** `auth`: the project's own code that decides who may call, and what. */
export const AuthSection = Type.Object(
  {
    path: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The `Auth` object of `@langchain/langgraph-sdk/auth`, `"./file.ts:export"`. See [below](#users-of-your-own).',
      }),
    ),
    disable_studio_auth: flag('Studio is no exception: its requests are for the handlers like any others.'),
    openapi: Type.Optional(AuthOpenApi),
    cache: Type.Optional(
      Type.Object(
        {
          cache_keys: Type.Optional(
            Type.Array(Type.String({ minLength: 1 }), {
              description:
                'Headers that say who calls. A request with the same values has the same user, without asking again. Name every header that the handler reads.',
            }),
          ),
          ttl_seconds: Type.Optional(
            Type.Number({ minimum: 0, default: 60, description: 'Seconds that a user is remembered.' }),
          ),
          max_size: Type.Optional(
            Type.Integer({ minimum: 1, default: 1000, description: 'Users remembered at once, in each process.' }),
          ),
        },
        { description: 'Remembers the answers of `authenticate`. Refusals are never remembered.' },
      ),
    ),
    allow_langsmith_api_keys: flag(
      'A request with a key of the platform and no `Authorization` is let in as a user with the permission `authenticated`; the `on` handlers decide about it as about any other.',
    ),
  },
  { description: 'Custom authentication and authorization: code of the project decides who may call, and what.' },
);
export type AuthSection = Static<typeof AuthSection>;
