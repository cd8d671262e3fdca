import Type, { type TSchema } from 'typebox';
import { IDEMPOTENCY_KEY_HEADER, IDEMPOTENCY_KEY_LENGTH_MAX } from '../../../idempotency.ts';
import { ServerSentEvent } from '../../common.ts';
import { A2aHttpError } from './bodies.ts';

/** Bytes of a message with its files. */
export const MESSAGE_BYTES_MAX = 33_554_432;

export const assistant_id = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'An assistant, or a graph for its default assistant.',
});
export const ASSISTANT = Type.Object({ assistant_id });
export const TASK = Type.Object({ assistant_id, task_id: Type.String() });
export const CONFIG = Type.Object({ assistant_id, task_id: Type.String(), config_id: Type.String() });

/** Examples of path parameters, and of a message. */
export const TASK_ID = '019aa3b0-6f0c-7e62-b8f5-4d9f4c0c7a11';
export const CONFIG_ID = '5f0c2a52-6d1e-4c57-9c55-0f5a3a3f9d51';
export const MESSAGE_ID = 'c0ffee00-0000-4000-8000-000000000001';
export const assistant = { assistant_id: 'agent' };
export const task = { ...assistant, task_id: TASK_ID };

export const tags = ['A2A'];
export const of = { tags, access: 'principal' } as const;
/** The operations that send messages share the names of their idempotency keys. */
export const MESSAGES = 'a2a messages';
export const messageKey = {
  [IDEMPOTENCY_KEY_HEADER]: `A name for a message, 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} printable ASCII characters. Sent again with the same key within a day, the message is answered by its task; another message with the key is refused as one with bad parameters.`,
};
export const answered = (description: string, schema: TSchema) => ({ 200: { description, schema } });
export const missing = {
  404: { description: 'There is no such task, or the caller may not see it.', schema: A2aHttpError },
};
export const events = {
  200: {
    description:
      'Server-sent events without names: each has one `A2aStreamEvent`. The first is the task; the last one says that it has ended, or needs input.',
    contentType: 'text/event-stream',
    schema: ServerSentEvent,
  },
};
