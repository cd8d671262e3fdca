/** The answers that a client sent to the questions of one task. Each try has a text of its own, to tell which counted. */
export class GivenAnswers {
  readonly #sent = new Map<string, { texts: string[]; firstTaken: number | undefined }>();
  readonly #name: string;

  /** @param name of the task, which no other has */
  constructor(name: string) {
    this.#name = name;
  }

  /** Returns the text for another try to answer. */
  next(question: string): string {
    const { texts } = this.#of(question);
    const text = `${this.#name} ${texts.length}`;
    texts.push(text);
    return text;
  }

  /** Notes that the server has taken an answer. */
  markTaken(question: string, text: string): void {
    const sent = this.#of(question);
    sent.firstTaken ??= sent.texts.indexOf(text);
  }

  /** Returns how many tries there were, for all questions together. */
  get tries(): number {
    return [...this.#sent.values()].reduce((sum, { texts }) => sum + texts.length, 0);
  }

  /**
   * Returns what is wrong with the answers that the graph got: each question has one, which was sent, and not after one
   * that the server had taken.
   */
  faultOf(questions: readonly string[], applied: readonly (readonly [question: string, answer: unknown])[]) {
    const names = applied.map(([question]) => question);
    if ([...names].sort().join() !== [...questions].sort().join()) return `has answers to ${names}, not ${questions}`;
    for (const [question, answer] of applied) {
      const { texts, firstTaken = Number.POSITIVE_INFINITY } = this.#of(question);
      const index = texts.indexOf(String(answer));
      if (index < 0) return `has "${answer}" for ${question}, which was never sent`;
      if (index > firstTaken) return `has answer ${index} to ${question}, although ${firstTaken} was taken`;
    }
    return undefined;
  }

  #of(question: string) {
    const known = this.#sent.get(question) ?? { texts: [], firstTaken: undefined };
    this.#sent.set(question, known);
    return known;
  }
}
