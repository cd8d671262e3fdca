import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { type ConnectionFlags, withControlPlane } from '../connection/connect.ts';

/** Asks before deleting, unless forced: the deployment's data is deleted too. */
export async function deleteDeployment(
  id: string,
  flags: ConnectionFlags & { force: boolean },
  context: CommandContext,
): Promise<void> {
  await withControlPlane(flags, context, async ({ controlPlane, questions }) => {
    const { name } = await controlPlane.getDeployment(id);
    if (!flags.force) {
      // Without a terminal there is no consent, and a deletion cannot be undone.
      if (!questions.isInteractive)
        throw new CliError('There is nobody to ask: add --force to delete it.', ExitCode.usage);
      const answer = await questions.ask(`Delete the deployment ${name} with all its threads and runs? Its name`);
      if (answer !== name) throw new CliError('Nothing is deleted: that is not its name.', ExitCode.failed);
    }
    await controlPlane.deleteDeployment(id);
    context.stdout.write(`${name} (${id}) is deleted.\n`);
  });
}
