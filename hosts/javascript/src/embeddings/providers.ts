/** Opens embeddings named `provider:model`: the LangChain class of the provider, from the project's own packages. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EmbeddingsSource, GraphLoadError } from '@runyard/host-protocol/graph-process';

interface Provider {
  package: string;
  /** Name of the class. */
  symbol: string;
  /** Returns constructor options for a model; default `{ model }`. */
  options?(model: string): Record<string, unknown>;
}

const PROVIDERS: Record<string, Provider> = {
  azure_openai: {
    package: '@langchain/openai',
    symbol: 'AzureOpenAIEmbeddings',
    options: (model) => ({ model, azureOpenAIApiEmbeddingsDeploymentName: model }),
  },
  bedrock: { package: '@langchain/aws', symbol: 'BedrockEmbeddings' },
  cohere: { package: '@langchain/cohere', symbol: 'CohereEmbeddings' },
  google_genai: { package: '@langchain/google-genai', symbol: 'GoogleGenerativeAIEmbeddings' },
  google_vertexai: { package: '@langchain/google-vertexai', symbol: 'VertexAIEmbeddings' },
  huggingface: { package: '@langchain/community/embeddings/hf', symbol: 'HuggingFaceInferenceEmbeddings' },
  mistralai: { package: '@langchain/mistralai', symbol: 'MistralAIEmbeddings' },
  ollama: { package: '@langchain/ollama', symbol: 'OllamaEmbeddings' },
  openai: { package: '@langchain/openai', symbol: 'OpenAIEmbeddings' },
};

type EmbeddingsClass = new (options: Record<string, unknown>) => unknown;

/** Opens the embeddings; their class reads API keys and addresses from the environment. @throws GraphLoadError */
export async function providerEmbeddings(source: EmbeddingsSource & { kind: 'provider' }): Promise<unknown> {
  const { provider, model, projectDir } = source;
  const known = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  if (!known) {
    const names = Object.keys(PROVIDERS).join(', ');
    throw new GraphLoadError(
      `store.index.embed names the provider "${provider}"; known are ${names}. Others can be given as "./file.ts:export".`,
    );
  }
  const Embeddings = await importClass(known, projectDir);
  try {
    return new Embeddings(known.options?.(model) ?? { model });
  } catch (cause) {
    throw new GraphLoadError(`${provider}:${model} cannot be used for embeddings: ${(cause as Error).message}`, {
      cause,
    });
  }
}

async function importClass({ package: name, symbol }: Provider, projectDir: string): Promise<EmbeddingsClass> {
  const from = join(projectDir, 'package.json');
  try {
    createRequire(from).resolve(name);
  } catch (cause) {
    const installed = name.split('/').slice(0, 2).join('/');
    throw new GraphLoadError(
      `${symbol} is in ${installed}, which is not installed. Add it to the project's dependencies and install them.`,
      { cause },
    );
  }
  const module = await import(import.meta.resolve(name, pathToFileURL(from).href));
  const Embeddings = module[symbol] ?? module.default?.[symbol];
  if (typeof Embeddings !== 'function') throw new GraphLoadError(`${name} exports no ${symbol}.`);
  return Embeddings;
}
