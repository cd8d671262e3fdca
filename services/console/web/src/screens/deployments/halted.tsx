import { useQuery } from '@tanstack/react-query';
import { haltQuery } from '../../platform/deployments.ts';
import { useWorkspace } from '../../session/session.ts';

/** Says that a deployment takes no runs because somebody halted it; nothing where it is not. */
export function Halted({ deploymentId }: { deploymentId: string }) {
  const workspace = useWorkspace();
  const { data: halt } = useQuery(haltQuery(workspace.id, deploymentId));
  if (!halt?.is_halted) return null;
  const [widest] = halt.halts;
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap text-fault" title={widest?.reason}>
      <span aria-hidden="true">■</span> halted
    </span>
  );
}
