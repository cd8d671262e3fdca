/** Names of PromQL that stand where a metric may stand and are none. */
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);

/** Returns the names of the metrics in a PromQL expression, each once. */
export function metricsIn(expression: string): string[] {
  const selectors = expression
    .replace(/"(?:[^"\\]|\\.)*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\b\s*(?:\([^)]*\))?/g, '');
  // A name before a parenthesis is that of a function, and a duration begins with a digit.
  const names = selectors.match(/(?<![\w:.])[a-zA-Z_:][\w:]*(?![\w:])(?!\s*\()/g) ?? [];
  return [...new Set(names)].filter((name) => !WORDS.has(name.toLowerCase()));
}
