import { type Profile, SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import type { SsoProvider } from '../../../generated/client.ts';
import type { SsoUrls } from '../../../sso-urls.ts';
import { samlOf } from '../provider-configuration.ts';
import { SignInRefusedError } from '../sign-in-refusal.ts';
import { type IdpMetadata, parseIdpMetadata } from './idp-metadata.ts';
import type { SamlResponse } from './saml-response.ts';

const CLOCK_SKEW_MS = 60_000;
const REQUEST_LIFETIME_MS = 10 * 60_000;
/** Providers of which the metadata is kept. */
const METADATA_MAX = 500;
const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

/** The content of a signed assertion. */
export interface Assertion {
  id: string;
  issuer: string;
  nameId: string;
  sessionIndex: string | null;
  attributes: Record<string, unknown>;
  /** Its end, with the tolerance for clocks. */
  expiresAt: Date;
}

/** Speaks SAML 2.0 with the providers of organizations. */
export class SamlClient {
  readonly #urls: SsoUrls;
  /** By provider and its last change. */
  readonly #metadata = new Map<string, IdpMetadata>();

  constructor(options: { urls: SsoUrls }) {
    this.#urls = options.urls;
  }

  /** Returns the metadata of this service provider. */
  metadata(): string {
    return `<?xml version="1.0" encoding="UTF-8"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escapeXml(this.#urls.samlEntityId)}">
  <SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <NameIDFormat>${PERSISTENT}</NameIDFormat>
    <AssertionConsumerService index="0" isDefault="true" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${escapeXml(this.#urls.samlConsumer)}"/>
  </SPSSODescriptor>
</EntityDescriptor>
`;
  }

  /** Returns where a browser goes to sign in. */
  async signInUrl(provider: SsoProvider, requestId: string, relayState: string): Promise<string> {
    return this.#saml(provider, requestId).getAuthorizeUrlAsync(relayState, undefined, {});
  }

  /**
   * Checks a response, and reads its assertion: of the document only the node that the provider signed.
   *
   * @param requestId of the request that it must answer; null: it must answer none
   * @throws SignInRefusedError
   */
  async readResponse(provider: SsoProvider, response: SamlResponse, requestId: string | null): Promise<Assertion> {
    try {
      const form = { SAMLResponse: response.encoded };
      const { profile } = await this.#saml(provider, requestId).validatePostResponseAsync(form);
      if (!profile) throw new Error('The response has no assertion.');
      return this.#readAssertion(provider, profile, requestId);
    } catch (cause) {
      throw new SignInRefusedError('answer_invalid', { cause });
    }
  }

  #readAssertion(provider: SsoProvider, profile: Profile, requestId: string | null): Assertion {
    const assertion = (profile.getAssertion?.() as { Assertion?: XmlElement } | undefined)?.Assertion;
    if (!assertion) throw new Error('The assertion cannot be read.');
    if (profile.issuer !== samlOf(provider).entityId) throw new Error('The assertion is of another issuer.');
    const confirmation = this.#findConfirmation(assertion, requestId);
    const id = assertion.$?.ID;
    if (!id || !profile.nameID) throw new Error('The assertion has no ID or no NameID.');
    const attributes = (profile.attributes ?? {}) as Record<string, unknown>;
    return {
      id,
      issuer: profile.issuer,
      nameId: profile.nameID.trim(),
      sessionIndex: profile.sessionIndex ?? null,
      attributes: profile.nameIDFormat === EMAIL_FORMAT ? { email: profile.nameID, ...attributes } : attributes,
      expiresAt: new Date(Date.parse(confirmation.NotOnOrAfter!) + CLOCK_SKEW_MS),
    };
  }

  /** Requires a bearer confirmation for this service and this request, inside of what is signed. */
  #findConfirmation(assertion: XmlElement, requestId: string | null): Record<string, string> {
    const conditions = children(assertion, 'Conditions')[0]?.$ ?? {};
    if (!conditions.NotOnOrAfter) throw new Error('The assertion has no end.');
    for (const confirmation of children(children(assertion, 'Subject')[0], 'SubjectConfirmation')) {
      if (confirmation.$?.Method !== 'urn:oasis:names:tc:SAML:2.0:cm:bearer') continue;
      const data = children(confirmation, 'SubjectConfirmationData')[0]?.$;
      if (data?.Recipient !== this.#urls.samlConsumer) continue;
      if (!data.NotOnOrAfter || !(Date.parse(data.NotOnOrAfter) + CLOCK_SKEW_MS > Date.now())) continue;
      if ((data.InResponseTo ?? null) === requestId) return data;
    }
    throw new Error('The assertion is not for this service, or answers another request.');
  }

  /** Reads the metadata of a provider once, as anybody may begin a sign-in. */
  #metadataOf({ id, updatedAt, metadata }: SsoProvider): IdpMetadata {
    const key = `${id} ${updatedAt.getTime()}`;
    const known = this.#metadata.get(key);
    if (known) return known;
    const read = parseIdpMetadata(metadata ?? '');
    if (this.#metadata.size >= METADATA_MAX) this.#metadata.clear();
    this.#metadata.set(key, read);
    return read;
  }

  #saml(provider: SsoProvider, requestId: string | null): SAML {
    const { signInUrl, certificates } = this.#metadataOf(provider);
    const { entityId, isResponseSigned } = samlOf(provider);
    return new SAML({
      issuer: this.#urls.samlEntityId,
      audience: this.#urls.samlEntityId,
      callbackUrl: this.#urls.samlConsumer,
      entryPoint: signInUrl,
      idpIssuer: entityId,
      idpCert: certificates,
      identifierFormat: PERSISTENT,
      // How people authenticate is the provider's business.
      disableRequestedAuthnContext: true,
      wantAssertionsSigned: true,
      wantAuthnResponseSigned: isResponseSigned,
      acceptedClockSkewMs: CLOCK_SKEW_MS,
      requestIdExpirationPeriodMs: REQUEST_LIFETIME_MS,
      ...(requestId !== null && { generateUniqueId: () => requestId }),
      validateInResponseTo: requestId === null ? ValidateInResponseTo.ifPresent : ValidateInResponseTo.always,
      cacheProvider: onlyRequest(requestId),
    });
  }
}

/** Knows the one request that a response must answer. */
function onlyRequest(requestId: string | null) {
  const value = new Date().toISOString();
  return {
    saveAsync: async () => ({ value, createdAt: Date.now() }),
    getAsync: async (key: string) => (key === requestId ? value : null),
    removeAsync: async () => null,
  };
}

/** An element as the library reads it: attributes, and children by name. */
interface XmlElement {
  $?: Record<string, string>;
  [child: string]: unknown;
}

function children(element: XmlElement | undefined, name: string): XmlElement[] {
  const found = element?.[name];
  return Array.isArray(found) ? (found as XmlElement[]) : [];
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
