import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type ChainFault, ChainVerifier, type Checkpoint, readCheckpoint } from '@runyard/audit-chain';
import { type AuditEvent, type AuditLogVerification, conforms, AuditEvent as EventSchema } from '@runyard/contracts';
import { CliError, ExitCode, reasonOf } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';

export interface VerifyFlags {
  /** The file with an earlier answer of the operation that verifies. */
  checkpoint?: string;
}

const MEANINGS: Record<ChainFault['reason'], string> = {
  missing: 'it is not there',
  changed: 'its content is not what was recorded',
  replaced: 'it is not the event that was recorded there',
};

/** Checks an exported audit trail, line by line. @throws CliError when its chain is broken */
export async function verifyExport(file: string, flags: VerifyFlags, context: CommandContext): Promise<void> {
  const checkpoint =
    flags.checkpoint === undefined ? undefined : await readSigned(resolve(context.cwd, flags.checkpoint));
  const verifier = new ChainVerifier({ signed: checkpoint ? [checkpoint] : [] });
  let first: AuditEvent | undefined;
  let fault: ChainFault | undefined;
  for await (const event of readEvents(resolve(context.cwd, file))) {
    first ??= event;
    if (checkpoint && event.organization_id !== checkpoint.organization_id)
      throw new CliError('The checkpoint is of another organization.', ExitCode.usage);
    fault = verifier.check(event);
    if (fault) break;
  }
  if (!first) throw new CliError(`There are no events in ${file}.`, ExitCode.usage);
  fault ??= verifier.end();
  fault ??= checkpoint && findFaultBefore(first, checkpoint);
  if (fault) throw new CliError(`The chain is broken at event ${fault.sequence}: ${MEANINGS[fault.reason]}.`);
  const { sequence, hash } = verifier.position!;
  const signed = checkpoint ? `; event ${checkpoint.sequence} is the one that was signed` : '';
  context.stdout.write(`The chain is whole from event ${first.sequence} to ${sequence}${signed}.\n${hash}\n`);
}

/**
 * Returns the fault of a file that does not go on where a position was signed, when the position is before its first event.
 *
 * @throws CliError when events are missing in between: nothing shows that it is the same chain
 */
function findFaultBefore(first: AuditEvent, signed: Checkpoint): ChainFault | undefined {
  if (signed.sequence >= first.sequence) return undefined;
  if (signed.sequence === first.sequence - 1)
    return signed.hash === first.previous_hash ? undefined : { sequence: first.sequence, reason: 'replaced' };
  const begins = `the file begins at event ${first.sequence}, and the checkpoint is of event ${signed.sequence}`;
  throw new CliError(`The chain cannot be compared with the checkpoint: ${begins}.`);
}

async function readSigned(file: string): Promise<Checkpoint> {
  const text = await readFile(file, 'utf8').catch(refuse(file));
  let checkpoint: Checkpoint | undefined;
  try {
    const { checkpoint: signature, keys } = JSON.parse(text) as AuditLogVerification;
    checkpoint = await readCheckpoint(signature ?? '', { keys });
  } catch (error) {
    refuse(file)(error);
  }
  if (!checkpoint) throw new CliError(`The checkpoint in ${file} is not signed by the keys beside it.`);
  return checkpoint;
}

async function* readEvents(file: string): AsyncGenerator<AuditEvent> {
  const input = createReadStream(file);
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.trim() === '') continue;
      const event: unknown = JSON.parse(line);
      if (!conforms(EventSchema, event)) throw new Error('a line is no event of an audit trail');
      yield event;
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    refuse(file)(error);
  } finally {
    input.destroy();
  }
}

const refuse =
  (file: string) =>
  (error: unknown): never => {
    throw new CliError(`${file} cannot be read: ${reasonOf(error)}`, ExitCode.usage, { cause: error });
  };
