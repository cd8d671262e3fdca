/**
 * Paths to the texts of a value, in the syntax of LangGraph's stores: `$` for the whole value, `title`, `author.name`,
 * `chapters[*].content`, `authors[0]`, `authors[-1]`, `parts.*` (every element or field), `{title,author.name}` (each).
 */
type Step =
  | { kind: 'field'; name: string }
  | { kind: 'element'; index: number }
  | { kind: 'every' }
  | { kind: 'several'; paths: TextPath[] };

export type TextPath = readonly Step[];

const TOKEN = /(?:\[(\*|-?\d+)\]|\{([^{}]*)\}|([^.[\]{}]+))(\.(?!$))?/y;

/** @throws SyntaxError when the text is no path */
export function parseTextPath(path: string): TextPath {
  const steps: Step[] = [];
  const relative = path === '$' ? '' : path.replace(/^\$(?:\.|(?=\[))/, '');
  const tokens = new RegExp(TOKEN);
  while (tokens.lastIndex < relative.length) {
    const token = tokens.exec(relative);
    if (!token) throw new SyntaxError(`"${path}" is not a path to a text`);
    const [, index, several, name] = token;
    if (index !== undefined) steps.push(index === '*' ? { kind: 'every' } : { kind: 'element', index: Number(index) });
    else if (several !== undefined) steps.push({ kind: 'several', paths: several.split(',').map(partOf(path)) });
    else if (name === '*') steps.push({ kind: 'every' });
    else steps.push({ kind: 'field', name: name as string });
  }
  if (steps.length === 0 && path !== '$') throw new SyntaxError(`"${path}" is not a path to a text`);
  return steps;
}

function partOf(whole: string): (part: string) => TextPath {
  return (part) => {
    if (part.trim() === '') throw new SyntaxError(`"${whole}" is not a path to a text`);
    return parseTextPath(part.trim());
  };
}

/**
 * Returns the texts at a path, in order. Numbers and booleans count as text, objects and lists as their JSON; missing
 * and empty values are left out.
 */
export function textsAt(value: unknown, path: TextPath): string[] {
  const [step, ...rest] = path;
  if (!step) return textOf(value);
  switch (step.kind) {
    case 'field':
      return isContainer(value) && Object.hasOwn(value, step.name) ? textsAt(value[step.name], rest) : [];
    case 'element':
      return Array.isArray(value) ? textsAt(value.at(step.index), rest) : [];
    case 'every':
      return isContainer(value) ? Object.values(value).flatMap((inner) => textsAt(inner, rest)) : [];
    case 'several':
      return step.paths.flatMap((inner) => textsAt(value, [...inner, ...rest]));
  }
}

function textOf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  const text = typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
  return text.trim() === '' ? [] : [text];
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
