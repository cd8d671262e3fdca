import { toSqlText } from '@runyard/database';
import type { DataCipher } from '@runyard/encryption';
import type { Scope } from '../access/scope.ts';
import { Prisma, type PrismaClient } from '../connections/prisma.ts';
import { replaceJson } from './assistant-json.ts';
import type { AssistantRecord } from './assistant-record.ts';
import { ASSISTANT_COLUMNS } from './assistant-store.ts';
import type { AssistantVisibility } from './assistant-visibility.ts';

/** An assistant under the name that it has as a tool. */
export interface NamedAssistant extends AssistantRecord {
  toolName: string;
}

/** The name without the blanks around it, with `_` for other blanks, and without what names of tools may not have. */
const TOOL_NAME = Prisma.raw(
  String.raw`left(regexp_replace(regexp_replace(regexp_replace(name, '^\s+|\s+$', '', 'g'), '\s', '_', 'g'),
                  '[^A-Za-z0-9_.-]', '', 'g'), 128)`,
);

/** Finds assistants by their names as tools. Of several with one name, a caller who sees them can call none. */
export class AssistantTools {
  readonly #prisma: PrismaClient;
  readonly #visibility: AssistantVisibility;
  readonly #cipher: DataCipher;

  constructor(prisma: PrismaClient, visibility: AssistantVisibility, cipher: DataCipher) {
    this.#prisma = prisma;
    this.#visibility = visibility;
    this.#cipher = cipher;
  }

  /** Returns assistants in the order of their tool names; `after` is the last name of the page before. */
  async list(scope: Scope, { after, limit }: { after: string; limit: number }): Promise<NamedAssistant[]> {
    const rows = await this.#prisma.$queryRaw<NamedAssistant[]>`
      SELECT * FROM (
        SELECT ${ASSISTANT_COLUMNS}, ${TOOL_NAME} AS "toolName", count(*) OVER (PARTITION BY ${TOOL_NAME}) AS namesakes
        FROM assistant WHERE ${this.#visibility.whereVisible(scope)}
      ) AS named
      WHERE namesakes = 1 AND "toolName" <> '' AND "toolName" COLLATE "C" > ${toSqlText(after)}
      ORDER BY "toolName" COLLATE "C" LIMIT ${limit}`;
    return rows.map((row) => replaceJson(row, this.#cipher.json.decryptListed));
  }

  /** Returns the only assistant with this tool name. @throws EncryptionError when it cannot be decrypted */
  async find(scope: Scope, toolName: string): Promise<NamedAssistant | undefined> {
    const [only, ...others] = await this.#prisma.$queryRaw<NamedAssistant[]>`
      SELECT ${ASSISTANT_COLUMNS}, ${TOOL_NAME} AS "toolName" FROM assistant
      WHERE ${TOOL_NAME} = ${toSqlText(toolName)} AND ${this.#visibility.whereVisible(scope)} LIMIT 2`;
    if (!only || others.length > 0 || only.toolName === '') return undefined;
    return replaceJson(only, this.#cipher.json.decrypt);
  }
}
