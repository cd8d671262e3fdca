/** Makes the URIs to which providers redirect. */
export class RedirectUris {
  readonly #start: string;
  readonly #own: string;
  readonly #frontEnd: string | undefined;

  /** @param frontEndUrl a page that sends code and state to `POST /v2/auth/callback`; default: the callback itself */
  constructor(publicUrl: string, frontEndUrl?: string) {
    const base = publicUrl.replace(/(?<!\/)\/+$/, '');
    this.#start = `${base}/v2/auth/start`;
    this.#own = `${base}/v2/auth/callback`;
    this.#frontEnd = frontEndUrl?.replace(/(?<!\/)\/+$/, '');
  }

  /** Returns the address of the page where a person begins a flow. */
  startOf(authId: string): string {
    return `${this.#start}/${authId}`;
  }

  uriOf(providerId: string): string {
    return `${this.#frontEnd ?? this.#own}/${encodeURIComponent(providerId)}`;
  }

  /** Returns whether a browser without a key may finish a flow with this URI. A front end authenticates its user. */
  isOwn(redirectUri: string): boolean {
    return redirectUri.startsWith(`${this.#own}/`);
  }
}
