import type { IncomingMessage } from 'node:http';
import { PRINCIPAL_HEADER } from '@runyard/contracts';
import type { GraphHost } from '@runyard/host-client';
import type { ProjectExport } from '@runyard/host-protocol';
import type { PrincipalVerifier } from '@runyard/service-kit';
import { projectRequestOf } from '../http/project-request.ts';
import { askProject, ProjectRefusalError } from './auth-answers.ts';
import { AuthCache, type AuthCacheSettings } from './auth-cache.ts';
import { keyUser, projectUser, studioUser, type UserCaller } from './user-caller.ts';

/** `auth` of `langgraph.json`, without the handler. */
export interface AuthSettings {
  cache?: AuthCacheSettings;
  disable_studio_auth?: boolean;
  allow_langsmith_api_keys?: boolean;
}

export interface UserVerifierOptions {
  source: ProjectExport;
  settings: AuthSettings;
  host: { requireRunning(): Promise<Pick<GraphHost, 'authenticate'>> };
  /** Verifies callers of the platform; undefined where nobody can, so that the project alone says who calls. */
  platform: PrincipalVerifier | undefined;
}

/**
 * Asks the project's handler who calls. Only where the project allows it do callers count whom the platform knows: in
 * Studio, or with a key. What a request says of itself is never enough: the platform's credential is verified then.
 */
export class UserVerifier implements PrincipalVerifier {
  readonly #options: UserVerifierOptions;
  readonly #cache: AuthCache;

  constructor(options: UserVerifierOptions) {
    this.#options = options;
    this.#cache = new AuthCache(options.settings.cache);
  }

  /** @throws ProjectRefusalError, UnauthorizedError, UnavailableError, AuthHandlerError */
  async authenticate(req: IncomingMessage): Promise<UserCaller> {
    const { platform, settings } = this.#options;
    if (platform && !settings.disable_studio_auth && req.headers['x-auth-scheme'] === 'langsmith') {
      return studioUser(await platform.authenticate(req));
    }
    if (platform && settings.allow_langsmith_api_keys && hasKeyAlone(req)) {
      return keyUser(await platform.authenticate(req));
    }
    return projectUser(await this.#cache.userOf(req, () => this.#ask(req)));
  }

  async #ask(req: IncomingMessage) {
    const { source, host } = this.#options;
    const running = await host.requireRunning();
    const answer = await askProject(() => running.authenticate({ source, ...projectRequestOf(req) }));
    if (answer.kind === 'refused') throw new ProjectRefusalError(answer.refusal);
    return answer.user;
  }
}

/** Returns whether a platform key came, as the gateway reports it or as sent, and nothing else. */
function hasKeyAlone({ headers }: IncomingMessage): boolean {
  return headers.authorization === undefined && (headers['x-api-key'] ?? headers[PRINCIPAL_HEADER]) !== undefined;
}
