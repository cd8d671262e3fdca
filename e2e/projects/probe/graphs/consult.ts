import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';

const State = Annotation.Root({ topic: Annotation<string>, advice: Annotation<string> });

const inner = new StateGraph(State)
  .addNode('draft', ({ topic }) => ({ advice: `a draft on ${topic}` }))
  .addNode('expert', ({ topic }) => {
    const responseSchema = z.object({ advice: z.string() });
    return interrupt<{ question: string }, { advice: string }>({ question: `What of ${topic}?` }, { responseSchema });
  })
  .addEdge(START, 'draft')
  .addEdge('draft', 'expert')
  .addEdge('expert', END)
  .compile();

/** Asks from inside an inner graph, and declares the schema of the answers that it takes. */
export const graph = new StateGraph(State).addNode('desk', inner).addEdge(START, 'desk').addEdge('desk', END).compile();
