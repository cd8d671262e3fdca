/** A browser of a test: keeps cookies, and follows nothing. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  readonly #url: () => string;

  constructor(url: () => string) {
    this.#url = url;
  }

  get isSignedIn(): boolean {
    return (this.cookies.get('runyard_session') ?? '') !== '';
  }

  /** @param options.isCrossSite true for a form of another site, with which browsers send no cookie */
  async visit(
    path: string,
    options: { form?: Record<string, string>; isCrossSite?: boolean } = {},
  ): Promise<{ status: number; location: string; text: string }> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(this.#url() + path, {
      redirect: 'manual',
      method: options.form ? 'POST' : 'GET',
      headers: {
        ...(options.isCrossSite || cookie === '' ? {} : { cookie }),
        ...(options.form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(options.form && { body: new URLSearchParams(options.form).toString() }),
    });
    for (const each of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(each)!;
      this.cookies.set(name!, value!);
    }
    return { status: answer.status, location: answer.headers.get('location') ?? '', text: await answer.text() };
  }
}
