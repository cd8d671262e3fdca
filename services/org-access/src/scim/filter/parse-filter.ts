import { badRequest } from '../scim-error.ts';
import { type Token, tokenize } from './tokens.ts';

export type ComparisonOperator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';
export type FilterValue = string | number | boolean | null;

/** A filter of RFC 7644 §3.4.2.2. */
export type Filter =
  | { kind: 'comparison'; path: string; operator: ComparisonOperator; value: FilterValue }
  | { kind: 'present'; path: string }
  | { kind: 'and' | 'or'; filters: Filter[] }
  | { kind: 'not'; filter: Filter }
  /** Some value of a list matches. */
  | { kind: 'value'; path: string; filter: Filter };

const OPERATORS: ReadonlySet<string> = new Set(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le']);
/** Parentheses and comparisons over these numbers are refused. */
const DEPTH_MAX = 20;
const COMPARISONS_MAX = 100;

/**
 * Parses a filter. Words are accepted in any case, as is the form `emails[type eq "work"].value eq "x"` that identity
 * providers send. Of the libraries for this none refuses what follows a complete filter, or parses paths.
 *
 * @throws BadRequestError `invalidFilter`
 */
export function parseFilter(text: string): Filter {
  const parser = new FilterParser(tokenize(text, 'invalidFilter'), 'invalidFilter');
  const filter = parser.expression();
  parser.end();
  return filter;
}

/** A path of a PATCH operation, for example `emails[type eq "work"].value`. */
export interface PatchPath {
  path: string;
  /** Selects values of a list. */
  filter: Filter | null;
  subAttribute: string | null;
  /** The number of comparisons in the filter. */
  comparisons: number;
}

/** Parses a path. @throws BadRequestError `invalidPath` */
export function parsePath(text: string): PatchPath {
  const parser = new FilterParser(tokenize(text, 'invalidPath'), 'invalidPath');
  const path = parser.name();
  const filter = parser.takeBracket('[') ? parser.bracketed() : null;
  const rest = filter && parser.takeName();
  if (rest && !rest.startsWith('.')) throw badRequest('invalidPath', `Unexpected ${rest}`);
  parser.end();
  return { path, filter, subAttribute: rest ? rest.slice(1) : null, comparisons: parser.comparisons };
}

class FilterParser {
  readonly #tokens: Token[];
  readonly #scimType: 'invalidFilter' | 'invalidPath';
  #at = 0;
  #depth = 0;
  #comparisons = 0;

  constructor(tokens: Token[], scimType: 'invalidFilter' | 'invalidPath') {
    this.#tokens = tokens;
    this.#scimType = scimType;
  }

  get comparisons(): number {
    return this.#comparisons;
  }

  expression(): Filter {
    if (++this.#depth > DEPTH_MAX) throw badRequest(this.#scimType, 'Too many parentheses');
    const filter = this.#joined('or', () => this.#joined('and', () => this.#single()));
    this.#depth -= 1;
    return filter;
  }

  /** Parses what follows `[`, to the closing bracket. */
  bracketed(): Filter {
    const filter = this.expression();
    this.#expectBracket(']');
    return filter;
  }

  name(): string {
    const name = this.takeName();
    if (name === null) throw this.#unexpected();
    return name;
  }

  takeName(): string | null {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'name') return null;
    this.#at += 1;
    return token.text;
  }

  takeBracket(text: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'bracket' || token.text !== text) return false;
    this.#at += 1;
    return true;
  }

  end(): void {
    if (this.#at < this.#tokens.length) throw this.#unexpected();
  }

  #joined(kind: 'and' | 'or', operand: () => Filter): Filter {
    const filters = [operand()];
    while (this.#takeWord(kind)) filters.push(operand());
    return filters.length === 1 ? filters[0]! : { kind, filters };
  }

  #single(): Filter {
    if (this.takeBracket('(')) {
      const filter = this.expression();
      this.#expectBracket(')');
      return filter;
    }
    const next = this.#tokens[this.#at + 1];
    if (next?.kind === 'bracket' && next.text === '(' && this.#takeWord('not')) {
      this.#at += 1;
      const filter = this.expression();
      this.#expectBracket(')');
      return { kind: 'not', filter };
    }
    return this.#comparison(this.name());
  }

  #comparison(path: string): Filter {
    if (++this.#comparisons > COMPARISONS_MAX) throw badRequest(this.#scimType, 'Too many comparisons');
    if (this.takeBracket('[')) return this.#valuePath(path);
    const operator = this.name().toLowerCase();
    if (operator === 'pr') return { kind: 'present', path };
    if (!OPERATORS.has(operator)) throw badRequest(this.#scimType, `Unknown operator ${operator}`);
    return { kind: 'comparison', path, operator: operator as ComparisonOperator, value: this.#value() };
  }

  /** Puts a comparison behind the brackets into them: some one value has to match both. */
  #valuePath(path: string): Filter {
    const filter = this.bracketed();
    const next = this.#tokens[this.#at];
    if (next?.kind !== 'name' || !next.text.startsWith('.')) return { kind: 'value', path, filter };
    this.#at += 1;
    const behind = this.#comparison(next.text.slice(1));
    return { kind: 'value', path, filter: { kind: 'and', filters: [filter, behind] } };
  }

  #value(): FilterValue {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    if (token?.kind === 'text') return token.text;
    if (token?.kind === 'number') return Number(token.text);
    const word = token?.kind === 'name' ? token.text.toLowerCase() : undefined;
    if (word === 'true' || word === 'false') return word === 'true';
    if (word === 'null') return null;
    this.#at -= 1;
    throw this.#unexpected();
  }

  #takeWord(word: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'name' || token.text.toLowerCase() !== word) return false;
    this.#at += 1;
    return true;
  }

  #expectBracket(text: string): void {
    if (!this.takeBracket(text)) throw this.#unexpected();
  }

  #unexpected() {
    const token = this.#tokens[this.#at];
    return badRequest(this.#scimType, token ? `Unexpected ${token.text.slice(0, 100)}` : 'Unexpected end');
  }
}
