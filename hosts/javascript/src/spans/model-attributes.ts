/** Reads what a call of a model was and gave, from what LangChain reports, into attributes of the GenAI conventions. */
import type { RunSpan } from '@runyard/host-protocol/graph-process';
import type { ChatMessage } from './message-content.ts';

type Attributes = RunSpan['attributes'];
type Fields = Record<string, unknown>;

/** Providers by the names that LangChain has for them, where the conventions have another. */
const PROVIDERS: Record<string, string> = {
  amazon_bedrock: 'aws.bedrock',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
  google_genai: 'gcp.gemini',
  google_vertexai: 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  mistralai: 'mistral_ai',
  watsonx: 'ibm.watsonx.ai',
  xai: 'x_ai',
};

export interface ModelCall {
  operation: 'chat' | 'text_completion';
  /** Undefined when the model does not say. */
  model: string | undefined;
  attributes: Attributes;
}

export function readModelCall(
  operation: ModelCall['operation'],
  extraParams: Fields | undefined,
  metadata: Fields | undefined,
): ModelCall {
  const params = asFields(extraParams?.invocation_params);
  const model = firstText(params.model, params.model_name, params.modelName, metadata?.ls_model_name);
  const said = firstText(metadata?.ls_provider) ?? 'unknown';
  const provider = PROVIDERS[said] ?? said;
  const attributes = defined({
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider,
    // The name before 1.37, which some backends still read.
    'gen_ai.system': provider,
    'gen_ai.request.model': model,
    'gen_ai.request.max_tokens': firstNumber(params.max_tokens, params.max_completion_tokens, metadata?.ls_max_tokens),
    'gen_ai.request.temperature': firstNumber(params.temperature, metadata?.ls_temperature),
    'gen_ai.request.top_p': firstNumber(params.top_p),
  });
  return { operation, model, attributes };
}

/** One generation of a model's result. */
interface Generation {
  text?: string;
  message?: ChatMessage & { id?: string; usage_metadata?: Fields; response_metadata?: Fields };
  generationInfo?: Fields;
}

export interface ModelAnswer {
  attributes: Attributes;
  messages: ChatMessage[];
  finishReason: string | undefined;
}

/** Reads LangChain's `LLMResult`. */
export function readModelAnswer(output: unknown): ModelAnswer {
  const { generations = [], llmOutput } = (output ?? {}) as { generations?: Generation[][]; llmOutput?: Fields };
  const chosen = generations[0] ?? [];
  const { message, generationInfo } = chosen[0] ?? {};
  const response = asFields(message?.response_metadata);
  const info = asFields(generationInfo);
  const finishReason = firstText(response.finish_reason, response.stop_reason, info.finish_reason);
  return {
    attributes: defined({
      'gen_ai.response.id': firstText(response.id, message?.id),
      'gen_ai.response.model': firstText(response.model_name, response.model),
      ...(finishReason !== undefined && { 'gen_ai.response.finish_reasons': [finishReason] }),
      ...usageOf(asFields(message?.usage_metadata), asFields(asFields(llmOutput).tokenUsage)),
    }),
    messages: chosen.map((generation) => generation.message ?? { content: generation.text, role: 'assistant' }),
    finishReason,
  };
}

function usageOf(usage: Fields, older: Fields): Record<string, number | undefined> {
  const input = asFields(usage.input_token_details);
  const output = asFields(usage.output_token_details);
  return {
    'gen_ai.usage.input_tokens': firstNumber(usage.input_tokens, older.promptTokens),
    'gen_ai.usage.output_tokens': firstNumber(usage.output_tokens, older.completionTokens),
    'gen_ai.usage.reasoning.output_tokens': firstNumber(output.reasoning),
    'gen_ai.usage.cache_read.input_tokens': firstNumber(input.cache_read),
    'gen_ai.usage.cache_creation.input_tokens': firstNumber(input.cache_creation),
  };
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function firstText(...values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

function firstNumber(...values: unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === 'number' && Number.isFinite(value));
}

function defined(attributes: Record<string, Attributes[string] | undefined>): Attributes {
  const entries = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Attributes;
}
