import type { RevisionSpec } from './driver.ts';

/** The credential that a registry requires for pulling an image. */
export interface PullCredential {
  /** `host[:port]` */
  host: string;
  username: string;
  password: string;
  /**
   * True when it is an earlier credential, because the platform, which is also the registry, cannot be reached at the
   * moment.
   */
  isEarlier?: boolean;
}

/**
 * Returns the credential for a revision's image; undefined for a public image or one that is provided otherwise.
 *
 * @throws RevisionStartError when the image belongs to another deployment, or no credential was available when the signal
 * aborted
 */
export type FindPullCredential = (
  revision: Pick<RevisionSpec, 'deploymentId' | 'revisionId'>,
  imageUri: string,
  signal: AbortSignal,
) => Promise<PullCredential | undefined>;

/** Makes a source of credentials that are valid for at most this time. */
export type PullCredentialFactory = (lifetimeMs: number) => FindPullCredential;
