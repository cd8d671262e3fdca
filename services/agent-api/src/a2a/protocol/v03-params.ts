import { type Fields, isFields } from '../../http/fields.ts';
import { camelKeys, optionalBoolean } from './read-fields.ts';

/**
 * Brings the parameters of methods of 0.3 into the form of 1.0. Names are in camel case. Values of a wrong form stay as
 * they are, for the reader of 1.0 to refuse.
 */

/** @throws A2aError for a `blocking` that is no boolean, for which 1.0 has another name */
export function sendParamsOfV03(params: Fields): Fields {
  if (!isFields(params.configuration)) return params;
  const { blocking, pushNotificationConfig, ...configuration } = camelKeys(params.configuration);
  return {
    ...params,
    configuration: {
      ...configuration,
      ...(optionalBoolean({ blocking }, 'blocking') === false && { returnImmediately: true }),
      taskPushNotificationConfig: pushConfigOfV03(pushNotificationConfig),
    },
  };
}

export function createPushParamsOfV03(params: Fields): Fields {
  const { pushNotificationConfig: config } = params;
  return { taskId: params.taskId ?? params.id, ...(isFields(config) && configOfV03(config)) };
}

/** `id` is that of the task. */
export function pushParamsOfV03({ id, pushNotificationConfigId }: Fields): Fields {
  return { taskId: id, id: pushNotificationConfigId };
}

/** Brings a configuration of 0.3 into the form of 1.0. */
export function pushConfigOfV03(config: unknown): unknown {
  return isFields(config) ? configOfV03(config) : config;
}

function configOfV03(config: Fields): Fields {
  const { id, url, token, authentication } = camelKeys(config);
  if (!isFields(authentication)) return { id, url, token, authentication };
  const { schemes, credentials } = authentication;
  return { id, url, token, authentication: { scheme: Array.isArray(schemes) ? schemes[0] : undefined, credentials } };
}
