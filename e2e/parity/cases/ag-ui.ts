import { randomUUID } from 'node:crypto';
import { answerCase, shownElsewhere } from '../framework/index.ts';

const TEST = 'services/agent-api/test/ag-ui.test.ts';
const INPUT_TEST = 'services/agent-api/src/ag-ui/input/plan-run.test.ts';
const assistant = { assistant_id: 'echo' };

const newInput = () => ({
  threadId: randomUUID(),
  runId: randomUUID(),
  messages: [{ id: randomUUID(), role: 'user', content: 'hi' }],
});

const BEGUN = 'begins at once, streams what the graph says, and ends with state and messages';
const JOINED = 'is joined by its names, from any process, and every reader gets the same events';
const MESSAGES = 'a graph gets the messages that its thread has not, in its own form';
const OFFERED = 'tools and context are in the configuration, and in the state of graphs that have a place for them';
const ANSWERS = 'answers resume the run when they cover all that waits, in the new form and in the older one';

/** Fields that tests of agent-api show, by operation, test and promise. */
const FIELDS: [operation: string, test: string, promise: string, fields: string[]][] = [
  ['runAgUi', TEST, BEGUN, ['threadId', 'runId', 'parentRunId'].map((name) => `body.${name}`)],
  ['runAgUi', TEST, 'says that it was cancelled', ['body.protocolVersion']],
  ['runAgUi', TEST, JOINED, ['header.last-event-id']],
  [
    'runAgUi',
    INPUT_TEST,
    MESSAGES,
    [
      'body.messages',
      ...['id', 'role', 'content', 'name', 'error', 'toolCallId', 'toolCalls'].map((name) => `body.messages[].${name}`),
      ...['id', 'function', 'function.name', 'function.arguments'].map((name) => `body.messages[].toolCalls[].${name}`),
    ],
  ],
  [
    'runAgUi',
    INPUT_TEST,
    OFFERED,
    [
      ...['body.tools', 'body.tools[].name', 'body.tools[].description', 'body.tools[].parameters'],
      ...['body.context', 'body.context[].description', 'body.context[].value', 'body.forwardedProps'],
    ],
  ],
  [
    'runAgUi',
    INPUT_TEST,
    'a graph gets what the client changed in the state, and nothing that it does not take',
    ['body.state'],
  ],
  [
    'runAgUi',
    INPUT_TEST,
    ANSWERS,
    ['body.resume', ...['interruptId', 'status', 'payload'].map((name) => `body.resume[].${name}`)],
  ],
  ['joinAgUi', TEST, JOINED, ['query.threadId', 'query.runId', 'query.protocolVersion', 'header.last-event-id']],
  [
    'joinAgUi',
    TEST,
    'shows events of LangGraph to clients that ask for them, beside the others',
    ['query.emitRawEvents'],
  ],
];

export const cases = [
  ...FIELDS.flatMap(([operation, test, promise, fields]) =>
    fields.map((field) => shownElsewhere({ operation, field, promise, test })),
  ),
  answerCase('runAgUi', 200, 'the events of a run', async () => ({ params: assistant, body: newInput() })),
  shownElsewhere({ operation: 'runAgUi', status: 409, promise: 'of two answers at once counts one', test: TEST }),
  answerCase('joinAgUi', 200, 'the events of a run that was begun before', async ({ direct }) => {
    const { messages, ...names } = newInput();
    await direct.call('runAgUi', { params: assistant, body: { ...names, messages } });
    return { params: assistant, query: names };
  }),
  answerCase('joinAgUi', 422, 'the run has to be named', { params: assistant, query: { threadId: 't' } }),
];
