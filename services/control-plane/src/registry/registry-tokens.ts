import { conforms, Uuid } from '@runyard/contracts';
import { type Cipher, EncryptionError } from '@runyard/encryption';
import Type, { type Static } from 'typebox';

/** The permissions of a token, for the images of one deployment. */
export interface RegistryGrant {
  deploymentId: string;
  /** Restricts the token to one repository. Default: all of the deployment. */
  name?: string;
  mayPush: boolean;
}

/** A grant with its expiry, as a token contains it. */
export interface HeldGrant extends RegistryGrant {
  /** Milliseconds since 1970. */
  expiresAt: number;
}

const Content = Type.Object({
  deployment: Uuid,
  name: Type.Optional(Type.String()),
  push: Type.Boolean(),
  expires: Type.Number(),
});
const PLACE = 'registry/token';

/**
 * Issues and checks tokens for pushing and pulling images. They are encrypted, so that nobody else can make one and
 * nothing has to be stored. Image tools keep such tokens and never need a platform key.
 */
export class RegistryTokens {
  readonly #cipher: Cipher;

  constructor(cipher: Cipher) {
    this.#cipher = cipher;
  }

  issue(grant: RegistryGrant, lifetimeMs: number): string {
    return this.issueUntil(grant, Date.now() + lifetimeMs);
  }

  /** @param expiresAt milliseconds since 1970 */
  issueUntil(grant: RegistryGrant, expiresAt: number): string {
    const content: Static<typeof Content> = {
      deployment: grant.deploymentId,
      name: grant.name,
      push: grant.mayPush,
      expires: expiresAt,
    };
    return this.#cipher.encrypt(JSON.stringify(content), PLACE);
  }

  /** Returns null for a text that is no valid token (any more). */
  open(token: string): HeldGrant | null {
    try {
      const content: unknown = JSON.parse(this.#cipher.decrypt(token, PLACE));
      if (!conforms(Content, content) || content.expires <= Date.now()) return null;
      const { deployment: deploymentId, name, push: mayPush, expires: expiresAt } = content;
      return { deploymentId, name, mayPush, expiresAt };
    } catch (error) {
      if (error instanceof EncryptionError) return null;
      throw error;
    }
  }
}
