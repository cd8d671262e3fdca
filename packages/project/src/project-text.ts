/** Parses the text of `langgraph.json`, which some editors begin with a byte order mark. @throws SyntaxError */
export function parseProjectText(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ''));
}
