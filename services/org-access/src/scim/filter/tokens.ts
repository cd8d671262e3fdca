import { badRequest } from '../scim-error.ts';

export interface Token {
  kind: 'name' | 'text' | 'number' | 'bracket';
  text: string;
}

/** Filters and paths over this length are refused. */
const LENGTH_MAX = 4_096;
const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.:$-])|([()[\]])|([\w$.:-]+))/y;

/** Splits a filter or a path into its tokens. @throws BadRequestError with `scimType` */
export function tokenize(text: string, scimType: 'invalidFilter' | 'invalidPath'): Token[] {
  if (text.length > LENGTH_MAX) throw badRequest(scimType, `Longer than ${LENGTH_MAX} characters`);
  const tokens: Token[] = [];
  const input = text.trimEnd();
  let at = 0;
  while (at < input.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(input);
    if (!match) throw badRequest(scimType, `Unexpected character at position ${at + 1}`);
    at = TOKEN.lastIndex;
    const [, quoted, number, bracket, name] = match;
    if (quoted !== undefined) tokens.push({ kind: 'text', text: unquote(quoted, scimType) });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (bracket !== undefined) tokens.push({ kind: 'bracket', text: bracket });
    else tokens.push({ kind: 'name', text: name! });
  }
  return tokens;
}

function unquote(quoted: string, scimType: 'invalidFilter' | 'invalidPath'): string {
  let value: string;
  try {
    value = JSON.parse(quoted) as string;
  } catch {
    throw badRequest(scimType, 'A text is not valid JSON');
  }
  if (/\p{Surrogate}/u.test(value) || value.includes('\0'))
    throw badRequest(scimType, 'A text has characters that nothing has');
  return value;
}
