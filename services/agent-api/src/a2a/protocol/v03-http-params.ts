import { type Fields, isFields } from '../../http/fields.ts';
import { camelKeys, optionalBoolean } from './read-fields.ts';
import { pushConfigOfV03 } from './v03-params.ts';

/** Brings bodies that 0.3 has over HTTP, the JSON of its protocol buffers, into the form of 1.0. */

export function sendParamsOfV03Http(body: Fields): Fields {
  const { message, configuration } = body;
  return {
    ...body,
    ...(isFields(message) && { message: messageOf(camelKeys(message)) }),
    ...(isFields(configuration) && { configuration: configurationOf(camelKeys(configuration)) }),
  };
}

/** Some clients send the configuration itself, and others the request around it. */
export function pushConfigOfV03Http(body: Fields): Fields {
  const { pushNotificationConfig } = isFields(body.config) ? camelKeys(body.config) : body;
  const config = pushConfigOfV03(pushNotificationConfig);
  return isFields(config) ? config : {};
}

/** A `blocking` that is false is not sent. @throws A2aError for one that is no boolean */
function configurationOf({ blocking, pushNotification: push, ...configuration }: Fields): Fields {
  return {
    ...configuration,
    returnImmediately: optionalBoolean({ blocking }, 'blocking') !== true,
    taskPushNotificationConfig: pushConfigOfV03(push),
  };
}

function messageOf({ content, ...message }: Fields): Fields {
  const parts = message.parts ?? content;
  return { ...message, parts: Array.isArray(parts) ? parts.map(partOf) : parts };
}

/** Parts of the JSON-RPC of 0.3, which have a `kind`, are read as they are. */
function partOf(value: unknown): unknown {
  if (!isFields(value) || value.kind !== undefined) return value;
  const { file, data, ...part } = value;
  return {
    ...part,
    ...(file !== undefined && { file: isFields(file) ? fileOf(camelKeys(file)) : file }),
    ...(data !== undefined && { data: isFields(data) && isFields(data.data) ? data.data : data }),
  };
}

function fileOf({ fileWithBytes, fileWithUri, ...file }: Fields): Fields {
  return {
    ...file,
    ...(fileWithBytes !== undefined && { bytes: fileWithBytes }),
    ...(fileWithUri !== undefined && { uri: fileWithUri }),
  };
}
