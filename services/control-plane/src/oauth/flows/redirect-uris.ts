/** Makes the URIs to which providers redirect. */
export class RedirectUris {
  readonly #own: string;
  readonly #frontEnd: string | undefined;

  /** @param frontEndUrl a page that sends code and state to `POST /v2/auth/callback`; default: the callback itself */
  constructor(publicUrl: string, frontEndUrl?: string) {
    this.#own = `${publicUrl.replace(/(?<!\/)\/+$/, '')}/v2/auth/callback`;
    this.#frontEnd = frontEndUrl?.replace(/(?<!\/)\/+$/, '');
  }

  uriOf(providerId: string): string {
    return `${this.#frontEnd ?? this.#own}/${encodeURIComponent(providerId)}`;
  }

  /** Returns whether a browser without a key may finish a flow with this URI. A front end authenticates its user. */
  isOwn(redirectUri: string): boolean {
    return redirectUri.startsWith(`${this.#own}/`);
  }
}
