/** The chat model: the one that MODEL names, else rules that need no key. */
import type { BaseMessage } from '@langchain/core/messages';
import { FakeModel, lastQuestion, type Step, toolAnswers } from './fake-model.ts';

export const model = process.env.MODEL || new FakeModel(decide);

function decide(messages: BaseMessage[]): Step {
  const { search_documents: found } = toolAnswers(messages);
  if (found === undefined) return { tool: 'search_documents', args: { query: lastQuestion(messages) } };
  const [file, ...passage] = (found.split('\n\n')[0] as string).split(': ');
  return passage.length > 0 ? `${passage.join(': ')} (${file})` : found;
}
