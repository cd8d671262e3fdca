import type { HaltRequest, HaltState } from '@runyard/contracts';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { type ConnectionFlags, withControlPlane } from '../connection/connect.ts';
import type { HaltSubject } from '../connection/control-plane.ts';

export interface HaltFlags extends ConnectionFlags {
  workspace: boolean;
  organization: boolean;
  json: boolean;
}

/** Halts a deployment, the workspace or the organization, and shows how far that is. */
export async function halt(
  id: string | undefined,
  { reason, queued, ...flags }: HaltFlags & HaltRequest,
  context: CommandContext,
): Promise<void> {
  const subject = subjectOf(id, flags);
  await withControlPlane(flags, context, async ({ controlPlane }) =>
    show(await controlPlane.halt(subject, { reason, queued }), flags, context),
  );
}

/** Ends the halt of a deployment, the workspace or the organization. */
export async function resume(id: string | undefined, flags: HaltFlags, context: CommandContext): Promise<void> {
  const subject = subjectOf(id, flags);
  await withControlPlane(flags, context, async ({ controlPlane }) =>
    show(await controlPlane.resume(subject), flags, context),
  );
}

/** Shows what is halted, and how far that is. */
export async function showHalt(id: string | undefined, flags: HaltFlags, context: CommandContext): Promise<void> {
  const subject = subjectOf(id, flags);
  await withControlPlane(flags, context, async ({ controlPlane }) =>
    show(await controlPlane.readHalt(subject), flags, context),
  );
}

/** A kill switch that hits something else than meant is dangerous, so nothing is the default. @throws CliError */
function subjectOf(id: string | undefined, { workspace, organization }: HaltFlags): HaltSubject {
  const named: HaltSubject[] = [];
  if (id !== undefined) named.push({ deploymentId: id });
  if (workspace) named.push('workspace');
  if (organization) named.push('organization');
  const [subject] = named;
  if (subject !== undefined && named.length === 1) return subject;
  throw new CliError('Name one thing: the id of a deployment, --workspace or --organization.', ExitCode.usage);
}

function show(state: HaltState, { json }: HaltFlags, { stdout }: CommandContext): void {
  if (json) {
    stdout.write(`${JSON.stringify(state)}\n`);
    return;
  }
  const halts = state.halts.map(
    ({ scope, reason, queued }) => `Halted (${scope}; waiting runs: ${queued}): ${reason}\n`,
  );
  const lines = [
    ...(halts.length > 0 ? halts : ['Not halted.\n']),
    `Deployments reached: ${state.reached} of ${state.deployments}\n`,
    `Runs cancelled: ${state.runs_cancelled}, in flight: ${state.runs_in_flight}, waiting: ${state.runs_queued}\n`,
    ...state.not_reached.map(
      ({ name, deployment_id: id, message }) => `Not reached: ${name} (${id})${message ? `: ${message}` : ''}\n`,
    ),
  ];
  stdout.write(lines.join(''));
}
