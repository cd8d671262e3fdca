/**
 * A deep agent: it writes a plan, gives work to agents below it, and keeps what it writes in files of its state, which
 * each thread has for itself.
 */
import { createDeepAgent } from 'deepagents';
import { todoListMiddleware } from 'langchain';
import { directorModel, readerModel } from './model.ts';
import { lookUp } from './tools.ts';

export const agent = createDeepAgent({
  model: directorModel,
  systemPrompt: 'You write short reports. Plan first, have the reader look up the facts, then write /report.md.',
  middleware: [todoListMiddleware()],
  subagents: [
    {
      name: 'reader',
      description: 'Looks up the facts about a topic.',
      systemPrompt: 'Look the topic up, and say what you found.',
      tools: [lookUp],
      model: readerModel,
    },
  ],
});
