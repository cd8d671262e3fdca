/** The chat models: the one that MODEL names for both agents, else rules that need no key. */
import type { BaseMessage } from '@langchain/core/messages';
import { FakeModel, lastQuestion, type Step, toolAnswers } from './fake-model.ts';

export const directorModel = process.env.MODEL || new FakeModel(direct);
export const readerModel = process.env.MODEL || new FakeModel(read);

/** Plans, has the reader look up what was asked for, writes the report, and ticks the plan off. */
function direct(messages: BaseMessage[]): Step {
  const topic = lastQuestion(messages);
  const { write_todos: planned, task: facts, write_file: written } = toolAnswers(messages);
  const plan = ['Look up the facts', 'Write the report'];
  if (planned === undefined) {
    return { tool: 'write_todos', args: { todos: plan.map((content) => ({ content, status: 'pending' })) } };
  }
  if (facts === undefined) return { tool: 'task', args: { description: topic, subagent_type: 'reader' } };
  if (written === undefined) {
    return { tool: 'write_file', args: { file_path: '/report.md', content: `# ${topic}\n\n${facts}\n` } };
  }
  return `The report is in /report.md. ${facts}`;
}

function read(messages: BaseMessage[]): Step {
  const { look_up: found } = toolAnswers(messages);
  return found ?? { tool: 'look_up', args: { topic: lastQuestion(messages) } };
}
