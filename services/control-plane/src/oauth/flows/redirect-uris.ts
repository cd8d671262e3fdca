/** Where providers send people back to. */
export class RedirectUris {
  readonly #own: string;
  readonly #frontEnd: string | undefined;

  /** @param frontEndUrl a page that gives code and state to `POST /v2/auth/callback`; without one it is the callback itself */
  constructor(publicUrl: string, frontEndUrl?: string) {
    this.#own = `${publicUrl.replace(/\/+$/, '')}/v2/auth/callback`;
    this.#frontEnd = frontEndUrl?.replace(/\/+$/, '');
  }

  of(providerId: string): string {
    return `${this.#frontEnd ?? this.#own}/${encodeURIComponent(providerId)}`;
  }

  /** Whether somebody without a key may finish what was begun with this one: a front end shows who it is. */
  isOwn(redirectUri: string): boolean {
    return redirectUri.startsWith(`${this.#own}/`);
  }
}
