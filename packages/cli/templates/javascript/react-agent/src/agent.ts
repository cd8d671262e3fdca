/**
 * An agent with tools: the model decides, a tool acts, until there is an answer. Before it sends an email the run stops,
 * for minutes or for weeks, until a person has decided.
 */
import { createAgent, humanInTheLoopMiddleware } from 'langchain';
import { model } from './model.ts';
import { tools } from './tools.ts';

export const agent = createAgent({
  model,
  tools,
  systemPrompt: 'You are a helpful agent. Use the calculator for every sum, and be brief.',
  middleware: [humanInTheLoopMiddleware({ interruptOn: { send_email: true } })],
});
