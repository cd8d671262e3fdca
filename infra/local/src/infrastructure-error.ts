/** Something on this machine is missing or in the way. The message is one sentence for the person at the keyboard. */
export class InfrastructureError extends Error {
  override name = 'InfrastructureError';
}

/** Returns the first line of whatever was thrown, to be put inside a sentence. */
export function reasonOf(error: unknown): string {
  const causes = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
  const text =
    causes instanceof Error
      ? causes.message || ((causes as NodeJS.ErrnoException).code ?? causes.name)
      : String(causes);
  return text.split('\n')[0]?.trim() ?? '';
}
