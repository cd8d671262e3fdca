import { setTimeout as pause } from 'node:timers/promises';
import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, Command, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

/** Takes `steps` steps, one each `stepMs` milliseconds. Each has some four events. */
export const stepper = new StateGraph(Annotation.Root({ steps: Annotation<number>, stepMs: Annotation<number> }))
  .addNode(
    'step',
    async ({ steps, stepMs }) => {
      await pause(stepMs);
      return new Command({ update: { steps: steps - 1 }, goto: steps > 1 ? 'step' : END });
    },
    { ends: ['step', END] },
  )
  .addEdge(START, 'step')
  .compile();

/** Prints `lines` lines, a hundred at a time: no host prints faster than its log takes. */
export const printer = new StateGraph(Annotation.Root({ lines: Annotation<number>, name: Annotation<string> }))
  .addNode('print', async ({ lines, name }) => {
    for (let line = 1; line <= lines; line++) {
      console.log(`${name} ${line}`);
      if (line % 100 === 0) await pause(20);
    }
    return {};
  })
  .addEdge(START, 'print')
  .addEdge('print', END)
  .compile();

/** Has a state of a megabyte, of which its second node changes a part. */
export const large = new StateGraph(
  Annotation.Root({ customers: Annotation<{ id: number; name: string; note: string }[]> }),
)
  .addNode('fill', () => ({
    customers: Array.from({ length: 10_000 }, (_, id) => ({ id, name: `Customer ${id}`, note: 'x'.repeat(60) })),
  }))
  .addNode('change', ({ customers }) => ({
    customers: customers.map((customer) => (customer.id % 100 === 0 ? { ...customer, note: 'called' } : customer)),
  }))
  .addEdge(START, 'fill')
  .addEdge('fill', 'change')
  .addEdge('change', END)
  .compile();

const model = new FakeListChatModel({ responses: ['The quick brown fox jumps over the lazy dog.'] });

/** Streams a sentence, word by word. */
export const chat = new StateGraph(MessagesAnnotation)
  .addNode('talk', async ({ messages }, config) => {
    const { content, id } = await model.invoke(messages, config);
    return { messages: [new AIMessage({ content, id })] };
  })
  .addEdge(START, 'talk')
  .addEdge('talk', END)
  .compile();
