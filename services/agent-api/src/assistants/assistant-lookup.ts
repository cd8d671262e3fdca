import type { RunConfig } from '@runyard/contracts';
import { containsAny, GroupCommitter, toSqlJson, withoutBeforeRows } from '@runyard/database';
import type { DataCipher } from '@runyard/encryption';
import { NotFoundError } from '@runyard/service-kit';
import type pg from 'pg';
import type { Scope } from '../access/scope.ts';
import type { AssistantIds } from './assistant-ids.ts';
import { replaceJson } from './assistant-json.ts';

/** The part of an assistant that goes into its runs. */
export interface RunAssistant {
  assistantId: string;
  graphId: string;
  config: RunConfig;
  context: Record<string, unknown>;
  metadata: Record<string, unknown>;
  isSystem: boolean;
}

interface LookupRequest {
  assistantId: string;
  scope: Scope;
}

interface Row {
  position: string;
  assistant_id: string;
  graph_id: string;
  config: RunConfig;
  context: Record<string, unknown>;
  metadata: Record<string, unknown>;
  is_system: boolean;
}

/**
 * Finds the assistant of a run that is being created. Nothing is cached, so a changed assistant counts from the next
 * run on, in every process; concurrent lookups share one query. None waits for the keys of another's assistant.
 */
export class AssistantLookup {
  readonly #pool: pg.Pool;
  readonly #ids: AssistantIds;
  readonly #cipher: DataCipher;
  readonly #lookups: GroupCommitter<LookupRequest, RunAssistant | undefined>;

  constructor(pool: pg.Pool, ids: AssistantIds, cipher: DataCipher) {
    this.#pool = pool;
    this.#ids = ids;
    this.#cipher = cipher;
    this.#lookups = new GroupCommitter({
      name: 'assistant lookup',
      flush: (requests: LookupRequest[]) => this.#lookUp(requests),
      sizeOf: () => 1,
    });
  }

  /**
   * @param idOrGraph an assistant's id, or a graph's for its default assistant
   * @throws NotFoundError, UnprocessableError, EncryptionError
   */
  async find(scope: Scope, idOrGraph: string): Promise<RunAssistant> {
    const assistant = await this.#lookups.submit({ assistantId: this.#ids.idOf(idOrGraph), scope });
    if (!assistant)
      throw new NotFoundError('Thread or assistant not found.', { code: 'thread_or_assistant_not_found' });
    this.#ids.requireGraph(assistant.graphId);
    await this.#cipher.loadKeys([assistant]);
    // One undecryptable assistant must not fail the lookups that share its query.
    return replaceJson(assistant, this.#cipher.json.decrypt);
  }

  close(): Promise<void> {
    return this.#lookups.close();
  }

  async #lookUp(requests: LookupRequest[]): Promise<(RunAssistant | undefined)[]> {
    const statement = withoutBeforeRows({
      name: 'agent_api_find_assistants',
      text: `SELECT i.position, a.assistant_id, a.graph_id, a.config, a.context, a.metadata, a.is_system
             FROM unnest($1::uuid[], $2::jsonb[]) WITH ORDINALITY AS i (assistant_id, scope, position)
             JOIN assistant a ON a.assistant_id = i.assistant_id AND (a.is_system OR ${containsAny('a.metadata', 'i.scope')})`,
      values: [requests.map(({ assistantId }) => assistantId), requests.map(({ scope }) => toSqlJson(scope))],
    });
    const { rows } = await this.#pool.query<Row>(statement);
    const answers: (RunAssistant | undefined)[] = requests.map(() => undefined);
    for (const row of rows) answers[Number(row.position) - 1] = ofRow(row);
    return answers;
  }
}

function ofRow(row: Row): RunAssistant {
  return {
    assistantId: row.assistant_id,
    graphId: row.graph_id,
    config: row.config,
    context: row.context,
    metadata: row.metadata,
    isSystem: row.is_system,
  };
}
