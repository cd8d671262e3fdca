/** Questions to the `Auth` object of a project, and their answers. */
import Type, { type Static } from 'typebox';
import { form, request } from './message.ts';
import { Headers, ProjectExport, ProjectFields } from './values.ts';

export const AuthUser = form(
  'AuthUser',
  Type.Object(
    {
      identity: Type.String(),
      display_name: Type.String(),
      is_authenticated: Type.Boolean(),
      permissions: Type.Array(Type.String()),
    },
    { description: "Fields beyond these are the project's own." },
  ),
);
/** A user as the project's handler describes it. Fields beyond these are the project's own. */
export type AuthUser = Static<typeof AuthUser> & { [field: string]: unknown };

const AuthRefusal = form(
  'AuthRefusal',
  Type.Object({
    status: Type.Integer(),
    detail: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
  }),
);
/** The answer of a handler that throws an `HTTPException`. */
export type AuthRefusal = Static<typeof AuthRefusal>;

const Refused = Type.Object({ kind: Type.Literal('refused'), refusal: AuthRefusal });

const LoadedAuth = form(
  'LoadedAuth',
  Type.Object({
    events: Type.Array(Type.String(), {
      description: 'The events that have a handler: `threads:create`, `threads`, `*:create` or `*`.',
    }),
  }),
);
/** The project's `Auth` object. */
export type LoadedAuth = Static<typeof LoadedAuth>;

const AuthenticateRequest = form(
  'AuthenticateRequest',
  Type.Object({
    method: Type.String(),
    url: Type.String({ description: 'The whole URL, as the client sent it.' }),
    headers: Headers,
  }),
);
/** A request whose caller is to be found out. It has no body: a handler decides before one is read. */
export type AuthenticateRequest = Static<typeof AuthenticateRequest> & { source: ProjectExport };

export type Authentication = { kind: 'user'; user: AuthUser } | { kind: 'refused'; refusal: AuthRefusal };

/** An action that a user wants to take. `value` is what the request says about it, as JSON. */
export interface AuthorizeRequest {
  source: ProjectExport;
  resource: string;
  action: string;
  user: AuthUser;
  value: Record<string, unknown>;
}

export type Authorization =
  | {
      kind: 'allowed';
      /** The filter on metadata of what the user may see: unchecked JSON. Null when the handler answered none. */
      filter: Record<string, unknown> | null;
      /** `value` as the handler left it; the same object when it changed nothing. */
      value: Record<string, unknown>;
    }
  | { kind: 'denied' }
  | { kind: 'refused'; refusal: AuthRefusal };

export const authToHost = {
  'auth.load': request(
    'auth.load',
    { source: ProjectExport },
    { answer: LoadedAuth, means: "load the project's `Auth` object; error kind `load`" },
  ),
  'auth.authenticate': request(
    'auth.authenticate',
    { source: ProjectExport, request: AuthenticateRequest },
    {
      answer: Type.Union([Type.Object({ kind: Type.Literal('user'), user: AuthUser }), Refused]),
      means: 'who calls? An `HTTPException` is a refusal; any other error of the handler is an error',
    },
  ),
  'auth.authorize': request(
    'auth.authorize',
    {
      source: ProjectExport,
      request: Type.Object({ resource: Type.String(), action: Type.String(), user: AuthUser }),
    },
    {
      raw: 'JSON text of the value: what the request says about the action',
      answer: Type.Union([
        Type.Object({ kind: Type.Literal('allowed'), filter: Type.Union([ProjectFields, Type.Null()]) }),
        Type.Object({ kind: Type.Literal('denied') }),
        Refused,
      ]),
      answerRaw: 'where it is allowed: the value as the handler left it',
      means: 'may the user do this? The most specific handler runs; without one it is allowed',
    },
  ),
} as const;
