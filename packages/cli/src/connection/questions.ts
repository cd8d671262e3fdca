import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { CommandContext } from '../command-context.ts';

/** Asks the user. Questions go to the error stream, because the output stream is for the command's results. */
export class Questions {
  /** True when there is a terminal, and the user wants to be asked. */
  readonly isInteractive: boolean;
  readonly #context: CommandContext;

  /** @param wanted false with `--no-input` */
  constructor(context: CommandContext, wanted: boolean) {
    this.#context = context;
    this.isInteractive = wanted && context.stdin.isTTY === true;
  }

  /** Returns undefined when nobody can be asked. */
  async ask(question: string): Promise<string | undefined> {
    return this.isInteractive ? this.#read(`${question}: `, this.#context.stderr) : undefined;
  }

  /** Does not show what is typed. */
  async askSecret(question: string): Promise<string | undefined> {
    if (!this.isInteractive) return undefined;
    const { stderr } = this.#context;
    stderr.write(`${question}: `);
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const answer = await this.#read('', nowhere);
    stderr.write('\n');
    return answer;
  }

  async #read(prompt: string, output: NodeJS.WritableStream): Promise<string | undefined> {
    const { stdin, interrupted } = this.#context;
    const lines = createInterface({ input: stdin, output, terminal: true });
    try {
      const asked = new AbortController();
      // A terminal sends Ctrl-C as a key, not as a signal.
      lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      lines.once('close', () => asked.abort());
      const signal = AbortSignal.any([interrupted, asked.signal]);
      return (await lines.question(prompt, { signal })).trim() || undefined;
    } catch {
      interrupted.throwIfAborted();
      return undefined;
    } finally {
      lines.close();
    }
  }
}
