import type { A2aArtifact, A2aMessage, A2aPart, A2aPushConfig, A2aStreamEvent, A2aTask } from '@runyard/contracts';
import { endsStream, toV03PushConfig } from './v03-forms.ts';

/**
 * The forms that A2A 0.3 has over HTTP, made from those of 1.0: the JSON of its protocol buffers. Clients that parse
 * strictly refuse unknown fields, so nothing of the other forms is beside them.
 */
type Form = Record<string, unknown>;

export function toV03HttpTask({ id, contextId, status, artifacts, history }: A2aTask): Form {
  return {
    id,
    contextId,
    status: toStatus(status),
    ...(artifacts && { artifacts: artifacts.map(toArtifact) }),
    ...(history && { history: history.map(toV03HttpMessage) }),
  };
}

function toV03HttpMessage({ messageId, contextId, taskId, role, parts, metadata, extensions }: A2aMessage): Form {
  return {
    messageId,
    ...(contextId !== undefined && { contextId }),
    ...(taskId !== undefined && { taskId }),
    role,
    content: parts.map(toPart),
    ...(metadata && { metadata }),
    ...(extensions && { extensions }),
  };
}

export function toV03HttpEvent({ task, message, statusUpdate, artifactUpdate }: A2aStreamEvent): Form {
  if (task) return { task: toV03HttpTask(task) };
  if (message) return { message: toV03HttpMessage(message) };
  if (artifactUpdate) return { artifactUpdate: { ...artifactUpdate, artifact: toArtifact(artifactUpdate.artifact) } };
  const { taskId, contextId, status } = statusUpdate!;
  return { statusUpdate: { taskId, contextId, status: toStatus(status), ...(endsStream(status) && { final: true }) } };
}

export function toV03HttpPushConfig(config: A2aPushConfig): Form {
  const { pushNotificationConfig } = toV03PushConfig(config);
  return { name: `tasks/${config.taskId}/pushNotificationConfigs/${config.id}`, pushNotificationConfig };
}

function toStatus({ state, message, timestamp }: A2aTask['status']): Form {
  return {
    // The protocol buffers of 0.3 have this word with two l.
    state: state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state,
    ...(message && { message: toV03HttpMessage(message) }),
    timestamp,
  };
}

function toArtifact({ parts, ...artifact }: A2aArtifact): Form {
  return { ...artifact, parts: parts.map(toPart) };
}

/** Parts have neither names of files nor metadata in this form. */
function toPart({ text, raw, url, data, mediaType }: A2aPart): Form {
  if (text !== undefined) return { text };
  if (raw !== undefined || url !== undefined) {
    const content = raw !== undefined ? { fileWithBytes: raw } : { fileWithUri: url };
    return { file: { ...content, ...(mediaType !== undefined && { mimeType: mediaType }) } };
  }
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return { data: { data: isObject ? data : { value: data } } };
}
