import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { Button, buttonClass } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField } from '../../components/field.tsx';
import { Loading } from '../../components/loading.tsx';
import { Page } from '../../components/page.tsx';
import { assistantsQuery } from '../../platform/assistants.ts';
import { deploymentsQuery } from '../../platform/deployments.ts';
import { threadQuery } from '../../platform/threads.ts';
import { useWorkspace } from '../../session/session.ts';
import { chooseAssistant, chooseDeployment, keepChosen, lastChosen } from './chosen-graph.ts';
import { GraphRoom } from './graph-room.tsx';

/** Talks with a graph: the first page that somebody sees. */
export function ChatPage() {
  const { id: workspaceId } = useWorkspace();
  const search = useSearch({ from: '/signed-in/w/$workspaceId/' });
  const navigate = useNavigate({ from: '/w/$workspaceId/' });
  const last = useMemo(() => lastChosen(workspaceId), [workspaceId]);
  const deployments = useQuery(deploymentsQuery(workspaceId));
  const deployment = chooseDeployment(deployments.data ?? [], search.deployment, last);
  const assistants = useQuery({
    ...assistantsQuery(workspaceId, deployment?.id ?? ''),
    enabled: deployment !== undefined,
  });
  const thread = useQuery({
    ...threadQuery({ workspaceId, deploymentId: deployment?.id ?? '', threadId: search.thread ?? '' }),
    enabled: deployment !== undefined && search.thread !== undefined && search.assistant === undefined,
  });
  const asked = search.assistant ?? (thread.data?.metadata.assistant_id as string | undefined);
  const assistant = chooseAssistant(assistants.data ?? [], asked, last);
  const isAsked = search.thread === undefined;
  // Each new thread has an id of its own.
  const draftId = useMemo(() => crypto.randomUUID(), [isAsked, deployment?.id, assistant?.assistant_id]);
  const threadId = search.thread ?? draftId;
  useEffect(() => {
    if (deployment && assistant) {
      keepChosen(workspaceId, { deployment: deployment.id, assistant: assistant.assistant_id });
    }
  }, [workspaceId, deployment, assistant]);
  const choose = (chosen: { deployment?: string; assistant?: string }) => void navigate({ search: chosen });
  const isWaiting = search.thread !== undefined && search.assistant === undefined && thread.isPending;
  return (
    <Page
      title="Chat"
      actions={
        search.thread !== undefined &&
        deployment && (
          <>
            <Link
              to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId"
              params={{ workspaceId, deploymentId: deployment.id, threadId: search.thread }}
              className={buttonClass()}
            >
              Thread
            </Link>
            <Button
              onClick={() =>
                choose({ deployment: deployment.id, ...(assistant && { assistant: assistant.assistant_id }) })
              }
            >
              New thread
            </Button>
          </>
        )
      }
    >
      <Fault error={deployments.error} onRetry={() => void deployments.refetch()} />
      {deployments.isPending && <Loading what="deployments" />}
      {deployments.data?.length === 0 && (
        <Empty title="There is no deployment yet">
          Deploy a project, and talk with its graphs here.{' '}
          <Link to="/w/$workspaceId/deployments" params={{ workspaceId }}>
            Deployments
          </Link>
        </Empty>
      )}
      {deployment && deployments.data && (
        <div className="grid gap-3 sm:grid-cols-2 lg:max-w-3xl">
          <SelectField
            label="Deployment"
            value={deployment.id}
            options={deployments.data.map(({ id, name, display_name: shown }) => ({ value: id, label: shown ?? name }))}
            onChange={({ target }) => choose({ deployment: target.value })}
          />
          {assistant && assistants.data && (
            <SelectField
              label="Assistant"
              value={assistant.assistant_id}
              options={assistants.data.map(({ assistant_id: id, name, graph_id: graph }) => ({
                value: id,
                label: name === graph ? name : `${name} (${graph})`,
              }))}
              onChange={({ target }) => choose({ deployment: deployment.id, assistant: target.value })}
            />
          )}
        </div>
      )}
      <Fault error={assistants.error} onRetry={() => void assistants.refetch()} />
      {deployment && assistants.isPending && <Loading what="assistants" />}
      {assistants.data?.length === 0 && <Empty title="This deployment has no assistant" />}
      {deployment && assistant && !isWaiting && (
        <GraphRoom
          key={threadId}
          place={{ workspaceId, deploymentId: deployment.id, threadId }}
          isNew={search.thread === undefined}
          assistantId={assistant.assistant_id}
          onStarted={() =>
            search.thread === undefined &&
            void navigate({
              search: { deployment: deployment.id, assistant: assistant.assistant_id, thread: threadId },
              replace: true,
            })
          }
        />
      )}
    </Page>
  );
}
