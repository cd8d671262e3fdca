import { isUuid, type RunConfig } from '@runyard/contracts';
import { GroupCommitter, toSqlJson } from '@runyard/database';
import { NotFoundError, UnprocessableError } from '@runyard/service-kit';
import type pg from 'pg';
import type { RunAssistant } from '../runs/run-arguments.ts';
import type { Scope } from '../scope.ts';
import { systemAssistantId } from './system-assistants.ts';

interface Question {
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
 * Finds the assistant of a run that is being created. Nothing is remembered between questions, so that a changed assistant
 * counts from the next run on, in every process; questions that come together are asked in one query.
 */
export class AssistantLookup {
  readonly #pool: pg.Pool;
  readonly #graphIds: ReadonlySet<string>;
  readonly #questions: GroupCommitter<Question, RunAssistant | undefined>;

  constructor(pool: pg.Pool, graphIds: readonly string[]) {
    this.#pool = pool;
    this.#graphIds = new Set(graphIds);
    this.#questions = new GroupCommitter({
      name: 'assistant lookup',
      flush: (questions: Question[]) => this.#ask(questions),
      sizeOf: () => 1,
    });
  }

  /**
   * @param idOrGraph an assistant's id, or a graph's for its default assistant
   * @throws NotFoundError, UnprocessableError
   */
  async find(scope: Scope, idOrGraph: string): Promise<RunAssistant> {
    const assistant = await this.#questions.submit({ assistantId: this.#toId(idOrGraph), scope });
    if (!assistant) throw new NotFoundError('Thread or assistant not found.');
    if (!this.#graphIds.has(assistant.graphId)) {
      throw new NotFoundError(`Graph '${assistant.graphId}' not found. Expected one of: ${this.#listGraphs()}`);
    }
    return assistant;
  }

  close(): Promise<void> {
    return this.#questions.close();
  }

  #toId(idOrGraph: string): string {
    if (isUuid(idOrGraph)) return idOrGraph;
    if (this.#graphIds.has(idOrGraph)) return systemAssistantId(idOrGraph);
    throw new UnprocessableError(
      `Invalid assistant: '${idOrGraph}'. Must be either:\n- A valid assistant UUID, or\n- One of the registered graphs: ${this.#listGraphs()}`,
    );
  }

  #listGraphs(): string {
    return [...this.#graphIds].join(', ');
  }

  async #ask(questions: Question[]): Promise<(RunAssistant | undefined)[]> {
    const { rows } = await this.#pool.query<Row>({
      name: 'agent_api_find_assistants',
      text: `SELECT i.position, a.assistant_id, a.graph_id, a.config, a.context, a.metadata, a.is_system
             FROM unnest($1::uuid[], $2::jsonb[]) WITH ORDINALITY AS i (assistant_id, scope, position)
             JOIN assistant a ON a.assistant_id = i.assistant_id AND (a.is_system OR a.metadata @> i.scope)`,
      values: [questions.map(({ assistantId }) => assistantId), questions.map(({ scope }) => toSqlJson(scope))],
    });
    const answers: (RunAssistant | undefined)[] = questions.map(() => undefined);
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
