import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';

const Part = z.object({ screws: z.number().describe('How many were turned.') });

const inner = new StateGraph(Part)
  .addNode('drill', ({ screws }) => ({ screws: screws + 1 }))
  .addNode('turn', ({ screws }) => ({ screws: screws + 1 }))
  .addEdge(START, 'drill')
  .addEdge('drill', 'turn')
  .addEdge('turn', END)
  .compile();

const outer = new StateGraph(Part)
  .addNode('inner', inner)
  .addNode('check', () => ({}))
  .addEdge(START, 'inner')
  .addEdge('inner', 'check')
  .addEdge('check', END)
  .compile();

/** Nests graphs that define their own input and output. */
export const graph = new StateGraph(Part, z.object({ pace: z.enum(['slow', 'fast']).optional() }))
  .addNode('outer', outer)
  .addEdge(START, 'outer')
  .addEdge('outer', END)
  .compile();
