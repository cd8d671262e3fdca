/**
 * Asks a process of a deployment for one of its keyless pages. The connection is not kept: a server that stops waits
 * some seconds for those that are connected to it, who may not know that yet.
 */
export function probeReplica(url: string, signal: AbortSignal): Promise<Response> {
  // An image answers what it likes, and leads nowhere else.
  return fetch(url, { signal, redirect: 'manual', headers: { connection: 'close' } });
}
