import { AIMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

/** Answers each message with its own text. It is exported as a builder, which the host compiles. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('echo', (state) => ({ messages: [new AIMessage(`echo: ${state.messages.at(-1)?.text ?? ''}`)] }))
  .addEdge(START, 'echo')
  .addEdge('echo', END);
