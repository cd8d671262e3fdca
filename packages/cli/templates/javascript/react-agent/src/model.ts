/** The chat model: the one that MODEL names, else rules that need no key. */
import type { BaseMessage } from '@langchain/core/messages';
import { FakeModel, lastQuestion, type Step, toolAnswers } from './fake-model.ts';

export const model = process.env.MODEL || new FakeModel(decide);

function decide(messages: BaseMessage[]): Step {
  const question = lastQuestion(messages).replace(/[.!?]$/, '');
  const { calculator, send_email: email } = toolAnswers(messages);
  if (calculator !== undefined) return `That makes ${calculator}.`;
  if (email !== undefined) return email;
  const [, left, operator, right] = /(?<![\d.])(-?[\d.]+) ?([-+*/]) ?(-?[\d.]+)/.exec(question) ?? [];
  if (operator) return { tool: 'calculator', args: { left: Number(left), operator, right: Number(right) } };
  const [, to, subject = 'Hello'] = /^email (\S+)(?: about (.+))?$/i.exec(question) ?? [];
  if (to?.includes('@')) return { tool: 'send_email', args: { to, subject } };
  return 'I am an agent without a real model. Ask me what 6 * 7 is, or to email ada@example.com about lunch.';
}
