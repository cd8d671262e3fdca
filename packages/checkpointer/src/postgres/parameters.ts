/** Collects the values of a statement whose conditions depend on the request. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Returns the placeholder of the value. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}
