import type { HostConnection, Incoming, ToParent } from '@runyard/host-protocol';
import { answerBackendRequest, type BackendUse } from './backend-requests.ts';

/** The open uses of graphs. Each operation of the child on checkpoints and store names the use it belongs to. */
export class BackendUses {
  readonly #connection: HostConnection;
  readonly #open = new Map<number, BackendUse>();
  #next = 1;

  constructor(connection: HostConnection) {
    this.#connection = connection;
  }

  /** Returns a number that no other use has or had. */
  newNumber(): number {
    return this.#next++;
  }

  open(use: BackendUse): void {
    this.#open.set(use.use, use);
  }

  /** Ends the use. Later requests of the child for it are refused. */
  close(use: number): void {
    this.#open.delete(use);
  }

  answer(message: Incoming): void {
    const { id, use } = message.header as unknown as ToParent['store.batch'];
    const open = this.#open.get(use);
    if (open) answerBackendRequest(this.#connection, open, message);
    else this.#connection.answerError(use, id, { kind: 'fenced', error: 'FencedError', message: 'this use has ended' });
  }
}
