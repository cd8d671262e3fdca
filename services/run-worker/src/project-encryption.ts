import { setTimeout as pause } from 'node:timers/promises';
import type { EncryptionVariables, ProjectCipher } from '@runyard/encryption';
import { type GraphHost, jsonHandlersOf, keyHandlersOf } from '@runyard/host-client';
import type { ProjectExport } from '@runyard/host-protocol';
import { openProjectCipher } from '@runyard/run-engine';
import type { ServiceContext } from '@runyard/service-kit';
import type { Config } from './config.ts';

export interface ProjectEncryptionOptions {
  source: ProjectExport;
  /** Returns the host that takes new runs; undefined while there is none. */
  host(): Pick<GraphHost, 'loadEncryption' | 'crypt' | 'cryptJson'> | undefined;
  variables: EncryptionVariables;
  config: Pick<Config, 'DATABASE_URI' | 'DATABASE_PREPARED_STATEMENTS'>;
  context: Pick<ServiceContext, 'logger' | 'lifecycle'>;
}

/** Milliseconds that a host may take to be replaced, and between two looks for it. */
const HOST_WAIT_MS = 3_000;
const LOOK_EVERY_MS = 100;

/** Encrypts what runs write under the data keys of their callers, which the project's own handlers decrypt. */
export class ProjectEncryption {
  readonly cipher: ProjectCipher;
  readonly #source: ProjectExport;
  readonly #host: ProjectEncryptionOptions['host'];

  /** @throws EncryptionError for invalid variables */
  constructor({ source, host, variables, config, context: { logger, lifecycle } }: ProjectEncryptionOptions) {
    this.#source = source;
    this.#host = host;
    const { cipher, close } = openProjectCipher({
      ...variables,
      connectionString: config.DATABASE_URI,
      preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
      applicationName: 'runyard-run-worker',
      handlers: keyHandlersOf(() => this.#requireHost(), source),
      onFailure: (error) => logger.warn('project encryption failed', { error }),
    });
    this.cipher = cipher;
    lifecycle.onStop('data keys', close);
  }

  /** Loads the project's object and tries its handlers. @throws GraphLoadError, DataKeyError, EncryptionHandlerError */
  async open(): Promise<void> {
    const host = await this.#requireHost();
    const { hasJson } = await host.loadEncryption(this.#source);
    await this.cipher.open(hasJson ? jsonHandlersOf(() => this.#requireHost(), this.#source) : undefined);
  }

  async #requireHost() {
    for (let waited = 0; waited < HOST_WAIT_MS; waited += LOOK_EVERY_MS) {
      const host = this.#host();
      if (host) return host;
      await pause(LOOK_EVERY_MS);
    }
    throw new Error('no graph host is ready');
  }
}
