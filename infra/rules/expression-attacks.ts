import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';

/** A quantifier with at least this many repetitions is tried as if it had no end. */
const MANY = 1_000;
/** Characters that stand for the sets of an expression, besides those that it names. */
const COMMON = ['a', 'A', '0', ' ', '\t', '\n', '-', '.', '/', '"', '!', '\u0000', 'é'];

/** Makes a text of about as many characters. */
export type Attack = (length: number) => string;

/**
 * Returns texts on which an expression takes long, if it does on any: for each quantifier without an end, what leads to
 * it, repetitions of what it takes, and an end at which the match fails. The repeated part is also the whole way to the
 * quantifier, and what follows it: there two places of the expression compete for the same characters.
 */
export function attacksOn(source: string, flags: string): Attack[] {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
  const samples = new Samples(pattern, flags);
  const attacks: Attack[] = [];
  visitRegExpAST(pattern, {
    onQuantifierEnter(quantifier) {
      if (quantifier.max < MANY) return;
      const [before, after] = [samples.before(quantifier), samples.after(quantifier)];
      for (const pump of samples.repetitionsOf(quantifier.element)) {
        const shapes: [string, string][] = [
          [before, pump],
          ['', before + pump],
          ['\u0000', pump],
          [before, pump + after],
          [before + pump, after],
        ];
        for (const [start, repeated] of shapes) {
          if (repeated === '') continue;
          for (const end of ['', '\n\u0000', samples.refusedBy(quantifier.element)]) {
            attacks.push((length) => start + repeated.repeat(Math.ceil(length / repeated.length)) + end);
          }
        }
      }
    },
  });
  return attacks;
}

/** Writes texts that parts of one expression match. */
class Samples {
  readonly #alphabet: string[];
  readonly #flags: string;

  constructor(pattern: AST.Pattern, flags: string) {
    const named = new Set<string>();
    visitRegExpAST(pattern, { onCharacterEnter: ({ value }) => void named.add(String.fromCodePoint(value)) });
    this.#alphabet = [...named, ...COMMON];
    this.#flags = flags.replace(/[gy]/g, '');
  }

  /** Returns what leads to a part, at the least. */
  before(part: AST.Node): string {
    return this.#around(part, (siblings, at) => siblings.slice(0, at));
  }

  /** Returns what has to follow a part. */
  after(part: AST.Node): string {
    return this.#around(part, (siblings, at) => siblings.slice(at + 1));
  }

  /** Returns every character that a set of them takes, of those in question; of anything else, each alternative. */
  repetitionsOf(element: AST.Element): string[] {
    if (element.type === 'Group' || element.type === 'CapturingGroup') {
      return element.alternatives.map((alternative) => this.#all(alternative.elements, 1));
    }
    return this.#charactersOf(element);
  }

  /** Returns a character that a set of them does not take, or nothing. */
  refusedBy(element: AST.Element): string {
    const taken = this.#charactersOf(element);
    return this.#alphabet.find((character) => !taken.includes(character)) ?? '';
  }

  #around(part: AST.Node, take: (siblings: AST.Element[], at: number) => AST.Element[]): string {
    let text = '';
    for (let node = part; node.parent; node = node.parent) {
      if (node.parent.type !== 'Alternative') continue;
      const others = this.#all(take(node.parent.elements, node.parent.elements.indexOf(node as AST.Element)), 0);
      text = node.end <= part.end ? others + text : text + others;
    }
    return text;
  }

  #all(elements: readonly AST.Element[], atLeast: number): string {
    return elements.map((element) => this.#sample(element, atLeast)).join('');
  }

  #sample(element: AST.Element, atLeast: number): string {
    switch (element.type) {
      case 'Quantifier':
        return this.#sample(element.element, atLeast).repeat(Math.min(Math.max(element.min, atLeast), MANY));
      case 'Group':
      case 'CapturingGroup':
        return this.#all(element.alternatives[0]!.elements, atLeast);
      case 'Assertion':
      case 'Backreference':
        return '';
      default:
        return this.#charactersOf(element)[0] ?? '';
    }
  }

  #charactersOf(element: AST.Element): string[] {
    const one = new RegExp(`^(?:${element.raw})$`, this.#flags);
    return [...new Set(this.#alphabet.filter((character) => one.test(character)))];
  }
}
