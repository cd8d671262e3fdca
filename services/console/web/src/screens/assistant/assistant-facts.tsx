import type { Assistant } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { Time } from '../../components/time.tsx';
import { type AssistantPlace, isOfSystem } from '../../platform/assistants.ts';
import { deploymentQuery } from '../../platform/deployments.ts';

/** Shows what an assistant is, with the ways to its deployment and its runs. */
export function AssistantFacts({ place, assistant }: { place: AssistantPlace; assistant: Assistant }) {
  const { workspaceId, deploymentId } = place;
  const { data: deployment } = useQuery(deploymentQuery(workspaceId, deploymentId));
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2 rounded border border-line bg-card p-3">
      {assistant.description && (
        <Fact name="Description" isWide>
          {assistant.description}
        </Fact>
      )}
      <Fact name="Deployment">
        <Link to="/w/$workspaceId/deployments/$deploymentId/assistants" params={place} search={{}}>
          {deployment?.display_name ?? deployment?.name ?? 'its assistants'}
        </Link>
      </Fact>
      <Fact name="Graph">{assistant.graph_id}</Fact>
      <Fact name="Version">{assistant.version}</Fact>
      <Fact name="Made by">{isOfSystem(assistant) ? 'the platform' : 'a person'}</Fact>
      <Fact name="Made">
        <Time at={assistant.created_at} />
      </Fact>
      <Fact name="Changed">
        <Time at={assistant.updated_at} />
      </Fact>
      <Fact name="Runs">
        <Link
          to="/w/$workspaceId/runs"
          params={{ workspaceId }}
          search={{ deployment: deploymentId, assistant: assistant.assistant_id }}
        >
          Runs of this assistant
        </Link>
      </Fact>
      <Fact name="Id">
        <span className="flex flex-wrap items-center gap-2">
          <code className="min-w-0 text-xs break-all">{assistant.assistant_id}</code>
          <CopyButton what="the id" text={() => assistant.assistant_id} />
        </span>
      </Fact>
    </dl>
  );
}

function Fact({ name, isWide = false, children }: { name: string; isWide?: boolean; children: ReactNode }) {
  return (
    <div className={`min-w-0 ${isWide ? 'basis-full' : ''}`}>
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}
