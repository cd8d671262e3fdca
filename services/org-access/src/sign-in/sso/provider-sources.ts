import { OutboundRefusedError } from '@runyard/outbound';
import { InvalidFieldError } from '@runyard/service-kit';
import type { IdentityProviderClient } from './identity-provider-client.ts';
import { MetadataError, parseIdpMetadata } from './saml/idp-metadata.ts';

/** Checks and reads what an administrator names of an identity provider. */
export class ProviderSources {
  readonly #client: IdentityProviderClient;

  constructor(client: IdentityProviderClient) {
    this.#client = client;
  }

  /** @throws InvalidFieldError when requests must not go there */
  requireUrl(field: string, url: string): void {
    try {
      this.#client.checkUrl(url);
    } catch (error) {
      if (error instanceof OutboundRefusedError) throw invalidField(field, error.message);
      throw error;
    }
  }

  /** Returns the metadata from its address or the request. @throws InvalidFieldError when it cannot be used */
  async readMetadata(body: {
    metadata_url?: string;
    metadata_xml?: string;
  }): Promise<{ xml: string; entityId: string }> {
    const field = body.metadata_url === undefined ? 'metadata_xml' : 'metadata_url';
    if (body.metadata_url !== undefined) this.requireUrl('metadata_url', body.metadata_url);
    try {
      const xml = body.metadata_xml ?? (await this.#client.read(body.metadata_url!));
      const { entityId, signInUrl } = parseIdpMetadata(xml);
      if (!this.#isReachable(signInUrl)) throw new MetadataError('The sign-in address must begin with https://.');
      return { xml, entityId };
    } catch (error) {
      if (error instanceof MetadataError || error instanceof OutboundRefusedError)
        throw invalidField(field, error.message);
      // Without a cause: a refused connection would be taken for that of the database.
      throw invalidField(field, 'The metadata cannot be fetched.');
    }
  }

  /** The browser goes there, not this service: any HTTPS address will do. */
  #isReachable(url: string): boolean {
    if (url.startsWith('https:')) return true;
    try {
      this.#client.checkUrl(url);
      return true;
    } catch {
      return false;
    }
  }
}

function invalidField(field: string, message: string): InvalidFieldError {
  return new InvalidFieldError(['body', field], message, { code: 'sso_provider_invalid' });
}
