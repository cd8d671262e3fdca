import type { ApiKey } from '@runyard/contracts';
import { Cell, HeadCell } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';

/** The columns that {@link KeyFacts} fills. */
export const KEY_COLUMNS = ['Key', 'Works in', 'Made', 'Used', 'Ends'];

/** The facts about a key, as cells of its row. */
export function KeyFacts({ apiKey, roles }: { apiKey: ApiKey; roles?: string }) {
  const { description, short_key: short, read_only: isReadOnly, workspace_names: names } = apiKey;
  const hasEnded = apiKey.expires_at !== null && new Date(apiKey.expires_at) <= new Date();
  return (
    <>
      <HeadCell>
        {description || 'Without a description'}
        <code className="block text-xs font-normal text-faint">{short}</code>
        {isReadOnly && <span className="block text-xs font-normal text-faint">only reads</span>}
      </HeadCell>
      <Cell label="Works in">
        {names === null ? 'every workspace' : names.join(', ')}
        {roles && <span className="block text-xs text-faint">{roles}</span>}
      </Cell>
      <Cell label="Made">
        <Time at={apiKey.created_at} />
      </Cell>
      <Cell label="Used">
        <Time at={apiKey.last_used_at} />
      </Cell>
      <Cell label="Ends">
        {apiKey.expires_at === null ? 'never' : <Time at={apiKey.expires_at} />}
        {hasEnded && <span className="block text-xs text-fault">✕ has ended</span>}
      </Cell>
    </>
  );
}
