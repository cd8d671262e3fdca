import { PlatformError } from '../../platform/ask.ts';

export interface FieldFaults {
  /** The sentence for each field, by its path such as `source_config.repo_url`. */
  byField: Map<string, string>;
  /** The sentences that belong to no field. */
  rest: string | undefined;
}

/**
 * Sorts what the platform says about a request to the fields of a form: `path: sentence` of a request that does not
 * match the contract, and sentences that name a path in quotes.
 */
export function faultsByField(error: unknown, fields: readonly string[]): FieldFaults {
  const byField = new Map<string, string>();
  if (!(error instanceof PlatformError)) return { byField, rest: error ? String(error) : undefined };
  const rest: string[] = [];
  for (const sentence of error.message.split('; ')) {
    const field = fields.find((path) => sentence.startsWith(`${path}: `) || sentence.includes(`'${path}'`));
    if (field === undefined) rest.push(sentence);
    else byField.set(field, sentence.startsWith(`${field}: `) ? sentence.slice(field.length + 2) : sentence);
  }
  return { byField, rest: rest.join('; ') || undefined };
}
