import { formatPath } from '@runyard/contracts';

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns one sentence about all that is wrong with the content of a `langgraph.json`. */
export function describeFaults(
  content: unknown,
  issues: { path: (string | number)[]; message: string }[],
  path: string,
): string {
  if (!isObject(content) || content.graphs === undefined) {
    return `${path} must be an object with a "graphs" key that names at least one graph, like {"graphs": {"agent": "./src/agent.ts:graph"}}.`;
  }
  const faults = issues.map((issue) => `${formatPath(issue.path)} ${issue.message}`);
  return `${path} has ${faults.length === 1 ? 'a fault' : 'faults'}: ${[...new Set(faults)].join('; ')}.`;
}
