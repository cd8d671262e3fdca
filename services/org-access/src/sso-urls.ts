/** Addresses of this installation that identity providers and their administrators know. */
export class SsoUrls {
  readonly #base: string;

  /** @param publicUrl base URL of the gateway as browsers know it */
  constructor(publicUrl: string) {
    this.#base = publicUrl.replace(/(?<!\/)\/+$/, '');
  }

  /** The base URL of the platform, without a slash at its end. */
  get platform(): string {
    return this.#base;
  }

  get scim(): string {
    return `${this.#base}/scim/v2`;
  }

  /** Returns the address that begins sign-in at the provider of an organization. */
  login(slug: string): string {
    return `${this.#base}/auth/v1/sso/login/${slug}`;
  }

  /** Returns where an OIDC provider sends browsers back to: an address of its own, or the one of all earlier ones. */
  oidcCallback({ id, hasOwnCallback }: { id: string; hasOwnCallback: boolean }): string {
    const shared = `${this.#base}/api/v1/oauth/custom-oidc/callback`;
    return hasOwnCallback ? `${shared}/${id}` : shared;
  }

  get backchannelLogout(): string {
    return `${this.#base}/api/v1/oauth/custom-oidc/backchannel-logout`;
  }

  get samlConsumer(): string {
    return `${this.#base}/auth/v1/sso/saml/acs`;
  }

  /** Also the address of our metadata. */
  get samlEntityId(): string {
    return `${this.#base}/auth/v1/sso/saml/metadata`;
  }

  /** The address that browsers are sent to after signing out at a provider. */
  get signedOut(): string {
    return `${this.#base}/login`;
  }

  /** Returns the origin that a browser's forms come from. */
  get origin(): string {
    return new URL(this.#base).origin;
  }
}
