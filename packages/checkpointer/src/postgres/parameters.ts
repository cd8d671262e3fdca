/** Collects the values of a statement whose conditions depend on the question. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Answers the placeholder of the value. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}
