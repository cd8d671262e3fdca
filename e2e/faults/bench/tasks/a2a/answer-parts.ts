import { hasEnded, NEEDS_INPUT, type TaskEvent, textOf } from './task-forms.ts';

/** All that one subscription to a task brought. */
export class AnswerParts {
  /** The answer, as its parts were put together; undefined before the first. */
  #text: string | undefined;
  /** The answer as it came whole at the end. */
  whole: string | undefined;
  /** The state in which the subscription left the task: it has ended, or needs input. */
  state: string | undefined;
  readonly faults: string[] = [];

  add({ task, statusUpdate, artifactUpdate }: TaskEvent): void {
    if (this.state !== undefined) this.faults.push('something came after the end');
    if (artifactUpdate) this.#addArtifact(artifactUpdate);
    const state = statusUpdate?.status.state ?? task?.status.state;
    // A task that waits may be answered already: what counts is how its run ends.
    if (hasEnded(state) || (statusUpdate && state === NEEDS_INPUT)) this.state = state;
  }

  /** Returns whether the parts were the answer: none missing, none repeated. Without parts it is not known. */
  get isTorn(): boolean {
    return this.#text !== undefined && this.whole !== undefined && this.#text !== this.whole;
  }

  get parts(): string | undefined {
    return this.#text;
  }

  #addArtifact({ artifact, append = false, lastChunk = false }: NonNullable<TaskEvent['artifactUpdate']>): void {
    const text = textOf(artifact);
    if (lastChunk) {
      if (this.whole !== undefined) this.faults.push('the answer came whole twice');
      this.whole = text;
    } else this.#text = append ? (this.#text ?? '') + text : text;
  }
}
