import type { WebSocket } from 'ws';

/** Bytes that wait for a client before whoever writes waits too. */
const HIGH_WATER_BYTES = 256 * 1024;
const HEARTBEAT_MS = 5_000;
/** Heartbeats without an answer after which a client that reads everything counts as gone. */
const MISSED_MAX = 6;
/** Milliseconds without a read after which a client is cut, as with streams. */
const STALLED_MS = 5 * 60_000;

/** Writes to a websocket at the pace of its client, and ends it when the client is gone. */
export class SocketWriter {
  readonly #socket: WebSocket;
  readonly #timer: NodeJS.Timeout;
  #missed = 0;
  #stalledMs = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('pong', () => {
      this.#missed = 0;
    });
    this.#timer = setInterval(() => this.#beat(), HEARTBEAT_MS);
    socket.once('close', () => clearInterval(this.#timer));
  }

  /** Resolves at once while the client keeps up, else when it has taken this, or is gone. */
  write(text: string): Promise<void> | undefined {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return undefined;
    if (socket.bufferedAmount <= HIGH_WATER_BYTES) {
      socket.send(text);
      return undefined;
    }
    return new Promise((resolve) => socket.send(text, () => resolve()));
  }

  #beat(): void {
    const socket = this.#socket;
    // A ping would come after everything that waits for the client.
    this.#stalledMs = socket.bufferedAmount > 0 ? this.#stalledMs + HEARTBEAT_MS : 0;
    if (this.#stalledMs >= STALLED_MS || this.#missed >= MISSED_MAX) {
      socket.terminate();
      return;
    }
    // The answer of a client that is not read at the moment would not be seen.
    if (this.#stalledMs > 0 || socket.isPaused) return;
    this.#missed += 1;
    socket.ping();
  }
}
