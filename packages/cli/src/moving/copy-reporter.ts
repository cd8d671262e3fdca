import type { CommandContext, OutputStream } from '../command-context.ts';
import { createPainter } from '../output/colours.ts';
import { formatTable } from '../output/table.ts';
import { type Kind, OUTCOMES, type Tally } from './tally.ts';

const CLEAR_LINE = '\r\u001b[2K';
const INTERVAL_MS = 1_000;
/** Milliseconds between lines where the last one cannot be written over. */
const SLOW_INTERVAL_MS = 10_000;

/** Shows how a copy goes on, and what became of everything: lines for people, or an event a line. */
export class CopyReporter {
  readonly #out: OutputStream;
  readonly #isJson: boolean;
  readonly #paint: ReturnType<typeof createPainter>;
  #shownAt = 0;

  constructor({ stdout }: Pick<CommandContext, 'stdout'>, { json }: { json: boolean }) {
    this.#out = stdout;
    this.#isJson = json;
    this.#paint = createPainter(stdout);
  }

  progress(kind: Kind, tally: Tally): void {
    const isRewritten = this.#out.isTTY === true && !this.#isJson;
    const now = Date.now();
    if (now - this.#shownAt < (isRewritten ? INTERVAL_MS : SLOW_INTERVAL_MS)) return;
    this.#shownAt = now;
    if (this.#isJson) this.#event('progress', { kind, ...countsOf(tally) });
    else this.#out.write(isRewritten ? `${CLEAR_LINE}${kind}: ${tally.found}` : `${kind}: ${tally.found}\n`);
  }

  done(kind: Kind, tally: Tally): void {
    if (this.#isJson) this.#event('kind', { kind, ...countsOf(tally), notes: tally.notes });
    else if (this.#out.isTTY) this.#out.write(CLEAR_LINE);
  }

  warn(message: string): void {
    if (this.#isJson) this.#event('warn', { message });
    else this.#out.write(`${this.#out.isTTY ? CLEAR_LINE : ''}${this.#paint('yellow', message)}\n`);
  }

  end(tallies: Map<Kind, Tally>, { isDryRun, isComplete }: { isDryRun: boolean; isComplete: boolean }): void {
    if (this.#isJson) {
      const kinds = Object.fromEntries([...tallies].map(([kind, tally]) => [kind, countsOf(tally)]));
      this.#event('result', { status: isComplete ? 'succeeded' : 'failed', dry_run: isDryRun, kinds });
      return;
    }
    const headings = ['', 'FOUND', isDryRun ? 'TO COPY' : 'COPIED', 'ALREADY THERE', 'SKIPPED', 'DIFFERENT', 'FAILED'];
    const rows = [...tallies].map(([kind, { found, counts }]) => [
      kind,
      ...[found, ...OUTCOMES.map((outcome) => counts[outcome])].map(String),
    ]);
    const notes = [...tallies].flatMap(([kind, tally]) =>
      tally.notes.map(
        ({ outcome, reason, count, examples }) =>
          `${kind} ${outcome}: ${count}, ${reason} (${examples.join(', ')}${count > examples.length ? ', …' : ''})`,
      ),
    );
    this.#out.write(`${[formatTable(headings, rows), ...notes].join('\n')}\n`);
  }

  #event(event: string, body: object): void {
    this.#out.write(`${JSON.stringify({ event, ...body })}\n`);
  }
}

function countsOf({ found, counts }: Tally): Record<string, number> {
  return { found, ...counts };
}
