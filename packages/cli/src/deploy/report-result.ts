import type { Deployment, Revision } from '@runyard/contracts';
import { ExitCode } from '../cli-error.ts';
import type { ControlPlane } from '../connection/control-plane.ts';
import type { Progress, ResultEvent } from '../output/progress-event.ts';

/** Reports the result of a revision as the last event. @returns the exit code */
export async function reportResult(options: {
  controlPlane: ControlPlane;
  progress: Progress;
  deployment: Deployment;
  revisionId: string;
  statusUrl: string;
  revision: Revision | 'not waited for' | 'timed out';
}): Promise<number> {
  const { controlPlane, progress, deployment, revisionId, statusUrl, revision } = options;
  const { status, message, exitCode } = describeOutcome(revision);
  const event: ResultEvent = {
    event: 'result',
    status,
    message,
    deployment_id: deployment.id,
    revision_id: revisionId,
    status_url: statusUrl,
  };
  if (typeof revision === 'object') event.revision_status = revision.status;
  if (status === 'succeeded') {
    // The deployment is read again, because the platform may set the address only when it serves.
    const url = (await controlPlane.getDeployment(deployment.id)).source_config.custom_url;
    if (url) event.url = url;
  }
  progress.report(event);
  return exitCode;
}

type Outcome = Pick<ResultEvent, 'status' | 'message'> & { exitCode: number };

function describeOutcome(revision: Revision | 'not waited for' | 'timed out'): Outcome {
  if (revision === 'not waited for') {
    return { status: 'triggered', message: 'The revision is made; nobody waits for it.', exitCode: ExitCode.done };
  }
  if (revision === 'timed out') {
    const message = 'Not waited for any longer. The platform goes on with it.';
    return { status: 'timed_out', message, exitCode: ExitCode.timedOut };
  }
  switch (revision.status) {
    case 'DEPLOYED':
      return { status: 'succeeded', message: 'Deployed.', exitCode: ExitCode.done };
    case 'SKIPPED':
      return { status: 'superseded', message: 'A newer revision took its place.', exitCode: ExitCode.failed };
    default: {
      const reason = revision.status_message ?? 'no reason was given';
      return { status: 'failed', message: `Failed (${revision.status}): ${reason}`, exitCode: ExitCode.failed };
    }
  }
}
