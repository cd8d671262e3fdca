import type { ParityCase } from '../framework/index.ts';
import { cases as a2a } from './a2a.ts';
import { cases as agUi } from './ag-ui.ts';
import { cases as assistants } from './assistants.ts';
import { CRON_CASES } from './crons/index.ts';
import { cases as eventProtocol } from './event-protocol.ts';
import { cases as idempotencyKeys } from './idempotency-keys.ts';
import { cases as mcp } from './mcp.ts';
import { RUN_CASES } from './runs/index.ts';
import { cases as store } from './store.ts';
import { cases as streams } from './streams.ts';
import { cases as system } from './system.ts';
import { cases as threadSearch } from './thread-search.ts';
import { cases as threadState } from './thread-state.ts';
import { cases as threads } from './threads.ts';
import { cases as ui } from './ui.ts';
import { cases as webhooks } from './webhooks.ts';

/** Every case, with the file that holds it. */
export const CASES: { file: string; cases: ParityCase[] }[] = [
  { file: 'a2a.ts', cases: a2a },
  { file: 'ag-ui.ts', cases: agUi },
  { file: 'assistants.ts', cases: assistants },
  ...CRON_CASES,
  { file: 'event-protocol.ts', cases: eventProtocol },
  { file: 'idempotency-keys.ts', cases: idempotencyKeys },
  { file: 'mcp.ts', cases: mcp },
  { file: 'store.ts', cases: store },
  ...RUN_CASES,
  { file: 'streams.ts', cases: streams },
  { file: 'system.ts', cases: system },
  { file: 'thread-search.ts', cases: threadSearch },
  { file: 'thread-state.ts', cases: threadState },
  { file: 'threads.ts', cases: threads },
  { file: 'ui.ts', cases: ui },
  { file: 'webhooks.ts', cases: webhooks },
];
