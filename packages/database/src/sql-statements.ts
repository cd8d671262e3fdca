/**
 * Splits a script into its statements at the semicolons that end them, for statements that refuse to run inside the
 * implicit transaction of a multi-statement query (`CREATE INDEX CONCURRENTLY`). Handles quotes, dollar quotes and
 * comments.
 */
export function splitStatements(script: string): string[] {
  const statements: string[] = [];
  let start = 0;
  let at = 0;
  while (at < script.length) {
    const skipped = endOfQuoted(script, at);
    if (skipped > at) at = skipped;
    else {
      if (script[at] === ';') {
        statements.push(script.slice(start, at));
        start = at + 1;
      }
      at += 1;
    }
  }
  statements.push(script.slice(start));
  return statements.filter(hasCode).map((statement) => statement.trim());
}

/** Returns the end of the quoted text or comment that begins here; `at` itself when none begins here. */
function endOfQuoted(script: string, at: number): number {
  const two = script.slice(at, at + 2);
  if (two === '--') return after(script, '\n', at);
  if (two === '/*') return endOfBlockComment(script, at);
  const quote = script[at];
  if (quote === "'" || quote === '"') {
    const escapes = quote === "'" && /[eE]$/.test(script.slice(Math.max(0, at - 1), at));
    for (let end = at + 1; end < script.length; end += 1) {
      if (escapes && script[end] === '\\') end += 1;
      // A doubled quote ends this literal and begins the next at once, which has the same effect.
      else if (script[end] === quote) return end + 1;
    }
    return script.length;
  }
  const tag = quote === '$' ? /^\$(?:[A-Za-z_]\w*)?\$/.exec(script.slice(at, at + 70))?.[0] : undefined;
  return tag ? after(script, tag, at + tag.length) : at;
}

function endOfBlockComment(script: string, at: number): number {
  let depth = 0;
  for (let end = at; end < script.length; end += 1) {
    const two = script.slice(end, end + 2);
    if (two === '/*') depth += 1;
    else if (two === '*/') depth -= 1;
    else continue;
    end += 1;
    if (depth === 0) return end + 1;
  }
  return script.length;
}

function after(script: string, mark: string, from: number): number {
  const found = script.indexOf(mark, from);
  return found < 0 ? script.length : found + mark.length;
}

function hasCode(statement: string): boolean {
  for (let at = 0; at < statement.length; at += 1) {
    if (/\s/.test(statement[at]!)) continue;
    const isComment = statement.startsWith('--', at) || statement.startsWith('/*', at);
    if (!isComment) return true;
    at = endOfQuoted(statement, at) - 1;
  }
  return false;
}
