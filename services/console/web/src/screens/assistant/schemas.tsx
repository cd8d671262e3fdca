import { useQuery } from '@tanstack/react-query';
import { Fault } from '../../components/fault.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Loading } from '../../components/loading.tsx';
import { Section } from '../../components/section.tsx';
import { type AssistantPlace, assistantSchemasQuery } from '../../platform/assistants.ts';

const NAMES = {
  input_schema: 'input schema',
  output_schema: 'output schema',
  state_schema: 'state schema',
  context_schema: 'context schema',
  config_schema: 'config schema',
} as const;

/** The JSON Schemas of the graph of an assistant, as far as it gives any. */
export function Schemas({ place }: { place: AssistantPlace }) {
  const { data, error, isPending, refetch } = useQuery(assistantSchemasQuery(place));
  const given = Object.entries(NAMES).filter(([key]) => data?.[key as keyof typeof NAMES] != null);
  return (
    <Section title="Schemas" about="What the graph takes, gives and keeps.">
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="the schemas" />}
      {data && given.length === 0 && <p className="text-faint">The graph gives none.</p>}
      <div className="grid min-w-0 gap-3 lg:grid-cols-2">
        {given.map(([key, name]) => (
          <JsonView key={key} name={name} value={data?.[key as keyof typeof NAMES]} />
        ))}
      </div>
    </Section>
  );
}
