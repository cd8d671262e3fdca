/** The most that a document may have of each, so that it costs no more to read than its length. */
export interface XmlLimits {
  characters: number;
  /** Elements in each other. */
  depth: number;
  /** Elements, comments and texts. */
  nodes: number;
  /** The same directly in one element: XPath sorts them by walking from each to others. */
  siblings: number;
  attributes: number;
}

const SPACES: ReadonlySet<string> = new Set([' ', '\t', '\r', '\n']);
const DECLARATION = /^\uFEFF?<\?xml\s/;

/**
 * Requires that a text is cheap to parse and to search. Parsers of XML take the square of it for nested namespaces and for
 * processing instructions, and XPath for siblings. It reads the text once, and anybody may send one.
 *
 * @throws Error that says what is wrong
 */
export function requireCheapXml(xml: string, limits: XmlLimits): void {
  if (xml.length > limits.characters) throw new Error('The document is too long.');
  new XmlCounter(xml, limits).count();
}

class XmlCounter {
  readonly #xml: string;
  readonly #limits: XmlLimits;
  #nodes = 0;
  #attributes = 0;
  /** Numbers of nodes in the elements that are open, the innermost last. */
  readonly #children = [0];

  constructor(xml: string, limits: XmlLimits) {
    this.#xml = xml;
    this.#limits = limits;
  }

  count(): void {
    const xml = this.#xml;
    let from = DECLARATION.test(xml) ? endOf(xml, '?>', 0) : 0;
    for (let at = xml.indexOf('<', from); at >= 0; at = xml.indexOf('<', from)) {
      if (at > from) this.#addNode();
      if (xml.startsWith('<!--', at)) {
        this.#addNode();
        from = endOf(xml, '-->', at + 4);
        continue;
      }
      if (xml[at + 1] === '!' || xml[at + 1] === '?') throw new Error('The document has more than elements and text.');
      from = this.#endOfTag(at + 1);
      if (xml[at + 1] === '/') {
        if (this.#children.length > 1) this.#children.pop();
        continue;
      }
      this.#addNode();
      if (xml[from - 2] !== '/') this.#open();
    }
  }

  #addNode(): void {
    const siblings = this.#children.at(-1)! + 1;
    this.#children[this.#children.length - 1] = siblings;
    this.#nodes += 1;
    if (siblings > this.#limits.siblings || this.#nodes > this.#limits.nodes)
      throw new Error('The document has too many elements.');
  }

  #open(): void {
    this.#children.push(0);
    if (this.#children.length > this.#limits.depth + 1)
      throw new Error('The document has too many elements inside of each other.');
  }

  /** Returns the position after the tag; a `>` in quotes is a part of it. */
  #endOfTag(start: number): number {
    let quote = '';
    // Parsers accept attributes without quotes or without spaces between them.
    let mayBegin = false;
    for (let at = start; at < this.#xml.length; at++) {
      const character = this.#xml[at]!;
      if (quote !== '') {
        mayBegin = character === quote;
        if (mayBegin) quote = '';
        continue;
      }
      if (character === '>') return at + 1;
      if (mayBegin && !SPACES.has(character) && character !== '/') this.#addAttribute();
      mayBegin = SPACES.has(character);
      if (character === '"' || character === "'") quote = character;
    }
    throw new Error('The document has a tag without an end.');
  }

  #addAttribute(): void {
    this.#attributes += 1;
    if (this.#attributes > this.#limits.attributes) throw new Error('The document has too many attributes.');
  }
}

function endOf(xml: string, mark: string, start: number): number {
  const found = xml.indexOf(mark, start);
  if (found < 0) throw new Error(`The document has no ${mark} where it needs one.`);
  return found + mark.length;
}
