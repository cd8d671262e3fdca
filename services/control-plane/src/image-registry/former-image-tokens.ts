import { conforms, type FormerImageToken, Uuid } from '@runyard/contracts';
import { type Cipher, EncryptionError } from '@runyard/encryption';
import Type from 'typebox';

const Content = Type.Object({
  deployment: Uuid,
  name: Type.Optional(Type.String()),
  push: Type.Boolean(),
  expires: Type.Number(),
});
const PLACE = 'registry/token';

/** Opens tokens of older releases, which nodes of clusters have for up to 30 days. */
export class FormerImageTokens {
  readonly #cipher: Cipher;

  constructor(cipher: Cipher) {
    this.#cipher = cipher;
  }

  open(token: string): FormerImageToken['grant'] {
    try {
      const content: unknown = JSON.parse(this.#cipher.decrypt(token, PLACE));
      if (!conforms(Content, content) || content.expires <= Date.now()) return null;
      const { deployment: deployment_id, name = null, push: may_push, expires: expires_at } = content;
      return { deployment_id, name, may_push, expires_at };
    } catch (error) {
      if (error instanceof EncryptionError) return null;
      throw error;
    }
  }
}
