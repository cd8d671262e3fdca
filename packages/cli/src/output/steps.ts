import type { Progress } from './progress-event.ts';

/** Numbers the steps of a deployment as they begin. */
export class Steps {
  readonly progress: Progress;
  #count = 0;

  constructor(progress: Progress) {
    this.progress = progress;
  }

  begin(message: string): void {
    this.#count += 1;
    this.progress.report({ event: 'step', step: this.#count, message });
  }

  info(message: string, details: Record<string, unknown> = {}): void {
    this.progress.report({ event: 'info', message, ...details });
  }

  warn(message: string): void {
    this.progress.report({ event: 'warn', message });
  }

  note(message: string): void {
    this.progress.report({ event: 'note', message });
  }
}
