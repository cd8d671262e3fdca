import { conforms } from '@runyard/contracts';
import { type Continuation, type HandlerRequest, NotFoundError } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import { isContinuing } from '../../streams/continuation.ts';
import type { Remainder } from '../methods/outcome.ts';
import type { FormName } from './wire-form.ts';

/** A longer one does not fit into the trailers of an answer. */
const LENGTH_MAX = 4_096;
const PARAMETER = 'remainder';

const Written = Type.Object({
  name: Type.Object({
    form: Type.Union([Type.Literal('1.0'), Type.Literal('0.3'), Type.Literal('0.3 HTTP')]),
    id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    contentType: Type.Optional(Type.Union([Type.Literal('application/json'), Type.Literal('application/a2a+json')])),
  }),
  view: Type.Optional(
    Type.Object({
      historyLength: Type.Integer({ minimum: 0 }),
      historyScope: Type.Union([Type.Literal('task'), Type.Literal('context')]),
      withArtifacts: Type.Boolean(),
    }),
  ),
  position: Type.Optional(
    Type.Object({
      runId: Type.Optional(Type.String()),
      afterId: Type.Optional(Type.String({ pattern: '^\\d+-\\d+$' })),
      messageId: Type.Optional(Type.String()),
      askedRunId: Type.Optional(Type.String()),
    }),
  ),
});
export type WrittenRemainder = Static<typeof Written>;

/** Returns where another process gives the remainder of an answer, in its form; undefined when nobody can say it. */
export function remainderAt({ assistantId, taskId, ...left }: Remainder, name: FormName): Continuation | undefined {
  const text = Buffer.from(JSON.stringify({ name, ...left })).toString('base64url');
  if (text.length > LENGTH_MAX) return undefined;
  return { path: `/a2a/${assistantId}/tasks/${taskId}:subscribe?${PARAMETER}=${text}` };
}

/**
 * Returns the remainder that a request is about; undefined for a request of a client. @throws NotFoundError for one
 * that no process has written
 */
export function readRemainder({ headers, raw }: Pick<HandlerRequest, 'headers' | 'raw'>): WrittenRemainder | undefined {
  if (!isContinuing(headers)) return undefined;
  const text = new URLSearchParams(raw.url.slice(raw.url.indexOf('?') + 1)).get(PARAMETER) ?? '';
  const written = parsed(Buffer.from(text, 'base64url').toString());
  if (conforms(Written, written)) return written;
  throw new NotFoundError('There is no such answer to go on with');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
