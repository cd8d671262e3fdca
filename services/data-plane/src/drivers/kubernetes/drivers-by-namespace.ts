import type { RevisionSpec, RevisionStartOptions, RunningRevision } from '../driver.ts';
import type { OpenDriver } from '../driver-row.ts';

export interface DriversByNamespaceOptions {
  /** The driver of `defaultNamespace`, for deployments that name no namespace. */
  defaultDriver: OpenDriver;
  defaultNamespace: string;
  open(namespace: string): Promise<OpenDriver>;
}

/** Runs each revision in its own namespace of a cluster. A namespace is watched from its first deployment on. */
export class DriversByNamespace implements OpenDriver {
  readonly #options: DriversByNamespaceOptions;
  readonly #drivers = new Map<string, Promise<OpenDriver>>();

  constructor(options: DriversByNamespaceOptions) {
    this.#options = options;
    this.#drivers.set(options.defaultNamespace, Promise.resolve(options.defaultDriver));
  }

  async start(spec: RevisionSpec, options: RevisionStartOptions): Promise<RunningRevision> {
    return (await this.#in(spec.namespace)).start(spec, options);
  }

  async removeLeftovers(deploymentId: string, namespace?: string): Promise<void> {
    await (await this.#in(namespace)).removeLeftovers?.(deploymentId);
  }

  async close(): Promise<void> {
    for (const driver of this.#drivers.values()) await (await driver).close?.();
  }

  #in(namespace = this.#options.defaultNamespace): Promise<OpenDriver> {
    const driver = this.#drivers.get(namespace) ?? this.#options.open(namespace);
    this.#drivers.set(namespace, driver);
    return driver;
  }
}
