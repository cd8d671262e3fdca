import type { BuildUrlQuery } from '@runyard/contracts';
import { Signatures } from '@runyard/encryption';
import { ForbiddenError } from '@runyard/service-kit';

/** The purpose of a build's URL, which is the last part of its path. */
export type BuildUrlPurpose = 'order' | 'report' | 'end' | 'source' | 'archive';

/** A build that waits, or works, for longer needs other URLs. */
const LIFETIME_SECONDS = 2 * 86_400;

/** Signs and checks the URLs by which builders reach this service: each is for one purpose and one order of a build. */
export class BuildUrls {
  readonly #signatures: Signatures;

  /** @param encryptionKeys the valid value of ENCRYPTION_KEY */
  constructor(encryptionKeys: string) {
    this.#signatures = new Signatures(encryptionKeys, 'build url v1');
  }

  /** Returns a path with its query, which builders send to the control-plane that they know. */
  make(purpose: BuildUrlPurpose, revisionId: string, epoch: number): string {
    const expires = Math.floor(Date.now() / 1000) + LIFETIME_SECONDS;
    const signature = this.#signatures.sign(signedText(purpose, revisionId, { epoch, expires }));
    const query = new URLSearchParams({ epoch: String(epoch), expires: String(expires), signature });
    return `/internal/builds/${revisionId}/${purpose}?${query}`;
  }

  /** @throws ForbiddenError for a URL that this service did not make for this purpose, or that has expired */
  check(purpose: BuildUrlPurpose, revisionId: string, { signature, ...query }: BuildUrlQuery): void {
    const isGood = this.#signatures.isValid(signedText(purpose, revisionId, query), signature);
    if (isGood && query.expires * 1000 > Date.now()) return;
    throw new ForbiddenError('This URL of a build is not valid, or has expired.', { code: 'build_url_invalid' });
  }
}

function signedText(purpose: BuildUrlPurpose, revisionId: string, query: Omit<BuildUrlQuery, 'signature'>): string {
  return [purpose, revisionId, query.epoch, query.expires].join(' ');
}
