import type { DeploymentRoute } from '@runyard/contracts';

/** Holds the routes of the last snapshot, and nothing else. */
export class DeploymentTable {
  #byId = new Map<string, DeploymentRoute>();
  #bySlug = new Map<string, DeploymentRoute>();
  #byName = new Map<string, DeploymentRoute>();
  #byHost = new Map<string, DeploymentRoute>();
  #isLoaded = false;

  /** True when there was ever a snapshot. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get size(): number {
    return this.#byId.size;
  }

  find(reference: string): DeploymentRoute | undefined {
    return this.#byId.get(reference.toLowerCase()) ?? this.#bySlug.get(reference);
  }

  /** Finds a deployment by its bare name, which means something only inside a workspace. */
  findNamed(name: string, workspaceId: string): DeploymentRoute | undefined {
    return this.#byName.get(nameIn(workspaceId, name));
  }

  /** @param host a name in lower case */
  findAtHost(host: string): DeploymentRoute | undefined {
    return this.#byHost.get(host);
  }

  replace(routes: readonly DeploymentRoute[]): void {
    this.#byId = mapBy(routes, (route) => route.deployment_id);
    this.#bySlug = mapBy(routes, (route) => route.slug);
    this.#byName = mapBy(routes, (route) => nameIn(route.workspace_id, route.name));
    this.#byHost = mapBy(routes, (route) => route.custom_host);
    this.#isLoaded = true;
  }
}

function mapBy(
  routes: readonly DeploymentRoute[],
  keyOf: (route: DeploymentRoute) => string | null | undefined,
): Map<string, DeploymentRoute> {
  const byKey = new Map<string, DeploymentRoute>();
  for (const route of routes) {
    const key = keyOf(route);
    if (key != null) byKey.set(key, route);
  }
  return byKey;
}

function nameIn(workspaceId: string, name: string): string {
  return `${workspaceId}/${name}`;
}
