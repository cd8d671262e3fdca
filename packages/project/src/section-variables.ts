/**
 * Sections of `langgraph.json` as variables, the form in which images of the official command carry them. Each is the
 * JSON of its key and replaces the whole key: images are made from the file, so the variable is newer.
 */
import { GraphLoadError } from '@runyard/host-protocol';

/** The key of the file that each variable stands for. */
export const SECTION_VARIABLES = {
  LANGSERVE_GRAPHS: 'graphs',
  LANGGRAPH_STORE: 'store',
  LANGGRAPH_AUTH: 'auth',
  LANGGRAPH_HTTP: 'http',
  LANGGRAPH_WEBHOOKS: 'webhooks',
  LANGGRAPH_CHECKPOINTER: 'checkpointer',
  LANGGRAPH_ENCRYPTION: 'encryption',
  LANGGRAPH_UI: 'ui',
  LANGGRAPH_UI_CONFIG: 'ui_config',
} as const;

export type Variables = Record<string, string | undefined>;

/** Returns the variables of an environment that stand for sections. */
export function sectionVariables(environment: Variables): Record<string, string> {
  const entries = Object.keys(SECTION_VARIABLES).map((name) => [name, environment[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => isSet(entry[1])));
}

/**
 * Parses the sections that variables give.
 *
 * @throws GraphLoadError that names a variable which is not JSON
 */
export function sectionsOf(environment: Variables): Record<string, unknown> {
  const sections: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(SECTION_VARIABLES)) {
    const text = environment[name];
    if (!isSet(text)) continue;
    try {
      sections[key] = JSON.parse(text);
    } catch (cause) {
      throw new GraphLoadError(`The variable ${name} is not valid JSON: ${(cause as Error).message}`, { cause });
    }
    // Images write `null` for a section that the file does not have.
    if (sections[key] === null) delete sections[key];
  }
  return sections;
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '';
}
