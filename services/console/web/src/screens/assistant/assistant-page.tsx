import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { buttonClass } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Loading } from '../../components/loading.tsx';
import { Missing } from '../../components/missing.tsx';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { PlatformError } from '../../platform/ask.ts';
import { assistantQuery } from '../../platform/assistants.ts';
import { nameOf } from '../assistants/assistant-name.ts';
import { GraphView } from '../graph/graph-view.tsx';
import { AssistantFacts } from './assistant-facts.tsx';
import { DeleteAssistant } from './delete-assistant.tsx';
import { EditAssistant } from './edit-assistant.tsx';
import { Schemas } from './schemas.tsx';
import { Versions } from './versions.tsx';

/** An assistant: what it is, its graph, and how it came to be so. */
export function AssistantPage() {
  const { workspaceId, deploymentId, assistantId } = useParams({
    from: '/signed-in/w/$workspaceId/deployments/$deploymentId/assistants/$assistantId',
  });
  const place = { workspaceId, deploymentId, assistantId };
  const { data: assistant, error, refetch } = useQuery(assistantQuery(place));
  const isMissing = error instanceof PlatformError && (error.status === 404 || error.status === 422);
  if (isMissing) return <Missing what="This assistant" />;
  const retry = () => void refetch();
  if (!assistant) {
    return (
      <Page title="Assistant">
        {error ? <Fault error={error} onRetry={retry} /> : <Loading what="the assistant" />}
      </Page>
    );
  }
  const { configurable: _, ...config } = assistant.config;
  return (
    <Page
      title={nameOf(assistant)}
      actions={
        <>
          <Link
            to="/w/$workspaceId"
            params={{ workspaceId }}
            search={{ deployment: deploymentId, assistant: assistant.assistant_id }}
            className={buttonClass({ look: 'first' })}
          >
            Chat
          </Link>
          <EditAssistant {...{ place, assistant }} />
          <DeleteAssistant {...{ place, assistant }} />
        </>
      }
    >
      <Fault error={error} onRetry={retry} />
      <AssistantFacts {...{ place, assistant }} />
      <div className="grid min-w-0 gap-6 lg:grid-cols-2">
        <Section title="Graph">
          <GraphView key={`${assistantId} ${assistant.version}`} place={place} direction="down" />
        </Section>
        <Section title="Configuration" about="What the graph gets with each run of the assistant.">
          <JsonView name="context" value={assistant.context} />
          <JsonView name="config of runs" value={config} />
          <JsonView name="metadata" value={assistant.metadata} />
        </Section>
      </div>
      <Versions {...{ place, assistant }} />
      <Schemas place={place} />
    </Page>
  );
}
