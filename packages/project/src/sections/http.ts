import Type, { type Static, type TSchema } from 'typebox';

const flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description }));
const texts = (description: string, options: { default?: string[] } = {}) =>
  Type.Optional(Type.Array(Type.String(), { description, ...options }));

/** A choice of request headers by name; `*` matches any text. */
const HeaderChoice = (description: string): TSchema =>
  Type.Object(
    {
      includes: texts('Headers to take. `authorization`, `proxy-authorization` and `cookie` only by their full name.'),
      include: texts('The same.'),
      excludes: texts('Headers never to take; looked at first.'),
      exclude: texts('The same.'),
    },
    { description },
  );

/** `http.cors`: the pages of other origins that may call. */
const CorsSection = Type.Object(
  {
    allow_origins: texts(
      'Origins that may call. Left out: every origin, or with `allow_origin_regex` only what it fits.',
    ),
    allow_origin_regex: Type.Optional(
      Type.String({
        format: 'regex',
        description: 'Origins that may call, as a regular expression of the whole origin.',
      }),
    ),
    allow_methods: texts('Methods that may be used.', { default: ['*'] }),
    allow_headers: texts('Request headers that may be sent.', { default: ['*'] }),
    allow_credentials: flag('Cookies may be sent. Never together with `*` as an origin.'),
    expose_headers: texts(
      'Response headers that pages may read, besides `Location`, `Content-Location`, `X-Pagination-Total` and `X-Pagination-Next`.',
    ),
    max_age: Type.Optional(
      Type.Integer({ minimum: 0, default: 600, description: 'Seconds a browser may keep a preflight answer.' }),
    ),
  },
  { description: 'Pages of other origins. Wins over `CORS_ALLOW_ORIGINS`.' },
);

/** `http`: how the server of the deployment answers. */
export const HttpSection = Type.Object(
  {
    app: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The app of the project, `"./file.ts:export"`: a Hono or Express app, a Fastify instance, or a fetch handler; in Python a FastAPI or Starlette app, `"./file.py:app"` or `"package.module:app"`. See [below](#routes-of-your-own).',
      }),
    ),
    disable_assistants: flag('404 for assistants.'),
    disable_threads: flag('404 for threads.'),
    disable_runs: flag('404 for runs and crons.'),
    disable_store: flag('404 for the store.'),
    disable_mcp: flag('404 for `/mcp`.'),
    disable_a2a: flag('404 for `/a2a`.'),
    disable_agui: flag('404 for `/agui`.'),
    disable_meta: flag(
      '404 for `/`, `/info`, `/metrics`, `/docs` and `/openapi.json`; `/ok` stays and checks nothing.',
    ),
    disable_ui: flag('404 for `/ui`.'),
    disable_webhooks: flag('Runs send no webhooks.'),
    cors: Type.Optional(CorsSection),
    configurable_headers: Type.Optional(
      Type.Unsafe<HeaderChoice>(HeaderChoice('Request headers that reach `configurable` of runs. None by default.')),
    ),
    logging_headers: Type.Optional(
      Type.Unsafe<HeaderChoice>(HeaderChoice('Request headers that are logged with the request. None by default.')),
    ),
    middleware_order: Type.Optional(
      Type.Union([Type.Literal('middleware_first'), Type.Literal('auth_first')], {
        default: 'middleware_first',
        description:
          'Whether middleware of the app sees a request before anybody asks who calls, or after; the first with `auth.path` alone.',
      }),
    ),
    // Without a default: left out is neither true nor false.
    enable_custom_route_auth: Type.Optional(
      Type.Boolean({
        description:
          'Who may call routes of the app, with `auth.path`. Left out: whoever the `authenticate` handler lets in. True: the `on` handlers decide too, by the event `routes:call`. False: everybody.',
      }),
    ),
    mount_prefix: Type.Optional(
      Type.String({
        pattern: '^/.*[^/]$',
        description:
          'Path that everything is served under, like `/agents`. Paths that need no key (`/ok`, `/docs`, …) need none below it, unless it has characters that URLs encode, empty segments, `.` or `..`.',
      }),
    ),
  },
  { description: 'The HTTP server of the deployment.' },
);
export type HttpSection = Static<typeof HttpSection>;

export interface HeaderChoice {
  includes?: string[];
  include?: string[];
  excludes?: string[];
  exclude?: string[];
}
