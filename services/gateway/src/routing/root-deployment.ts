import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { DeploymentRoute, RootFile } from '@runyard/contracts';
import { isPreflight } from '@runyard/service-kit';
import { asksWithCredentials, hasCredentials } from '../authentication/credentials.ts';
import type { LocalRequests } from '../authentication/local-requests.ts';
import type { DeploymentTable } from './deployment-table.ts';

/**
 * The deployment that stands at the root of the platform's own host, on the machine of one person: every path that is
 * none of the platform's is its own there. Where the file has a key, requests of that machine need none.
 */
export class RootDeployment {
  readonly #file: string | undefined;
  readonly #table: DeploymentTable;
  readonly #localRequests: LocalRequests;
  #content: RootFile | undefined;

  /** @param options.file written once, when the platform has started and deployed; undefined: nothing stands there */
  constructor(options: { file: string | undefined; table: DeploymentTable; localRequests: LocalRequests }) {
    this.#file = options.file;
    this.#table = options.table;
    this.#localRequests = options.localRequests;
  }

  /** Its route; undefined while nothing stands there, and after its deletion. */
  get route(): DeploymentRoute | undefined {
    const content = this.#read();
    return content && this.#table.find(content.deployment_id);
  }

  /** True while it is there, or not known yet. */
  get isStanding(): boolean {
    return this.#read() !== undefined && (!this.#table.isLoaded || this.route !== undefined);
  }

  /**
   * Returns the key as which a request counts that shows no credentials, or those of another platform, which SDKs find in
   * their environment; undefined where it needs its own.
   *
   * @param options.mayHaveOwn true where somebody else may know credentials that do not look like any
   * @throws ForbiddenError, UnauthorizedError for a request without credentials that is not of this machine
   */
  async keyFor(req: IncomingMessage, { mayHaveOwn }: { mayHaveOwn: boolean }): Promise<string | undefined> {
    const key = this.#read()?.api_key;
    if (key === undefined) return undefined;
    // A browser asks without credentials whether a page may send some.
    const hasSome = hasCredentials(req.headers) || (isPreflight(req) && asksWithCredentials(req.headers));
    if (hasSome || mayHaveOwn) return (await this.#localRequests.admits(req)) ? key : undefined;
    await this.#localRequests.require(req);
    return key;
  }

  /** Reads the file until it is there. */
  #read(): RootFile | undefined {
    if (this.#content !== undefined || this.#file === undefined) return this.#content;
    try {
      this.#content = JSON.parse(readFileSync(this.#file, 'utf8')) as RootFile;
    } catch {
      // It is not there yet, or just being written.
    }
    return this.#content;
  }
}
