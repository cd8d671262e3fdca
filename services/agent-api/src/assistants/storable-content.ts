import { toSqlJson, toSqlText } from '@runyard/database';
import type { AssistantContent } from './assistant-record.ts';

/** Makes content storable: Postgres has no U+0000, so it becomes U+FFFD, in text and inside JSON. */
export function toStorable(content: AssistantContent) {
  const json = (value: object) => JSON.parse(toSqlJson(value)) as object;
  return {
    graphId: content.graphId,
    name: toSqlText(content.name),
    description: content.description === null ? null : toSqlText(content.description),
    config: json(content.config),
    context: json(content.context),
    metadata: json(content.metadata),
  };
}
