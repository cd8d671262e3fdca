import type { A2aMessage, A2aPart } from '@runyard/contracts';
import { type Fields, isFields } from '../../http/fields.ts';
import { A2aError } from '../protocol/a2a-error.ts';
import { contentOfParts } from './content-parts.ts';

/** The input of a graph that a message makes: data beside a message of text and files. */
export interface GraphInput {
  input: Fields;
  hasMessage: boolean;
}

/**
 * Returns the input of a new task: objects of data parts are merged, and the other parts are one message of the user,
 * with this id in the graph's state.
 *
 * @throws A2aError for data that are no object
 */
export function inputOf(message: A2aMessage, about: { id: string; taskId: string }): GraphInput {
  const data = message.parts.filter(({ data }) => data !== undefined);
  const input: Fields = {};
  for (const { data: value } of data) {
    if (!isFields(value)) throw new A2aError('CONTENT_TYPE_NOT_SUPPORTED', 'A data part must hold an object');
    Object.assign(input, value);
  }
  const said = message.parts.filter(({ data }) => data === undefined);
  if (said.length === 0) return { input, hasMessage: false };
  const known = Array.isArray(input.messages) ? input.messages : [];
  return { input: { ...input, messages: [...known, toStateMessage(message, said, about)] }, hasMessage: true };
}

/** Returns the answer to an interrupt: `resume` of a data part, or else the text, the files or the data themselves. */
export function answerOf({ parts }: A2aMessage): unknown {
  const data = parts.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const answer = data.find((value) => isFields(value) && Object.hasOwn(value, 'resume'));
  if (isFields(answer)) return answer.resume;
  const said = parts.filter((part) => part.data === undefined);
  if (said.length > 0) return contentOfParts(said);
  return data.length === 1 ? data[0] : Object.assign({}, ...data.filter(isFields));
}

/** Returns whether a message answers an interrupt although it names no task. */
export function isAnswer({ parts: [part, ...others] }: A2aMessage): boolean {
  return others.length === 0 && isFields(part?.data) && Object.hasOwn(part.data, 'resume');
}

function toStateMessage(message: A2aMessage, parts: A2aPart[], { id, taskId }: { id: string; taskId: string }): Fields {
  const { messageId, metadata, extensions } = message;
  return {
    type: 'human',
    id,
    content: contentOfParts(parts),
    additional_kwargs: {
      a2a: {
        task_id: taskId,
        task_start_id: taskId,
        message_id: messageId,
        ...(metadata && { metadata }),
        ...(extensions && { extensions }),
      },
    },
  };
}
