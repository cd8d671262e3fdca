import { conforms, GithubPushEvent } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';
import { fullRef, isSameRepository } from './repository-url.ts';

function parse(body: Buffer): object {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error below covers invalid JSON.
  }
  throw new BadRequestError('The delivery is no JSON object. The webhook must send application/json.');
}

/** Returns the full name of the ref that a deployment is built from; null when the push does not say it. */
function builtRef(ref: string | null | undefined, { repository }: GithubPushEvent): string | null {
  if (ref != null) return fullRef(ref);
  return repository.default_branch == null ? null : `refs/heads/${repository.default_branch}`;
}

/** The repository and the ref that a deployment is built from. */
export interface BuiltRef {
  repoUrl: string | null | undefined;
  buildsOnPush: boolean;
  /** Left out for the default branch. */
  ref: string | null | undefined;
}

/**
 * Returns why a delivery of a webhook is not built; null for a push that is.
 *
 * @throws BadRequestError for a body that is no object of JSON
 */
export function reasonToIgnorePush(body: Buffer, { repoUrl, buildsOnPush, ref }: BuiltRef): string | null {
  const event = parse(body);
  if (!conforms(GithubPushEvent, event)) return 'this is no push';
  if (!buildsOnPush) return 'the deployment does not build on push';
  if (repoUrl == null || !isSameRepository(repoUrl, event.repository.clone_url)) return 'this is another repository';
  if (event.created || event.deleted) return 'a branch or a tag was made or deleted';
  if (event.ref !== builtRef(ref, event)) return 'this is another branch';
  return null;
}
