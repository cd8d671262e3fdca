import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { conforms, Uuid } from '@runyard/contracts';
import Type, { type Static } from 'typebox';

/** The permissions of a token, for the images of one deployment. */
export interface RegistryGrant {
  deploymentId: string;
  /** Restricts the token to one repository. Default: all of the deployment. */
  name?: string | undefined;
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
const TOKEN = /^rgt_([\w-]{1,1024})\.([\w-]{43})$/;

/**
 * Signs and checks tokens for pushing and pulling images. control-plane issues them, as it knows the deployments, and
 * the registry checks them without asking anybody, so that images are pulled while control-plane is away. The key is
 * derived from the secret that the services of a platform share, which has to be a random one: holders of tokens can test
 * guesses of it. Image tools keep such tokens, and never need a platform key.
 */
export class RegistryTokens {
  readonly #key: Buffer;

  /** @param internalToken the valid value of INTERNAL_TOKEN */
  constructor(internalToken: string) {
    this.#key = Buffer.from(hkdfSync('sha256', internalToken, '', 'runyard registry token v1', 32));
  }

  issue(grant: RegistryGrant, lifetimeMs: number): string {
    return this.issueUntil(grant, Date.now() + lifetimeMs);
  }

  /** @param expiresAt milliseconds since 1970 */
  issueUntil(grant: RegistryGrant, expiresAt: number): string {
    const content: Static<typeof Content> = {
      deployment: grant.deploymentId,
      ...(grant.name !== undefined && { name: grant.name }),
      push: grant.mayPush,
      expires: expiresAt,
    };
    const text = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `rgt_${text}.${this.#sign(text).toString('base64url')}`;
  }

  /** Returns null for a text that is no valid token (any more). */
  open(token: string): HeldGrant | null {
    const [, text, signature] = TOKEN.exec(token) ?? [];
    if (text === undefined || signature === undefined) return null;
    const [right, given] = [this.#sign(text), Buffer.from(signature, 'base64url')];
    if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
    const content: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!conforms(Content, content) || content.expires <= Date.now()) return null;
    const { deployment: deploymentId, name, push: mayPush, expires: expiresAt } = content;
    return { deploymentId, name, mayPush, expiresAt };
  }

  #sign(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}
