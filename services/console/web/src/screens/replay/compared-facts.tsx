import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Status } from '../../components/status.tsx';
import { Cell, HeadCell, Row, Table } from '../../components/table.tsx';
import { formatDuration } from '../../components/time.tsx';
import { assistantsQuery } from '../../platform/assistants.ts';
import type { RunPlace } from '../../platform/runs.ts';
import { shortId } from '../run/run-summary.tsx';
import { describeDifference, namesWithCounts, sameness, settingsOf } from './compared-values.ts';
import type { ComparedRun } from './use-compared-run.ts';

interface Sides {
  original: ComparedRun;
  shadow: ComparedRun;
}

/** The facts of both runs, and what is between them. */
export function ComparedFacts(sides: Sides) {
  const each = (show: (run: ComparedRun) => ReactNode): [ReactNode, ReactNode] => [
    show(sides.original),
    show(sides.shadow),
  ];
  const settings = [settingsOf(sides.original.run), settingsOf(sides.shadow.run)] as const;
  return (
    <Table caption="Both runs" columns={['Fact', 'Original', 'Shadow', 'Difference']}>
      <Fact name="Run" values={each(({ place }) => <RunLink place={place} />)} />
      <Fact name="Status" values={each(({ facts }) => facts && <Status status={facts.status} />)} />
      <Fact name="Assistant" values={each((run) => <AssistantName run={run} />)} />
      <Fact name="Input" values={['', '']} difference={sameness(settings[0]?.input, settings[1]?.input)} />
      <Fact
        name="Configuration"
        values={['', '']}
        difference={sameness(settings[0]?.configuration, settings[1]?.configuration)}
      />
      <NumberFact name="Duration" sides={sides} read={({ facts }) => facts?.durationMs} format={formatDuration} />
      <NumberFact name="Queue time" sides={sides} read={({ facts }) => facts?.queueMs} format={formatDuration} />
      <NumberFact name="Tokens" sides={sides} read={({ journal }) => journal?.usage?.total_tokens} />
      <NumberFact name="Input tokens" isDetail sides={sides} read={({ journal }) => journal?.usage?.input_tokens} />
      <NumberFact name="Output tokens" isDetail sides={sides} read={({ journal }) => journal?.usage?.output_tokens} />
      <NumberFact name="Model calls" isDetail sides={sides} read={({ journal }) => journal?.usage?.model_calls} />
      <NamesFact
        name="Models"
        sides={sides}
        read={({ journal }) => journal?.models?.map(({ model, calls }) => [model, calls])}
      />
      <NumberFact name="Tool calls" sides={sides} read={({ journal }) => journal?.usage?.tool_calls} />
      <NamesFact
        name="Tools"
        sides={sides}
        read={({ journal }) => journal?.tools?.map(({ name, calls }) => [name, calls])}
      />
    </Table>
  );
}

interface FactProps {
  name: string;
  values: [ReactNode, ReactNode];
  difference?: string | undefined;
}

const UNKNOWN = '–';

function Fact({ name, values: [original, shadow], difference }: FactProps) {
  return (
    <Row>
      <HeadCell>{name}</HeadCell>
      <Cell {...labelled('Original', original)}>{original}</Cell>
      <Cell {...labelled('Shadow', shadow)}>{shadow}</Cell>
      <Cell {...labelled('Difference', difference)}>{difference}</Cell>
    </Row>
  );
}

/** A cell without a value says nothing where the window is narrow. */
function labelled(label: string, value: ReactNode): { label?: string } {
  return value === undefined || value === '' ? {} : { label };
}

interface NumberFactProps {
  name: string;
  sides: Sides;
  /** True if it is left out where neither run has it. */
  isDetail?: boolean;
  read(run: ComparedRun): number | null | undefined;
  format?(value: number): string;
}

function NumberFact({ name, sides, isDetail = false, read, format = String }: NumberFactProps) {
  const [original, shadow] = [read(sides.original), read(sides.shadow)];
  if (isDetail && original == null && shadow == null) return null;
  const show = (value: number | null | undefined) => (value == null ? UNKNOWN : format(value));
  return (
    <Fact
      name={name}
      values={[show(original), show(shadow)]}
      difference={describeDifference(original, shadow, format)}
    />
  );
}

interface NamesFactProps {
  name: string;
  sides: Sides;
  read(run: ComparedRun): [string, number][] | undefined;
}

/** The calls of both runs; nothing where neither has made any. */
function NamesFact({ name, sides, read }: NamesFactProps) {
  const texts = [sides.original, sides.shadow].map((run) => namesWithCounts(read(run) ?? []));
  if (texts.every((text) => text === '')) return null;
  return <Fact name={name} values={[texts[0] || UNKNOWN, texts[1] || UNKNOWN]} />;
}

function RunLink({ place }: { place: RunPlace }) {
  return (
    <Link
      to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId"
      params={place}
      search={{}}
      title={place.runId}
    >
      <code className="text-xs">{shortId(place.runId)}</code>
    </Link>
  );
}

function AssistantName({ run: { place, facts } }: { run: ComparedRun }) {
  const { data } = useQuery(assistantsQuery(place.workspaceId, place.deploymentId));
  if (!facts) return null;
  const assistant = data?.find(({ assistant_id: id }) => id === facts.assistantId);
  return <span title={facts.assistantId}>{assistant?.name ?? shortId(facts.assistantId)}</span>;
}
