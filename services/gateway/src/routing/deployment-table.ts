import type { DeploymentRoute } from '@runyard/contracts';

/**
 * The routes this replica knows. Changes arrive in any order from two sides, snapshots and events: of two versions of one
 * route the higher one stays, and a deleted deployment does not come back through an older snapshot or event.
 */
export class DeploymentTable {
  readonly #byId = new Map<string, DeploymentRoute>();
  readonly #idBySlug = new Map<string, string>();
  readonly #idByName = new Map<string, string>();
  readonly #idByHost = new Map<string, string>();
  /** Versions of deleted deployments, kept until a snapshot confirms that they are gone. */
  readonly #deleted = new Map<string, number>();
  /** Deployments changed by event since the snapshot under way was asked for. */
  readonly #changed = new Set<string>();
  #loaded = false;

  /** Whether the table was ever complete. */
  get isLoaded(): boolean {
    return this.#loaded;
  }

  get size(): number {
    return this.#byId.size;
  }

  find(reference: string): DeploymentRoute | undefined {
    const id = this.#idBySlug.get(reference);
    return this.#byId.get(reference.toLowerCase()) ?? (id === undefined ? undefined : this.#byId.get(id));
  }

  /** A bare name means something only inside a workspace. */
  findNamed(name: string, workspaceId: string): DeploymentRoute | undefined {
    const id = this.#idByName.get(nameIn(workspaceId, name));
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** @param host a name in lower case */
  findAtHost(host: string): DeploymentRoute | undefined {
    const id = this.#idByHost.get(host);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  apply(route: DeploymentRoute): void {
    this.#changed.add(route.deployment_id);
    this.#put(route);
  }

  remove(deploymentId: string, version: number): void {
    this.#changed.add(deploymentId);
    const known = this.#byId.get(deploymentId);
    if (known && known.version > version) return;
    this.#drop(deploymentId);
    this.#deleted.set(deploymentId, Math.max(version, this.#deleted.get(deploymentId) ?? 0));
  }

  /** To be called when a snapshot is asked for; what changes from now on is newer than it may be. */
  beginSnapshot(): void {
    this.#changed.clear();
  }

  applySnapshot(routes: readonly DeploymentRoute[]): void {
    const present = new Set(routes.map((route) => route.deployment_id));
    for (const route of routes) this.#put(route);
    for (const id of [...this.#byId.keys()]) {
      if (!present.has(id) && !this.#changed.has(id)) this.#drop(id);
    }
    for (const id of [...this.#deleted.keys()]) {
      if (!present.has(id) && !this.#changed.has(id)) this.#deleted.delete(id);
    }
    this.#loaded = true;
  }

  #put(route: DeploymentRoute): void {
    const id = route.deployment_id;
    const known = this.#byId.get(id);
    if (known && known.version > route.version) return;
    if ((this.#deleted.get(id) ?? -1) >= route.version) return;
    this.#drop(id);
    this.#byId.set(id, route);
    if (route.slug !== null) this.#idBySlug.set(route.slug, id);
    if (route.custom_host != null) this.#idByHost.set(route.custom_host, id);
    this.#idByName.set(nameIn(route.workspace_id, route.name), id);
  }

  #drop(id: string): void {
    const known = this.#byId.get(id);
    if (!known) return;
    this.#byId.delete(id);
    if (known.slug !== null && this.#idBySlug.get(known.slug) === id) this.#idBySlug.delete(known.slug);
    if (known.custom_host != null && this.#idByHost.get(known.custom_host) === id)
      this.#idByHost.delete(known.custom_host);
    const name = nameIn(known.workspace_id, known.name);
    if (this.#idByName.get(name) === id) this.#idByName.delete(name);
  }
}

function nameIn(workspaceId: string, name: string): string {
  return `${workspaceId}/${name}`;
}
