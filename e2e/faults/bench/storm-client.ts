import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Segment } from './event-follower.ts';
import type { Call } from './history.ts';

/** Requests that have to be sent evenly within a second. */
export interface Storm {
  calls?: { method: string; url: string; headers: Record<string, string>; body: unknown }[];
  streams?: { url: string; headers: Record<string, string>; lastEventId: string | undefined }[];
}

export interface StormAnswers {
  /** Seconds from the first request to the last. */
  sendingSeconds: number;
  /** Calls in the order of the requests. */
  calls: Call[];
  streams: (Pick<Segment, 'status' | 'end'> & { ids: (string | undefined)[] })[];
}

/**
 * Sends storms from a process of its own, so that the bench's other work neither slows them down nor makes them look
 * slow.
 */
export class StormClient {
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  static async start(): Promise<StormClient> {
    const child = fork(fileURLToPath(new URL('./storm-client-process.ts', import.meta.url)), {
      execArgv: ['--import', import.meta.resolve('tsx')],
    });
    await answerOf(child);
    return new StormClient(child);
  }

  /** Resolves when all is answered. */
  async send(storm: Storm): Promise<StormAnswers> {
    const answers = answerOf(this.#process);
    this.#process.send(storm);
    return (await answers) as StormAnswers;
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const onExit = (code: number | null) => ended.abort(new Error(`the client of the storm ended with code ${code}`));
  child.once('exit', onExit);
  try {
    const [answer] = await once(child, 'message', { signal: ended.signal });
    return answer;
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    child.off('exit', onExit);
  }
}
