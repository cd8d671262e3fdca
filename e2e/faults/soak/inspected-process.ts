import { readdir, readFile, readlink } from 'node:fs/promises';
import { waitFor } from '@runyard/test-kit';
import { WebSocket } from 'undici';

/**
 * A flag for Node processes that can be inspected: the debugger takes any free port when it is opened, instead of one
 * for all.
 */
export const INSPECTABLE = '--inspect-port=0';

const OPENS_WITHIN_MS = 30_000;
const ANSWERS_WITHIN_MS = 60_000;
/** The state of a listening socket in /proc/net/tcp. */
const LISTENING = '0A';

/** The resources of a process after garbage collection. */
export interface ProcessResources {
  /** Bytes of live objects and buffers. */
  liveBytes: number;
  /** The number of timers that are set. */
  timers: number;
}

interface Answer {
  id?: number;
  result?: unknown;
  error?: { message: string };
}

/** A running Node process, inspected through its debugger, without anything in its own code. */
export class InspectedProcess {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #asked = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer;
      if (answer.id === undefined) return;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  /**
   * Opens the debugger of a process that runs with `INSPECTABLE`. It stays open until it is closed: each opening costs
   * some memory.
   */
  static async attach(pid: number): Promise<InspectedProcess> {
    process.kill(pid, 'SIGUSR1');
    const url = await waitFor(() => debuggerOf(pid), { timeoutMs: OPENS_WITHIN_MS, what: `the debugger of ${pid}` });
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('error', () => reject(new Error(`the debugger of ${pid} takes no connection`)));
    });
    return new InspectedProcess(socket);
  }

  /** Collects garbage first. */
  async held(): Promise<ProcessResources> {
    const objectGroup = 'look';
    try {
      await this.ask('HeapProfiler.collectGarbage');
      // It is cleared, because it would count as one of the process's own until it fires.
      const timer =
        '(() => { const timer = setTimeout(() => {}, 0); clearTimeout(timer); return Object.getPrototypeOf(timer); })()';
      const { result } = await this.ask<{ result: { objectId: string } }>('Runtime.evaluate', {
        expression: timer,
        objectGroup,
      });
      const { objects } = await this.ask<{ objects: { objectId: string } }>('Runtime.queryObjects', {
        prototypeObjectId: result.objectId,
        objectGroup,
      });
      const timers = await this.ask<{ result: { value: number } }>('Runtime.callFunctionOn', {
        objectId: objects.objectId,
        functionDeclaration: 'function () { return this.filter((timer) => !timer._destroyed).length; }',
        returnByValue: true,
      });
      const { heapUsed, external } = await this.#memory();
      return { liveBytes: heapUsed + external, timers: timers.result.value };
    } finally {
      await this.ask('Runtime.releaseObjectGroup', { objectGroup });
    }
  }

  /** @throws Error when the process has ended or does not answer */
  async ask<T = unknown>(method: string, params: Record<string, unknown> = {}): Promise<T> {
    this.#asked += 1;
    const id = this.#asked;
    const answer = await new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} was not answered`)), ANSWERS_WITHIN_MS);
      this.#waiting.set(id, (each) => {
        clearTimeout(timer);
        resolve(each);
      });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result as T;
  }

  close(): void {
    this.#socket.close();
  }

  async #memory(): Promise<NodeJS.MemoryUsage> {
    const expression = 'process.memoryUsage()';
    const { result } = await this.ask<{ result: { value: NodeJS.MemoryUsage } }>('Runtime.evaluate', {
      expression,
      returnByValue: true,
    });
    return result.value;
  }
}

/** Returns the address of the debugger among all that the process listens on; undefined until there is one. */
async function debuggerOf(pid: number): Promise<string | undefined> {
  for (const port of await portsOf(pid)) {
    const targets = await fetch(`http://127.0.0.1:${port}/json/list`, { signal: AbortSignal.timeout(5_000) })
      .then((response) => response.json() as Promise<unknown>)
      .catch(() => undefined);
    if (Array.isArray(targets)) return (targets[0] as { webSocketDebuggerUrl?: string })?.webSocketDebuggerUrl;
  }
  return undefined;
}

async function portsOf(pid: number): Promise<number[]> {
  const names = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  const own = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]).filter((inode) => inode !== undefined));
  const table = await readFile(`/proc/${pid}/net/tcp`, 'utf8');
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === LISTENING && inode !== undefined && own.has(inode))
    .map(([, local]) => Number.parseInt(local?.split(':')[1] ?? '0', 16));
}
