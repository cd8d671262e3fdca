import { ForbiddenError, UnauthorizedError } from '@runyard/service-kit';
import { actAs } from '../audit/change-origin.ts';
import type { UseRecorder } from '../database/use-recorder.ts';
import type { Session } from '../generated/client.ts';
import type { LiveSessions } from '../sign-in/sessions/live-sessions.ts';
import { csrfTokenOf, isCsrfTokenOf, sessionTokenIn } from '../sign-in/sessions/session-cookie.ts';

type Headers = Parameters<typeof sessionTokenIn>[0]['headers'];

/** The person who looks at a page, signed in. */
export interface Visitor {
  session: Session;
  personId: string;
  /** Goes into each form of the page. */
  csrf: string;
  /** Returns whether a form is from a page of this session. */
  owns(csrf: string | undefined): boolean;
}

/** Finds out who looks at a page. */
export class PageVisitors {
  readonly #sessions: LiveSessions;
  readonly #lastSeen: UseRecorder;

  constructor(options: { sessions: LiveSessions; lastSeen: UseRecorder }) {
    this.#sessions = options.sessions;
    this.#lastSeen = options.lastSeen;
  }

  /** Returns null for who is not signed in. */
  async find(headers: Headers): Promise<Visitor | null> {
    const token = sessionTokenIn({ headers });
    if (token === undefined) return null;
    try {
      const { session } = await this.#sessions.findByToken(token);
      this.#lastSeen.record(session.id);
      return {
        session,
        personId: session.personId,
        csrf: csrfTokenOf(token),
        owns: (csrf) => csrf !== undefined && isCsrfTokenOf(token, csrf),
      };
    } catch (error) {
      if (error instanceof UnauthorizedError) return null;
      throw error;
    }
  }

  /** @throws UnauthorizedError */
  async require(headers: Headers): Promise<Visitor> {
    const visitor = await this.find(headers);
    if (!visitor) throw new UnauthorizedError('Sign in first', { code: 'session_invalid' });
    return visitor;
  }

  /**
   * Returns a visitor who may change the account. The session of an organization's identity provider may not: the account
   * is the person's own, and so are its other organizations.
   *
   * @throws UnauthorizedError, ForbiddenError
   */
  async requireAccount(headers: Headers): Promise<Visitor> {
    const visitor = await this.require(headers);
    if (visitor.session.ssoOrganizationId === null) return visitor;
    throw new ForbiddenError('Sign in with your own account to change it: this session is of an identity provider', {
      code: 'own_account_required',
    });
  }

  /** Runs the work of a form that changes the person's account. @throws UnauthorizedError, ForbiddenError */
  async changeAccount<T>(
    headers: Headers,
    csrf: string | undefined,
    work: (visitor: Visitor) => Promise<T>,
  ): Promise<T> {
    await this.requireAccount(headers);
    return this.change(headers, csrf, work);
  }

  /**
   * Runs the work of a form as its person.
   *
   * @throws UnauthorizedError, ForbiddenError when the form is not from a page of the session
   */
  async change<T>(headers: Headers, csrf: string | undefined, work: (visitor: Visitor) => Promise<T>): Promise<T> {
    const visitor = await this.require(headers);
    if (!visitor.owns(csrf))
      throw new ForbiddenError('The form is of an older session: load the page again', { code: 'form_from_elsewhere' });
    const { personId, session } = visitor;
    return actAs({ actorKind: 'person', actorId: personId, credentialId: session.id }, () => work(visitor));
  }
}
