import type { Command } from 'commander';
import { type VerifyFlags, verifyExport } from '../audit/verify-export.ts';
import type { CommandContext } from '../command-context.ts';

const HELP = `
The file is what GET …/audit-logs/export answers without filters, whole or a part of it. It is checked on this machine alone.
With --checkpoint, an answer of GET …/audit-logs/verify that was kept, it shows too when events of that time are gone.`;

export function addAuditCommand(program: Command, context: CommandContext): void {
  program
    .command('audit')
    .summary('check an exported audit trail')
    .description('Works with audit trails.')
    .command('verify')
    .description('Checks that no event of an exported audit trail was changed, removed or inserted.')
    .argument('<file>', 'the events as JSON lines')
    .option('--checkpoint <file>', 'an earlier answer of the operation that verifies')
    .addHelpText('after', HELP)
    .action((file: string, flags: VerifyFlags) => verifyExport(file, flags, context));
}
