/**
 * Sections of `langgraph.json` as variables, the form in which images made by the official command carry them. Each is the
 * JSON of its key and takes the key's place as a whole: images are made from the file, so a variable is the later word.
 */
import { GraphLoadError } from '../errors.ts';

/** Key of the file that a variable stands for. */
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

/** Of an environment, what stands for sections. */
export function sectionVariables(environment: Variables): Record<string, string> {
  const entries = Object.keys(SECTION_VARIABLES).map((name) => [name, environment[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => isSet(entry[1])));
}

/**
 * The sections that variables give.
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
    // `null` is how an image says that the file has no such section.
    if (sections[key] === null) delete sections[key];
  }
  return sections;
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '';
}
