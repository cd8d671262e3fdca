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
    location: `${runPath(place)}/stream`,
    'content-location': runPath(place),
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'content-type': 'text/event-stream; charset=utf-8',
  };
}

/** A stateless run that is waited for is located on its thread, where it can be joined. */
export function waitHeaders({ threadId, runId }: RunPlace): Record<string, string> {
  const path = `/threads/${threadId}/runs/${runId}`;
  return { location: `${path}/join`, 'content-location': path, 'content-type': 'application/json' };
}

function runPath({ runId, threadId, isStateless }: RunPlace): string {
  return isStateless ? `/runs/${runId}` : `/threads/${threadId}/runs/${runId}`;
}
