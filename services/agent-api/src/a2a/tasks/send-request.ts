import type { A2aMessage } from '@runyard/contracts';
import { type Fields, isFields } from '../../http/fields.ts';
import { invalidParams } from '../protocol/a2a-error.ts';
import { camelKeys, optionalBoolean, optionalInteger, optionalTexts } from '../protocol/read-fields.ts';
import { readMessage } from '../protocol/read-message.ts';

/** A message to an assistant with what the client wants of the answer. */
export interface SendRequest {
  message: A2aMessage;
  /** The answer to an interrupt that is no part of the message: `command` of other agent servers. */
  command: { resume: unknown } | undefined;
  /** Context of the run. */
  context: Fields | undefined;
  returnsImmediately: boolean;
  historyLength: number | undefined;
  acceptedOutputModes: string[] | undefined;
  pushConfig: Fields | undefined;
}

/** Reads the parameters of `SendMessage`, in camel or snake case. @throws A2aError */
export function readSendRequest(params: Fields): SendRequest {
  const sent = isFields(params.message) ? params.message : {};
  const configuration = isFields(params.configuration) ? camelKeys(params.configuration) : {};
  const context = params.context ?? sent.context ?? undefined;
  if (context !== undefined && !isFields(context)) throw invalidParams('context', 'must be an object');
  const pushConfig = configuration.taskPushNotificationConfig ?? undefined;
  if (pushConfig !== undefined && !isFields(pushConfig)) {
    throw invalidParams('configuration.taskPushNotificationConfig', 'must be an object');
  }
  return {
    message: readMessage(params.message),
    command: commandOf(params.command ?? sent.command ?? undefined),
    context,
    returnsImmediately: optionalBoolean(configuration, 'returnImmediately') ?? false,
    historyLength: optionalInteger(configuration, 'historyLength', { minimum: 0 }),
    acceptedOutputModes: optionalTexts(configuration, 'acceptedOutputModes', 'configuration'),
    pushConfig: pushConfig && camelKeys(pushConfig),
  };
}

function commandOf(value: unknown): { resume: unknown } | undefined {
  if (value === undefined) return undefined;
  if (!isFields(value) || !Object.hasOwn(value, 'resume')) {
    throw invalidParams('command', 'must be an object with `resume`, the answer to an interrupt');
  }
  return { resume: value.resume };
}
