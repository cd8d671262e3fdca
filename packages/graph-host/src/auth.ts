/** Types of the questions to the `Auth` object of a project, and of its answers. */
import type { AuthRefusal, AuthUser, ProjectExport } from '@runyard/host-protocol';

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
