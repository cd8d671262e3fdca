/**
 * The chat model, by the key in the environment. It is created at the first question and not when the file loads:
 * without a key the project still deploys, and a run reports what is missing.
 */
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';

type Model = ChatOpenAI | ChatAnthropic;

let model: Model | undefined;

export function chatModel(): Model {
  model ??= makeModel(process.env);
  return model;
}

function makeModel({ OPENAI_API_KEY, OPENAI_MODEL, ANTHROPIC_API_KEY, ANTHROPIC_MODEL }: NodeJS.ProcessEnv): Model {
  if (OPENAI_API_KEY) return new ChatOpenAI({ apiKey: OPENAI_API_KEY, model: OPENAI_MODEL || 'gpt-4.1-mini' });
  if (ANTHROPIC_API_KEY) {
    return new ChatAnthropic({ apiKey: ANTHROPIC_API_KEY, model: ANTHROPIC_MODEL || 'claude-haiku-4-5' });
  }
  throw new Error(
    'There is no key for a chat model: set OPENAI_API_KEY or ANTHROPIC_API_KEY in the .env file of this project and start it again.',
  );
}
