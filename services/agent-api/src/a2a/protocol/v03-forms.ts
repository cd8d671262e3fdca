import type { A2aArtifact, A2aMessage, A2aPart, A2aPushConfig, A2aStreamEvent, A2aTask } from '@runyard/contracts';

/** The forms of A2A 0.3, made from those of 1.0: each object has a `kind`, and states and roles are in lower case. */
type Form = Record<string, unknown>;

export function toV03Task({ id, contextId, status, artifacts, history }: A2aTask): Form {
  return {
    kind: 'task',
    id,
    contextId,
    status: toV03Status(status),
    ...(artifacts && { artifacts: artifacts.map(toV03Artifact) }),
    ...(history && { history: history.map(toV03Message) }),
  };
}

/** Returns whether a stream ends with the event of this status, which is `final` then. */
export function endsStream({ state }: A2aTask['status']): boolean {
  return state !== 'TASK_STATE_SUBMITTED' && state !== 'TASK_STATE_WORKING';
}

export function toV03Event(event: A2aStreamEvent): Form {
  if (event.task) return toV03Task(event.task);
  if (event.message) return toV03Message(event.message);
  if (event.artifactUpdate) {
    const { taskId, contextId, artifact, append = false, lastChunk = false } = event.artifactUpdate;
    return { kind: 'artifact-update', taskId, contextId, artifact: toV03Artifact(artifact), append, lastChunk };
  }
  const { taskId, contextId, status } = event.statusUpdate!;
  return { kind: 'status-update', taskId, contextId, status: toV03Status(status), final: endsStream(status) };
}

function toV03Message(message: A2aMessage): Form {
  const { role, parts, ...rest } = message;
  return { kind: 'message', ...rest, role: role === 'ROLE_USER' ? 'user' : 'agent', parts: parts.map(toV03Part) };
}

export function toV03PushConfig({ taskId, id, url, token, authentication }: A2aPushConfig): Form {
  return {
    taskId,
    pushNotificationConfig: {
      id,
      url,
      ...(token !== undefined && { token }),
      ...(authentication && {
        authentication: {
          schemes: [authentication.scheme],
          ...(authentication.credentials !== undefined && { credentials: authentication.credentials }),
        },
      }),
    },
  };
}

function toV03Status({ state, message, timestamp }: A2aTask['status']): Form {
  const word = state.slice('TASK_STATE_'.length).toLowerCase().replaceAll('_', '-');
  return { state: word, ...(message && { message: toV03Message(message) }), timestamp };
}

function toV03Artifact({ parts, ...artifact }: A2aArtifact): Form {
  return { ...artifact, parts: parts.map(toV03Part) };
}

function toV03Part({ text, raw, url, data, mediaType, filename, metadata }: A2aPart): Form {
  const about = metadata && { metadata };
  if (text !== undefined) return { kind: 'text', text, ...about };
  if (raw !== undefined || url !== undefined) {
    const file = {
      ...(raw !== undefined ? { bytes: raw } : { uri: url }),
      ...(mediaType !== undefined && { mimeType: mediaType }),
      ...(filename !== undefined && { name: filename }),
    };
    return { kind: 'file', file, ...about };
  }
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return { kind: 'data', data, ...about };
  // Data of 0.3 are objects: clients of both versions know this wrapper.
  return { kind: 'data', data: { value: data }, metadata: { ...metadata, data_part_compat: true } };
}
