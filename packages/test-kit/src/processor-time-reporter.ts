import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/** Prints which test files took the most processor time, as `processor-time.ts` measured it, and all of them together. */
export default class ProcessorTimeReporter implements Reporter {
  readonly #files: { seconds: number; name: string }[] = [];

  onTestModuleEnd(module: TestModule): void {
    this.#files.push({ seconds: module.meta().processorSeconds ?? 0, name: module.relativeModuleId });
  }

  onTestRunEnd(): void {
    const total = this.#files.reduce((sum, { seconds }) => sum + seconds, 0);
    console.log(`Processor time of ${this.#files.length} test files: ${total.toFixed(0)} s. The dearest:`);
    for (const { seconds, name } of this.#files.sort((a, b) => b.seconds - a.seconds).slice(0, SHOWN))
      console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`);
  }
}
