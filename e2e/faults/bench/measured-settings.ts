/** Variables of the bench's own, which are no setting of the product that a number could depend on. */
const OF_THE_BENCH = new Set(['NODE_OPTIONS', 'PROJECT_ENV', 'OUTBOUND_ALLOWED_NETWORKS', 'WEBHOOK_SIGNING_SECRETS']);

/** Records the settings that a goal gave its services, where they are given: the report cannot leave one out. */
export class MeasuredSettings {
  readonly #values = new Map<string, Set<string>>();

  add(env: Readonly<Record<string, string>> = {}): void {
    for (const [name, value] of Object.entries(env)) {
      if (OF_THE_BENCH.has(name)) continue;
      this.#values.set(name, (this.#values.get(name) ?? new Set()).add(value));
    }
  }

  /** Returns the values by name; a goal with several deployments may have several values of one. */
  all(): Record<string, string[]> {
    return Object.fromEntries([...this.#values].sort().map(([name, values]) => [name, [...values].sort()]));
  }
}
