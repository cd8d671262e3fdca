import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An address whose requests wait until a test lets them go: a graph that asks it stands still meanwhile. */
export interface HeldRequests {
  url: string;
  /** Answers the requests that wait, and all that come later. */
  release(): void;
  close(): void;
}

export async function holdRequests(): Promise<HeldRequests> {
  const waiting: ServerResponse[] = [];
  let isReleased = false;
  const server = createServer((_request, response) => {
    if (isReleased) response.end();
    else waiting.push(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const release = () => {
    isReleased = true;
    for (const response of waiting.splice(0)) response.end();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    release,
    close() {
      release();
      server.close();
    },
  };
}
