import type { LogLevel } from '@runyard/contracts';
import { useEffect, useState } from 'react';
import { SelectField, TextField } from '../../../components/field.tsx';
import type { LogFilter } from './log-reader.ts';
import { LOG_LEVELS } from './use-log-filter.ts';

/** A search is begun when the person has stopped typing. */
const TYPING_MS = 300;

export interface LogFiltersProps {
  filter: LogFilter;
  onChange: (filter: LogFilter) => void;
}

/** The fields that say which lines of a log are shown. */
export function LogFilters({ filter, onChange }: LogFiltersProps) {
  const [text, setText] = useState(filter.query ?? '');
  useEffect(() => setText(filter.query ?? ''), [filter.query]);
  useEffect(() => {
    if (text === (filter.query ?? '')) return;
    const timer = setTimeout(() => onChange({ ...filter, query: text || undefined }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, filter, onChange]);
  return (
    <>
      <SelectField
        label="Level"
        value={filter.level ?? ''}
        onChange={({ target }) => onChange({ ...filter, level: (target.value || undefined) as LogLevel | undefined })}
        options={[
          { value: '', label: 'All' },
          ...LOG_LEVELS.slice(1).map((level) => ({
            value: level,
            label: level === 'CRITICAL' ? level : `${level} and above`,
          })),
        ]}
      />
      <TextField
        label="Text"
        type="search"
        maxLength={1_000}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </>
  );
}
