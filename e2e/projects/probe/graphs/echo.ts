import { AIMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

/** Answers each message with its own text. Exported as a builder: the host compiles it. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('echo', (state) => ({ messages: [new AIMessage(`echo: ${state.messages.at(-1)?.text ?? ''}`)] }))
  .addEdge(START, 'echo')
  .addEdge('echo', END);
