import type { Assistant } from '@runyard/contracts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Section } from '../../components/section.tsx';
import { ActionCell, Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { type AssistantPlace, assistantVersionsQuery, setLatestVersion } from '../../platform/assistants.ts';
import { useWorkspace } from '../../session/session.ts';
import { useAssistantChange } from './use-assistant-change.ts';
import { changedParts, changesOf } from './version-changes.ts';
import { VersionDetail } from './version-detail.tsx';

/** The versions of an assistant, newest first, and the one that somebody looks at. */
export function Versions({ place, assistant }: { place: AssistantPlace; assistant: Assistant }) {
  const workspace = useWorkspace();
  const { version: chosen } = useSearch({
    from: '/signed-in/w/$workspaceId/deployments/$deploymentId/assistants/$assistantId',
  });
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    assistantVersionsQuery(place),
  );
  const readAgain = useAssistantChange(place);
  const change = useAction();
  const [said, setSaid] = useState('');
  const versions = data?.pages.flat() ?? [];
  const shown = versions.findIndex(({ version }) => version === chosen);
  const choose = (version: number) =>
    change.run(async () => {
      await setLatestVersion(place, version);
      await readAgain();
      setSaid(`Runs use version ${version} from now on`);
    });
  return (
    <Section title="Versions" about="Each change made one. Runs use the current one, which need not be the newest.">
      <Fault error={error} onRetry={() => void refetch()} />
      <Fault error={change.error} />
      <p role="status" className="text-good empty:hidden">
        {said}
      </p>
      {isPending && <Loading what="versions" />}
      {versions.length > 0 && (
        <Table caption="Versions, newest first" columns={['Version', 'Name', 'Changed', 'Made', 'Actions']}>
          {versions.map((each, index) => {
            const { version, name, created_at: madeAt } = each;
            const before = versions[index + 1];
            const isCurrent = version === assistant.version;
            return (
              <Row key={version}>
                <HeadCell>
                  <Link
                    from="/w/$workspaceId/deployments/$deploymentId/assistants/$assistantId"
                    to="."
                    search={{ version }}
                    replace
                    resetScroll={false}
                    {...(version === chosen && { 'aria-current': 'true' })}
                  >
                    Version {version}
                  </Link>
                  {isCurrent && <strong className="ml-2 text-xs text-good">current</strong>}
                </HeadCell>
                <Cell label="Name">{name}</Cell>
                <Cell label="Changed">
                  {before ? changedParts(changesOf(each, before)) || 'nothing' : hasNextPage ? '–' : 'the first one'}
                </Cell>
                <Cell label="Made">
                  <Time at={madeAt} />
                </Cell>
                <ActionCell>
                  {!isCurrent && (
                    <Button
                      size="small"
                      aria-label={`Make it the current version: ${version}`}
                      unavailable={
                        missingPermission(workspace.may('runs:update'), 'runs:update') ??
                        (change.isBusy ? 'It is being done' : undefined)
                      }
                      onClick={() => void choose(version)}
                    >
                      Make it the current version
                    </Button>
                  )}
                </ActionCell>
              </Row>
            );
          })}
        </Table>
      )}
      {hasNextPage && (
        <Button
          className="self-start"
          unavailable={isFetchingNextPage ? 'They are being read' : undefined}
          onClick={() => void fetchNextPage()}
        >
          Older versions
        </Button>
      )}
      {shown >= 0 && <VersionDetail key={chosen} version={versions[shown]!} before={versions[shown + 1]} />}
      {chosen !== undefined && data && shown < 0 && (
        <p className="text-faint">Version {chosen} is not among those that are shown.</p>
      )}
    </Section>
  );
}
