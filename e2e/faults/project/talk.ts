import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import {
  Annotation,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';

const State = Annotation.Root({ ...MessagesAnnotation.spec, approval: Annotation<string> });

/** Milliseconds between two characters of an answer. */
const CHARACTER_MS = 40;

const asked = ({ messages }: typeof State.State) =>
  String(messages.filter((each) => each.getType() === 'human').at(-1)?.content);

/** Answers character by character. A message that begins with `ask` is asked about before that. */
export const graph = new StateGraph(State)
  .addNode('ask', (state) => {
    const text = asked(state);
    return { approval: text.startsWith('ask') ? interrupt<string, string>(`May I answer ${text}?`) : 'unasked' };
  })
  .addNode('talk', async (state, config: LangGraphRunnableConfig) => {
    const responses = [`You said ${asked(state)}, ${state.approval}. The quick brown fox.`];
    const { id, content } = await new FakeListChatModel({ responses, sleep: CHARACTER_MS }).invoke(
      state.messages,
      config,
    );
    return { messages: [new AIMessage({ id, content })] };
  })
  .addEdge(START, 'ask')
  .addEdge('ask', 'talk')
  .compile();
