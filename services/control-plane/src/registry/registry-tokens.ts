import { conforms, Uuid } from '@runyard/contracts';
import { type Sealer, SealingError } from '@runyard/sealing';
import Type, { type Static } from 'typebox';

/** What the holder of a token may do, with the images of one deployment and nothing else. */
export interface RegistryGrant {
  deploymentId: string;
  /** Of those by this name alone; left out: of all of them. */
  name?: string;
  mayPush: boolean;
}

/** A grant as a token holds it. */
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
 * Tokens for pushing and pulling images. They are sealed, so that nobody else can make or change one and nothing has to be
 * stored; a platform key is never needed where an image tool keeps its credentials.
 */
export class RegistryTokens {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  issue(grant: RegistryGrant, lifetimeMs: number): string {
    const content: Static<typeof Content> = {
      deployment: grant.deploymentId,
      name: grant.name,
      push: grant.mayPush,
      expires: Date.now() + lifetimeMs,
    };
    return this.#sealer.seal(JSON.stringify(content), PLACE);
  }

  /** Null for what is no token of ours, or not any more. */
  open(token: string): HeldGrant | null {
    try {
      const content: unknown = JSON.parse(this.#sealer.open(token, PLACE));
      if (!conforms(Content, content) || content.expires <= Date.now()) return null;
      const { deployment: deploymentId, name, push: mayPush, expires: expiresAt } = content;
      return { deploymentId, name, mayPush, expiresAt };
    } catch (error) {
      if (error instanceof SealingError) return null;
      throw error;
    }
  }
}
