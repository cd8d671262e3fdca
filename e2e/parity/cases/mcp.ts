import { answerCase, shownElsewhere } from '../framework/index.ts';

const TEST = 'services/agent-api/test/mcp.test.ts';
const META = 'io.modelcontextprotocol';
const VERSION = '2026-07-28';

const call = (method: string) => ({
  headers: { 'mcp-protocol-version': VERSION, 'mcp-method': method },
  body: {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { _meta: { [`${META}/protocolVersion`]: VERSION, [`${META}/clientCapabilities`]: {} } },
  },
});

const REFUSED = 'a request %s gets the error of the protocol';
const SERVED = 'are served side by side: discovered in the new one, and by a handshake in the others';

/** Fields that the tests of agent-api show. */
const FIELDS: [promise: string, fields: string[]][] = [
  [SERVED, ['body.jsonrpc', 'body.id', 'body.method', 'body.params', 'header.mcp-protocol-version']],
  [REFUSED, ['header.mcp-method', 'header.mcp-name']],
  ['of a client that takes no events is answered with JSON', ['header.accept']],
  ['is asked on the stream of an old client, whose answer may reach any process', ['header.mcp-session-id']],
];

export const cases = [
  ...FIELDS.flatMap(([promise, fields]) =>
    fields.map((field) => shownElsewhere({ operation: 'callMcp', field, promise, test: TEST })),
  ),
  answerCase('callMcp', 200, 'the tools', call('tools/list')),
  answerCase('callMcp', 202, 'nothing: a notification was taken', {
    body: { jsonrpc: '2.0', method: 'notifications/initialized' },
  }),
  answerCase('callMcp', 400, 'what is wrong with the message', { body: [] }),
  answerCase('callMcp', 403, 'pages of this origin may not call', {
    ...call('tools/list'),
    headers: { ...call('tools/list').headers, origin: 'https://evil.example.com' },
  }),
  answerCase('callMcp', 404, 'the new revision has no such method', call('ping')),
];
