import type { LogReport, LogReportAnswer } from '@runyard/contracts';
import { type CopiedLogs, LogFileFullError, toStoredEntry } from '@runyard/revision-logs';
import { InvalidFieldError, NotFoundError } from '@runyard/service-kit';
import type { Speaker } from './speaker.ts';

/** Stores log lines that data planes report of their revisions. They are read like all other logs. */
export class ReportedLogs {
  readonly #copies: CopiedLogs;

  constructor(copies: CopiedLogs) {
    this.#copies = copies;
  }

  /**
   * @throws NotFoundError; ConflictError when the epoch is not the latest; UnprocessableError for lines out of order,
   * or too many
   */
  async report(speaker: Speaker, report: LogReport): Promise<LogReportAnswer> {
    checkAscending(report);
    const { epoch, type: kind, first_id: firstId, after, entries } = report;
    const revisionId = report.revision_id.toLowerCase();
    // The speaker's row is locked, so no other request appends to these copies meanwhile.
    return speaker.runAsOwner(epoch, async (transaction, own) => {
      const where = { id: revisionId, deployment: own };
      const revision = await transaction.revision.findFirst({ where, select: { deploymentId: true } });
      if (!revision) throw new NotFoundError(`Revision ID ${revisionId} not found.`);
      const owner = { deploymentId: revision.deploymentId, revisionId, kind };
      const part = { firstId, after, entries: entries.map(toStoredEntry) };
      const lastId = await this.#copies.append(owner, part).catch((error: unknown) => {
        throw error instanceof LogFileFullError ? new InvalidFieldError(['body', 'entries'], error.message) : error;
      });
      return { last_id: lastId };
    });
  }
}

function checkAscending({ first_id, after, entries }: LogReport): void {
  let before = after;
  for (const [index, { id }] of entries.entries()) {
    if (id < first_id || (before !== null && id <= before)) {
      throw new InvalidFieldError(
        ['body', 'entries', String(index), 'id'],
        'Value must be greater than those before it',
      );
    }
    before = id;
  }
}
