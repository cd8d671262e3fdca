import type { Assistant } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import { ActionCell, Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { isOfSystem } from '../../platform/assistants.ts';
import { nameOf } from './assistant-name.ts';

interface AssistantTableProps {
  workspaceId: string;
  deploymentId: string;
  assistants: readonly Assistant[];
}

/** Assistants as rows, each with the way to its page and to a chat with it. */
export function AssistantTable({ workspaceId, deploymentId, assistants }: AssistantTableProps) {
  return (
    <Table caption="Assistants, by name" columns={['Assistant', 'Graph', 'Version', 'Made by', 'Changed', 'Actions']}>
      {assistants.map((assistant) => {
        const { assistant_id: assistantId, graph_id: graph, description, version, updated_at: changedAt } = assistant;
        return (
          <Row key={assistantId}>
            <HeadCell>
              <div>
                <Link
                  to="/w/$workspaceId/deployments/$deploymentId/assistants/$assistantId"
                  params={{ workspaceId, deploymentId, assistantId }}
                  search={{}}
                >
                  {nameOf(assistant)}
                </Link>
              </div>
              {description && <p className="line-clamp-2 max-w-prose text-xs font-normal text-faint">{description}</p>}
            </HeadCell>
            <Cell label="Graph">{graph}</Cell>
            <Cell label="Version">{version}</Cell>
            <Cell label="Made by">{isOfSystem(assistant) ? 'the platform' : 'a person'}</Cell>
            <Cell label="Changed">
              <Time at={changedAt} />
            </Cell>
            <ActionCell>
              <Link
                to="/w/$workspaceId"
                params={{ workspaceId }}
                search={{ deployment: deploymentId, assistant: assistantId }}
                aria-label={`Chat with ${nameOf(assistant)}`}
              >
                Chat
              </Link>
            </ActionCell>
          </Row>
        );
      })}
    </Table>
  );
}
