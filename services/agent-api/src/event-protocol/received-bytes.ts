import type { Duplex } from 'node:stream';
import { releaseBodyBytes, reserveBodyBytes } from '@runyard/service-kit';
import type { WebSocket } from 'ws';

/**
 * Counts what came over a websocket among the body bytes of the process: the commands that wait, and the beginning of a
 * message that is not whole yet, which the library holds.
 */
export class ReceivedBytes {
  /** Called when there is no room for what came. */
  onNoRoom: () => void = () => undefined;
  readonly #connection: Duplex;
  /** Bytes since the last whole message. */
  #unfinished = 0;
  #chunkBytes = 0;

  /** @param connection the connection of the websocket, which the process's `RequestAdmission` has admitted */
  constructor(connection: Duplex, socket: WebSocket) {
    this.#connection = connection;
    // A chunk is counted before the library emits the messages in it.
    connection.prependListener('data', (chunk: Buffer) => this.#add(chunk.length));
    const dropControlFrame = (data: Buffer) => {
      const bytes = frameBytes(data.length);
      this.#unfinished -= bytes;
      releaseBodyBytes(connection, bytes);
    };
    socket.on('ping', dropControlFrame).on('pong', dropControlFrame);
  }

  /** Takes a whole message. Returns a function to call when nothing holds it any more. */
  take(message: Buffer): () => void {
    const bytes = message.length;
    // The heads of a message's further frames are not known: at most the last chunk belongs to the next message.
    const rest = Math.min(this.#unfinished - frameBytes(bytes), this.#chunkBytes);
    releaseBodyBytes(this.#connection, this.#unfinished - bytes - rest);
    this.#unfinished = rest;
    return () => releaseBodyBytes(this.#connection, bytes);
  }

  #add(bytes: number): void {
    try {
      reserveBodyBytes(this.#connection, bytes);
      this.#unfinished += bytes;
      this.#chunkBytes = bytes;
    } catch {
      this.onNoRoom();
    }
  }
}

/** Returns the bytes of a frame of a client, which is masked. */
function frameBytes(payloadBytes: number): number {
  const lengthBytes = payloadBytes < 126 ? 0 : payloadBytes < 65_536 ? 2 : 8;
  return 6 + lengthBytes + payloadBytes;
}
