import type { AssistantVersion } from '@runyard/contracts';
import { useMemo } from 'react';
import { JsonChangeView } from '../../components/json-change-view.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { changesOf, contentOf } from './version-changes.ts';

/** A version: what it says, and what differs from the one before. */
export function VersionDetail({
  version,
  before,
}: {
  version: AssistantVersion;
  before: AssistantVersion | undefined;
}) {
  const changes = useMemo(() => before && changesOf(version, before), [version, before]);
  return (
    <section aria-label={`Version ${version.version}`} className="flex min-w-0 flex-col gap-3">
      <h3 className="font-semibold">Version {version.version}</h3>
      {changes && before && (
        <>
          <p className="text-faint">
            {changes.length === 0
              ? `Nothing differs from version ${before.version}.`
              : `What differs from version ${before.version}:`}
          </p>
          <ul className="flex flex-col gap-3 empty:hidden">
            {changes.map((change) => (
              <li key={change.path.join('/')} className="rounded border border-line bg-card p-3">
                <JsonChangeView change={change} whole="everything" />
              </li>
            ))}
          </ul>
        </>
      )}
      <JsonView name={`version ${version.version}`} value={contentOf(version)} />
    </section>
  );
}
