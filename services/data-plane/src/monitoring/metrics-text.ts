/** One line of metrics. */
export interface MetricLine {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)/;
const LABEL = /,?([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/gy;

/**
 * Reads Prometheus' text format, and leaves out lines that are something else: a project may answer anything. Without
 * infinite values sums stay numbers.
 */
export function parseMetricsText(text: string): MetricLine[] {
  const lines: MetricLine[] = [];
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    const number = Number(value);
    if (name === undefined || !Number.isFinite(number)) continue;
    lines.push({ name, labels: parseLabels(labels), value: number });
  }
  return lines;
}

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(LABEL)].map(([, name, value = '']) => [name, unescapeValue(value)]));
}

const unescapeValue = (value: string): string =>
  value.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
