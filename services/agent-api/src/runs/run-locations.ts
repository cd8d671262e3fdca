/** Identifies a run for the paths under which it and the rest of its answer are served. */
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

/** Locates a stateless run that is waited for on its thread, where it can be joined. */
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

/** Returns the path on the thread, where the stream is found even after the run is deleted. */
export function restOfStreamPath(place: RunPlace): string {
  return streamPath({ ...place, isStateless: false });
}

export function joinPath(place: RunPlace): string {
  return `${runPath({ ...place, isStateless: false })}/join`;
}

function runPath({ runId, threadId, isStateless }: RunPlace): string {
  return isStateless ? `/runs/${runId}` : `/threads/${threadId}/runs/${runId}`;
}
