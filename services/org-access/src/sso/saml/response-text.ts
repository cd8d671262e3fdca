const CHARACTERS_MAX = 150_000;
/** Nested elements of a response; providers send some fifteen. */
const DEPTH_MAX = 64;
const DECLARATION = /^\uFEFF?<\?xml\s/;

/**
 * Requires that a text costs no more to parse than its length: parsers of XML take the square of it for nested
 * namespaces and for processing instructions. It reads the text once, and anybody may send one.
 *
 * @throws Error that says what is wrong
 */
export function requireCheapXml(xml: string): void {
  if (xml.length > CHARACTERS_MAX) throw new Error('The response is too long.');
  let depth = 0;
  let at = DECLARATION.test(xml) ? endOf(xml, '?>', 0) : 0;
  for (at = xml.indexOf('<', at); at >= 0; at = xml.indexOf('<', at)) {
    if (xml.startsWith('<!--', at)) {
      at = endOf(xml, '-->', at + 4);
      continue;
    }
    if (xml[at + 1] === '!' || xml[at + 1] === '?') throw new Error('The response has more than elements and text.');
    const isEnd = xml[at + 1] === '/';
    at = endOfTag(xml, at + 1);
    if (isEnd) depth -= 1;
    else if (xml[at - 2] !== '/') depth += 1;
    if (depth > DEPTH_MAX) throw new Error('The response has too many elements inside of each other.');
  }
}

/** Returns the position after the tag; a `>` in quotes is a part of it. */
function endOfTag(xml: string, start: number): number {
  let quote = '';
  for (let at = start; at < xml.length; at++) {
    const character = xml[at]!;
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return at + 1;
  }
  throw new Error('The response has a tag without an end.');
}

function endOf(xml: string, mark: string, start: number): number {
  const found = xml.indexOf(mark, start);
  if (found < 0) throw new Error(`The response has no ${mark} where it needs one.`);
  return found + mark.length;
}
