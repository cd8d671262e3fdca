import { type ReactNode, useId } from 'react';
import { Metrics } from './settings/metrics.tsx';
import { NameForm } from './settings/name-form.tsx';
import { ResourcesForm } from './settings/resources-form.tsx';
import { VariablesForm } from './settings/variables-form.tsx';
import { useDeployment } from './use-deployment.ts';

/** Shows the settings of a deployment that can be changed, and its metrics. */
export function SettingsTab() {
  const { deployment } = useDeployment();
  return (
    <div className="flex flex-col gap-8">
      <Section title="Variables and secrets">
        <VariablesForm deployment={deployment} />
      </Section>
      <Section title="Resources">
        <ResourcesForm deployment={deployment} />
      </Section>
      <Section title="Name">
        <NameForm deployment={deployment} />
      </Section>
      <Section title="Metrics of the last hour">
        <Metrics deployment={deployment} />
      </Section>
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3">
      <h2 id={id} className="text-lg font-semibold">
        {title}
      </h2>
      {children}
    </section>
  );
}
