/** Types of the questions to the `Auth` object of a project, and of its answers. */
import type { ProjectExport } from './project/read-project.ts';

/** A request whose caller is to be found out. It has no body: a handler decides before one is read. */
export interface AuthenticateRequest {
  source: ProjectExport;
  method: string;
  /** The whole URL, as the client sent it. */
  url: string;
  /** Names and values; a name may occur more than once. */
  headers: [name: string, value: string][];
}

/** A user as the project's handler describes it. Fields beyond these are the project's own. */
export interface AuthUser {
  identity: string;
  display_name: string;
  is_authenticated: boolean;
  permissions: string[];
  [field: string]: unknown;
}

/** The answer of a handler that throws an `HTTPException`. */
export interface AuthRefusal {
  status: number;
  detail: string;
  headers: Record<string, string>;
}

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

/** The project's `Auth` object. */
export interface LoadedAuth {
  /** The events that have a handler: `threads:create`, `threads`, `*:create` or `*`. */
  events: string[];
}
