import type { Project } from '@runyard/project';
import type { PrincipalVerifier } from '@runyard/service-kit';
import { Authorizer, type AuthorizerOptions } from './authorizer.ts';
import { UserVerifier, type UserVerifierOptions } from './user-verifier.ts';

/** The users of a project that decides about its callers. */
export interface ProjectUsers {
  verifier: PrincipalVerifier;
  authorizer: Authorizer;
}

/**
 * Opens the users of a project; undefined without `auth.path`.
 *
 * @param platform verifies callers of the platform, where the project lets them in; undefined where nobody can
 */
export function openUsers(
  { auth, authSettings }: Pick<Project, 'auth' | 'authSettings'>,
  findAssistantId: AuthorizerOptions['findAssistantId'],
  host: AuthorizerOptions['host'] & UserVerifierOptions['host'],
  platform: PrincipalVerifier | undefined,
): ProjectUsers | undefined {
  if (auth === null) return undefined;
  return {
    verifier: new UserVerifier({ source: auth, settings: authSettings ?? {}, host, platform }),
    authorizer: new Authorizer({ source: auth, findAssistantId, host }),
  };
}
