/** Graphs that ask the user, under the names that the public conformance suite of MCP calls. */
import { END, interrupt, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';

interface Question {
  /** Names the question among those of a result. */
  key: string;
  message: string;
  requestedSchema: object;
}

const Nothing = new StateSchema({});
const Answers = new StateSchema({ first: z.unknown(), second: z.unknown() });

/** Returns a question with a form of these fields, all of them required. */
function question(key: string, message: string, properties: Record<string, object>): Question {
  return { key, message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } };
}

const NAME = question('user_name', 'What is your name?', { name: { type: 'string' } });
const OK = question('confirm', 'Please confirm', { ok: { type: 'boolean' } });
const CONFIRM = { confirm: { type: 'boolean' } };

/** Makes a graph that asks one thing. */
const asking = (asked: Question) =>
  new StateGraph({ state: Answers, input: Nothing, output: Answers })
    .addNode('ask', () => ({ first: interrupt(asked) }))
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile();

export const name = asking(NAME);
export const ok = asking(OK);

const Message = new StateSchema({ message: z.string(), first: z.unknown() });

export const elicitation = new StateGraph({
  state: Message,
  input: new StateSchema({ message: z.string() }),
  output: Answers,
})
  .addNode('ask', ({ message }) => ({
    first: interrupt(question('user', message, { username: { type: 'string' }, email: { type: 'string' } })),
  }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();

export const defaults = asking(
  question('defaults', 'Is this right?', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }),
);

const OPTIONS = ['option1', 'option2', 'option3'];
const TITLED = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
];

export const enums = asking(
  question('enums', 'Which ones?', {
    untitledSingle: { type: 'string', enum: OPTIONS },
    titledSingle: { type: 'string', oneOf: TITLED },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
    titledMulti: { type: 'array', items: { anyOf: TITLED } },
  }),
);

/** Asks a second time when the first question was answered. */
export const multiRound = new StateGraph({ state: Answers, input: Nothing, output: Answers })
  .addNode('one', () => ({
    first: interrupt(question('step1', 'Step 1: What is your name?', { name: { type: 'string' } })),
  }))
  .addNode('two', () => ({
    second: interrupt(question('step2', 'Step 2: What is your favorite color?', { color: { type: 'string' } })),
  }))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', END)
  .compile();

const File = new StateSchema({ filename: z.string(), first: z.unknown() });

export const confirmDelete = new StateGraph({
  state: File,
  input: new StateSchema({ filename: z.string() }),
  output: Answers,
})
  .addNode('ask', ({ filename }) => ({ first: interrupt(question('sure', `Delete ${filename}?`, CONFIRM)) }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();

/** Asks two questions at once. */
export const multiInput = new StateGraph({ state: Answers, input: Nothing, output: Answers })
  .addNode('name', () => ({ first: interrupt(NAME) }))
  .addNode('confirm', () => ({ second: interrupt(question('sure', 'Are you sure?', CONFIRM)) }))
  .addEdge(START, 'name')
  .addEdge(START, 'confirm')
  .addEdge('name', END)
  .addEdge('confirm', END)
  .compile();
