import { ConfigError } from '@runyard/service-kit';
import { hostNameOf } from '../requests/request-host.ts';

/** The host name of the console. It is before all others: no deployment has it, whatever its slug or its own domain. */
export class ConsoleHost {
  readonly #name: string | undefined;

  /** @throws ConfigError when the settings do not say where the console is, and at which host of its own */
  constructor(settings: {
    serviceUrl: string | undefined;
    /** The address of the console as browsers know it. */
    url: string | undefined;
    /** That of the platform. */
    publicUrl: string;
  }) {
    this.#name = nameIn(settings);
  }

  /** Returns whether a host is the console's. @param name without a port, as {@link hostNameOf} has it */
  has(name: string): boolean {
    return this.#name !== undefined && name === this.#name;
  }
}

function nameIn({ serviceUrl, url, publicUrl }: ConstructorParameters<typeof ConsoleHost>[0]): string | undefined {
  if (url === undefined && serviceUrl === undefined) return undefined;
  if (url === undefined) throw new ConfigError(['CONSOLE_SERVICE_URL needs CONSOLE_URL, the address for browsers.']);
  if (serviceUrl === undefined)
    throw new ConfigError(['CONSOLE_URL needs CONSOLE_SERVICE_URL, where the console runs.']);
  const name = URL.canParse(url) ? hostNameOf(new URL(url).host) : '';
  if (name === '') throw new ConfigError(['CONSOLE_URL must have the name of a host.']);
  // Cookies and pages know no ports: what one of them sets, the other gets.
  if (name === hostNameOf(new URL(publicUrl).host))
    throw new ConfigError(['CONSOLE_URL must have a host of its own, another one than PUBLIC_URL.']);
  return name;
}
