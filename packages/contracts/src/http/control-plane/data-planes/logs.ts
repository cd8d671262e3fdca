import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { Nullable, Uuid } from '../../common.ts';
import { ListenerParams, listenerErrorResponses } from '../listeners.ts';
import { LogLevel, LogType } from '../logs.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { DATA_PLANE_PERMISSION } from './permission.ts';

/** A UUID of version 7 in lower case. Its time is when the line was received, and ids increase within a file. */
export const LogEntryId = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
  maxLength: 36,
});
const Name = Type.String({ maxLength: 255 });

/** One line of a log. The sender masks the values of secrets. */
export const ReportedLogEntry = Type.Object(
  {
    id: LogEntryId,
    level: LogLevel,
    message: Type.String({ maxLength: 20_000 }),
    /** The process that printed it: `agent-api`, `run-worker-2`. */
    source: Name,
    run_id: Type.Optional(Name),
    thread_id: Type.Optional(Name),
    graph_id: Type.Optional(Name),
    fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { $id: 'ReportedLogEntry' },
);
export type ReportedLogEntry = Static<typeof ReportedLogEntry>;

/**
 * Lines of one file of a log that the data plane keeps. A report without lines asks for the last line that the platform
 * has.
 */
export const LogReport = Type.Object(
  {
    epoch: Epoch,
    revision_id: Uuid,
    type: LogType,
    /** Identifies the file by its first line. */
    first_id: LogEntryId,
    /** The line before these. Null: these are the first lines of the file. */
    after: Nullable(LogEntryId),
    entries: Type.Array(ReportedLogEntry, { maxItems: 5_000 }),
  },
  { $id: 'LogReport' },
);
export type LogReport = Static<typeof LogReport>;

export const LogReportAnswer = Type.Object(
  {
    /** The last line of the file that the platform has; null: none. The data plane sends everything after it next. */
    last_id: Nullable(LogEntryId),
  },
  { $id: 'LogReportAnswer' },
);
export type LogReportAnswer = Static<typeof LogReportAnswer>;

const exampleId = '0192f7a0-3c1e-7000-8000-000000000001';

export const reportRevisionLogs = defineOperation({
  operationId: 'reportRevisionLogs',
  method: 'post',
  path: '/v2/listeners/{listener_id}/logs',
  summary:
    'What a revision printed at the data plane. Lines are kept when they follow those that are known, and never twice.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: ListenerParams,
  body: LogReport,
  bodyLimitBytes: 1_048_576,
  responses: {
    200: { description: 'How far the file is known now.', schema: LogReportAnswer, example: { last_id: exampleId } },
    409: staleEpochResponse,
    ...listenerErrorResponses,
  },
  examples: {
    body: {
      epoch: 3,
      revision_id: '0192f7a0-0000-7000-8000-000000000002',
      type: 'deploy',
      first_id: exampleId,
      after: null,
      entries: [{ id: exampleId, level: 'INFO', message: 'looking up the weather', source: 'run-worker' }],
    },
  },
});
