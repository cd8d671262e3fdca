import type { RevisionSpec } from './driver.ts';

/** What a registry asks for when an image is pulled. */
export interface PullCredential {
  /** `host[:port]` */
  host: string;
  username: string;
  password: string;
  /** It was given earlier: neither who gives them nor the registry, which are the same, can be asked at the moment. */
  isOfBefore?: boolean;
}

/**
 * What a revision's image is pulled with; undefined for one that anybody may pull, or that others see to.
 *
 * @throws StartFailure when the image is not the deployment's, or nothing was given by the time that the signal says
 */
export type CredentialFor = (
  revision: Pick<RevisionSpec, 'deploymentId' | 'revisionId'>,
  imageUri: string,
  signal: AbortSignal,
) => Promise<PullCredential | undefined>;

/** Gives credentials that are good for so long, or not as long. */
export type GivesCredentials = (lifetimeMs: number) => CredentialFor;
