import { isFields } from '../../http/fields.ts';

const COUNTS = ['inputTokens', 'outputTokens', 'totalTokens', 'reasoningTokens', 'cachedInputTokens'] as const;
type Counts = Partial<Record<(typeof COUNTS)[number], number>>;
export type UsageEntry = Counts & { model?: string };

/** Sums the tokens that the models of a run used, by model. */
export class TokenUsage {
  readonly #byModel = new Map<string, Counts>();

  /** Adds what a message reports, in the form of LangChain: parts are included in their totals, as in AG-UI. */
  add(usage: unknown, responseMetadata: unknown): void {
    if (!isFields(usage)) return;
    const input = isFields(usage.input_token_details) ? usage.input_token_details : {};
    const output = isFields(usage.output_token_details) ? usage.output_token_details : {};
    const counts: Record<keyof Counts, unknown> = {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      totalTokens: usage.total_tokens,
      reasoningTokens: output.reasoning,
      cachedInputTokens: input.cache_read,
    };
    const model = modelOf(responseMetadata);
    const sums = this.#byModel.get(model) ?? {};
    this.#byModel.set(model, sums);
    for (const name of COUNTS) {
      const count = counts[name];
      if (Number.isSafeInteger(count) && (count as number) >= 0) sums[name] = (sums[name] ?? 0) + (count as number);
    }
  }

  /** One entry per model; none when no model reported anything. */
  get entries(): UsageEntry[] {
    return [...this.#byModel].map(([model, counts]) => ({ ...(model !== '' && { model }), ...counts }));
  }
}

function modelOf(metadata: unknown): string {
  if (!isFields(metadata)) return '';
  const name = metadata.model_name ?? metadata.model;
  return typeof name === 'string' ? name : '';
}
