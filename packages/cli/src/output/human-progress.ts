import type { OutputStream } from '../command-context.ts';
import { createPainter } from './colours.ts';
import { toPlainText } from './plain-text.ts';
import { formatElapsed, type Progress, type ProgressEvent, type ResultEvent } from './progress-event.ts';

const CLEAR_LINE = '\r\u001b[2K';

/**
 * Prints lines for the user. On a terminal the last line is redrawn: the status with its time, the upload with its
 * percentage. Elsewhere only changes are written.
 */
export class HumanProgress implements Progress {
  readonly #out: OutputStream;
  readonly #paint: ReturnType<typeof createPainter>;
  /** Returns the temporary last line. */
  #moment: (() => string) | null = null;
  readonly #ticking: NodeJS.Timeout | undefined;

  constructor(out: OutputStream) {
    this.#out = out;
    this.#paint = createPainter(out);
    if (out.isTTY) this.#ticking = setInterval(() => this.#draw(), 1_000).unref();
  }

  report(event: ProgressEvent): void {
    switch (event.event) {
      case 'step':
        this.#write(this.#paint('cyan', `${event.step}. ${event.message}`), null);
        break;
      case 'note':
        this.#write(this.#paint('yellow', event.message));
        break;
      case 'info':
        this.#write(this.#paint('green', `   ${event.message}`));
        break;
      case 'warn':
        this.#write(this.#paint('yellow', `   ${event.message}`));
        break;
      case 'error':
        this.#write(this.#paint('red', event.message), null);
        break;
      case 'log':
        this.#write(`   ${this.#paint('dim', '|')} ${toPlainText(event.message)}`);
        break;
      case 'status_change':
        this.#write(`   ${event.message}`, this.#waitingFor(event.status));
        break;
      case 'upload_progress':
        this.#upload(event.size_mb, event.pct);
        break;
      case 'result':
        this.#write(this.#result(event), null);
        break;
      case 'heartbeat':
      case 'status_url':
        break;
    }
  }

  close(): void {
    clearInterval(this.#ticking);
    this.#write(null, null);
  }

  #waitingFor(status: string): () => string {
    const since = Date.now();
    return () => this.#paint('dim', `   ${status}, for ${formatElapsed((Date.now() - since) / 1_000)}`);
  }

  #upload(sizeMb: number, percent: number): void {
    const line = `   ${sizeMb.toFixed(1)} MB, ${percent}%`;
    if (percent === 100) this.#write(line, null);
    else if (this.#out.isTTY) this.#write(null, () => line);
  }

  #result(event: ResultEvent): string {
    const colour = event.status === 'failed' ? 'red' : event.status === 'succeeded' ? 'green' : 'yellow';
    const lines = [this.#paint(colour, event.message)];
    if (event.url) lines.push(`   URL         ${event.url}`);
    if (event.deployment_id) lines.push(`   deployment  ${event.deployment_id}`);
    if (event.revision_id) lines.push(`   revision    ${event.revision_id}`);
    return lines.join('\n');
  }

  /** Writes a line, and sets the temporary line below it; undefined keeps that. */
  #write(line: string | null, moment?: (() => string) | null): void {
    if (this.#moment && this.#out.isTTY) this.#out.write(CLEAR_LINE);
    if (line !== null) this.#out.write(`${line}\n`);
    if (moment !== undefined) this.#moment = moment;
    this.#draw();
  }

  #draw(): void {
    if (this.#moment && this.#out.isTTY) this.#out.write(CLEAR_LINE + this.#moment());
  }
}
