import { UNRESTRICTED } from '../access/scope.ts';
import type { AssistantGraphService } from './assistant-graph-service.ts';
import { RememberedByVersion } from './remembered-by-version.ts';

/** The JSON schemas of an assistant's graph; undefined where they are unknown. */
export interface AssistantSchemas {
  input: Record<string, unknown> | undefined;
  output: Record<string, unknown> | undefined;
}

/** Milliseconds after which unknown schemas are looked for again: a busy host may have been too slow. */
const UNKNOWN_MS = 60_000;

/** Knows the schemas of assistants. To find them may take a minute. */
export class RememberedSchemas extends RememberedByVersion<AssistantSchemas> {
  constructor(graphs: Pick<AssistantGraphService, 'schemas'>) {
    super({
      async look(id) {
        const { input_schema, output_schema } = await graphs.schemas({ scope: UNRESTRICTED, headers: {} }, id);
        return { input: asSchema(input_schema), output: asSchema(output_schema) };
      },
      unknown: { input: undefined, output: undefined },
      bytesOf: (schemas) => Buffer.byteLength(JSON.stringify(schemas)),
      keptMs: ({ input }) => (input ? Number.POSITIVE_INFINITY : UNKNOWN_MS),
    });
  }
}

function asSchema(schema: unknown): Record<string, unknown> | undefined {
  return typeof schema === 'object' && schema !== null ? (schema as Record<string, unknown>) : undefined;
}
