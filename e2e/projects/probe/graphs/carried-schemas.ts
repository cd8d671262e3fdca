/** Graphs that carry the schemas of their input and output. */
import { END, MessagesValue, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';

export const echo = new StateGraph(new StateSchema({ messages: MessagesValue }))
  .addNode('echo', () => ({}))
  .addEdge(START, 'echo')
  .addEdge('echo', END)
  .compile();

export const assembly = new StateGraph(new StateSchema({ screws: z.number().describe('How many were turned.') }))
  .addNode('turn', ({ screws }) => ({ screws: screws + 1 }))
  .addEdge(START, 'turn')
  .addEdge('turn', END)
  .compile();

/** A graph whose `messages` are one text, which clients of MCP repeat in a header. */
export const letter = new StateGraph(new StateSchema({ messages: z.string().meta({ 'x-mcp-header': 'Text' }) }))
  .addNode('send', () => ({}))
  .addEdge(START, 'send')
  .addEdge('send', END)
  .compile();
