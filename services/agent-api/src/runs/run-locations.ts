/** Where a run and the rest of its answer are found; every one of these paths is served. */
export interface RunPlace {
  runId: string;
  threadId: string;
  isStateless: boolean;
}

export function runHeaders(place: RunPlace): Record<string, string> {
  return { 'content-location': runPath(place) };
}

export function streamHeaders(place: RunPlace): Record<string, string> {
  return {
    location: streamPath(place),
    'content-location': runPath(place),
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'content-type': 'text/event-stream; charset=utf-8',
  };
}

/** A stateless run that is waited for is located on its thread, where it can be joined. */
export function waitHeaders(place: RunPlace): Record<string, string> {
  return {
    location: joinPath(place),
    'content-location': runPath({ ...place, isStateless: false }),
    'content-type': 'application/json',
  };
}

export function streamPath(place: RunPlace): string {
  return `${runPath(place)}/stream`;
}

/** On its thread, where it is found also when the run itself is gone. */
export function restOfStreamPath(place: RunPlace): string {
  return streamPath({ ...place, isStateless: false });
}

export function joinPath(place: RunPlace): string {
  return `${runPath({ ...place, isStateless: false })}/join`;
}

function runPath({ runId, threadId, isStateless }: RunPlace): string {
  return isStateless ? `/runs/${runId}` : `/threads/${threadId}/runs/${runId}`;
}
