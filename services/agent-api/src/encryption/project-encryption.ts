import {
  DataKeyError,
  type EncryptionMetadata,
  type EncryptionScope,
  type EncryptionVariables,
  type ProjectCipher,
} from '@runyard/encryption';
import { EncryptionHandlerError, type GraphHost, jsonHandlersOf, keyHandlersOf } from '@runyard/host-client';
import { GraphLoadError, type ProjectExport } from '@runyard/host-protocol';
import { openProjectCipher } from '@runyard/run-engine';
import type { BoundOperation, HandlerRequest, ServiceContext } from '@runyard/service-kit';
import { userOf } from '../auth/user-caller.ts';
import type { Config } from '../config.ts';
import { encryptionUnavailableError } from '../errors/encryption-unavailable.ts';
import { projectRequestOf } from '../http/project-request.ts';

export interface ProjectEncryptionOptions {
  source: ProjectExport;
  host: { requireRunning(): Promise<Pick<GraphHost, 'loadEncryption' | 'encryptionContext' | 'crypt' | 'cryptJson'>> };
  variables: EncryptionVariables;
  config: Pick<Config, 'DATABASE_URI' | 'DATABASE_PREPARED_STATEMENTS'>;
  context: Pick<ServiceContext, 'logger' | 'lifecycle'>;
}

/** Encrypts the data of a project under keys that its own handlers encrypt: one key for each context. */
export class ProjectEncryption {
  readonly cipher: ProjectCipher;
  readonly #source: ProjectExport;
  readonly #host: ProjectEncryptionOptions['host'];
  #hasContext = false;

  /** @throws EncryptionError for invalid variables */
  constructor({ source, host, variables, config, context: { logger, lifecycle } }: ProjectEncryptionOptions) {
    this.#source = source;
    this.#host = host;
    const { cipher, close } = openProjectCipher({
      ...variables,
      connectionString: config.DATABASE_URI,
      preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
      applicationName: 'runyard-agent-api',
      handlers: keyHandlersOf(() => host.requireRunning(), source),
      onFailure: (error) => logger.warn('project encryption failed', { error }),
    });
    this.cipher = cipher;
    lifecycle.onStop('data keys', close);
  }

  /**
   * Loads the project's object and tries its handlers.
   *
   * @param loaded resolves when the project is loaded
   * @throws GraphLoadError
   */
  async open(loaded: Promise<void>): Promise<void> {
    await loaded;
    const host = await this.#host.requireRunning();
    const { hasContext, hasJson } = await host.loadEncryption(this.#source);
    this.#hasContext = hasContext;
    const json = hasJson ? jsonHandlersOf(() => this.#host.requireRunning(), this.#source) : undefined;
    await this.cipher.open(json).catch((cause: unknown) => {
      throw isOfHandler(cause) ? new GraphLoadError(`"encryption.path": ${cause.message}`, { cause }) : cause;
    });
  }

  /**
   * Middleware that encrypts what a request writes in the context that the project chooses for its caller. A request
   * whose context has no key is refused.
   */
  readonly encryptInContext = ({ operation, handler }: BoundOperation): BoundOperation => {
    if (operation.access === 'public') return { operation, handler };
    return { operation, handler: async (request) => (await this.#scopeFor(request))(() => handler(request)) };
  };

  async #scopeFor(request: Pick<HandlerRequest, 'caller' | 'raw'>): Promise<EncryptionScope> {
    try {
      return await this.cipher.scopeFor(this.#hasContext ? await this.#contextOf(request) : {});
    } catch (cause) {
      if (!isOfHandler(cause)) throw cause;
      throw encryptionUnavailableError(cause);
    }
  }

  async #contextOf({ caller, raw }: Pick<HandlerRequest, 'caller' | 'raw'>): Promise<EncryptionMetadata> {
    const host = await this.#host.requireRunning();
    return host.encryptionContext({ source: this.#source, user: userOf(caller) ?? null, ...projectRequestOf(raw) });
  }
}

function isOfHandler(error: unknown): error is EncryptionHandlerError | DataKeyError {
  return error instanceof EncryptionHandlerError || error instanceof DataKeyError;
}
