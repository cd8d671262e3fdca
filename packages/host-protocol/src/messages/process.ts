/** Notices of a host about itself. */
import Type, { type Static } from 'typebox';
import { form, notice } from './message.ts';
import { ProjectFields } from './values.ts';

const HostLog = {
  level: Type.Union([Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')]),
  message: Type.String(),
  runId: Type.Optional(Type.String()),
  threadId: Type.Optional(Type.String()),
  graphId: Type.Optional(Type.String()),
  data: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      ...ProjectFields,
      description: 'Fields that the code logged with the message, through the logger of the SDK.',
    }),
  ),
};
const HostLogForm = form('HostLog', Type.Object(HostLog));
export type HostLog = Static<typeof HostLogForm>;

export const processToParent = {
  hello: notice(
    'hello',
    {
      protocol: Type.Integer({ description: 'The oldest version of this protocol that the host speaks.' }),
      protocols: Type.Optional(
        Type.Array(Type.Integer(), { description: 'All versions that it speaks; default: `protocol` alone.' }),
      ),
      language: Type.String({ description: '`javascript`, `python`' }),
      runtime: Type.String({ description: 'for logs: `node v24.1.0`' }),
      libraries: Type.Optional(
        Type.Record(Type.String(), Type.String(), {
          description: 'The releases of the libraries of the project that execute its graphs, by their names.',
        }),
      ),
    },
    { means: 'first message' },
  ),
  log: notice('log', HostLog, {
    means: "a line that user code printed, or logged through the SDK's logger with data beside it",
    mayBeDropped: true,
  }),
} as const;
