/** Identifies a run for the paths under which it and the rest of its answer are served. */
export interface RunLocation {
  runId: string;
  threadId: string;
  isStateless: boolean;
}

export function runHeaders(location: RunLocation): Record<string, string> {
  return { 'content-location': runPath(location) };
}

export function streamHeaders(location: RunLocation): Record<string, string> {
  return {
    location: streamPath(location),
    'content-location': runPath(location),
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'content-type': 'text/event-stream; charset=utf-8',
  };
}

/** Locates a stateless run that is waited for on its thread, where it can be joined. */
export function waitHeaders(location: RunLocation): Record<string, string> {
  return {
    location: joinPath(location),
    'content-location': runPath({ ...location, isStateless: false }),
    'content-type': 'application/json',
  };
}

function streamPath(location: RunLocation): string {
  return `${runPath(location)}/stream`;
}

/** Returns the path on the thread, where the stream is found even after the run is deleted. */
export function streamContinuationPath(location: RunLocation): string {
  return streamPath({ ...location, isStateless: false });
}

export function joinPath(location: RunLocation): string {
  return `${runPath({ ...location, isStateless: false })}/join`;
}

function runPath({ runId, threadId, isStateless }: RunLocation): string {
  return isStateless ? `/runs/${runId}` : `/threads/${threadId}/runs/${runId}`;
}
