/** The chat model: the one that MODEL names, else rules that need no key. */
import type { BaseMessage } from '@langchain/core/messages';
import { FakeModel, lastQuestion, type Step, toolAnswers } from './fake-model.ts';

export const model = process.env.MODEL || new FakeModel(decide);

function decide(messages: BaseMessage[]): Step {
  const { save_note: saved, list_notes: listed } = toolAnswers(messages);
  const answer = saved ?? listed;
  if (answer !== undefined) return answer;
  const question = lastQuestion(messages).replace(/[.!]$/, '');
  const [, note] = /^note (?:that )?(\S.*)$/i.exec(question) ?? [];
  if (note) return { tool: 'save_note', args: { text: note } };
  if (/\bnotes\b/i.test(question)) return { tool: 'list_notes', args: {} };
  return 'I am an agent without a real model. Say "note that the milk is out", or "show my notes".';
}
