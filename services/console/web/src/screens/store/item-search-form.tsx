import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { parseJson } from '../../components/json-editor.tsx';
import { isObject } from './store-search.ts';

interface Searched {
  query?: string | undefined;
  filter?: Record<string, unknown> | undefined;
}

/** Chooses items by their meaning and by fields of their values. */
export function ItemSearchForm({ query, filter, onSearch }: Searched & { onSearch(searched: Searched): void }) {
  const [words, setWords] = useState(query ?? '');
  const [fields, setFields] = useState(filter ? JSON.stringify(filter) : '');
  const [fault, setFault] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const parsed = parseJson(fields);
    const isFilter = parsed.value === undefined || isObject(parsed.value);
    const found = parsed.fault ?? (isFilter ? undefined : 'A filter is an object: { … }');
    setFault(found);
    if (found === undefined)
      onSearch({ query: words.trim() || undefined, filter: isObject(parsed.value) ? parsed.value : undefined });
  };
  return (
    <search>
      <form noValidate onSubmit={submit} className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 grow basis-48">
          <TextField
            label="Near in meaning to"
            hint="Where the project embeds its items"
            type="search"
            value={words}
            onChange={({ target }) => setWords(target.value)}
          />
        </div>
        <div className="min-w-0 grow basis-64">
          <TextField
            label="Filter (JSON)"
            hint={'Fields of the value: { "theme": "dark", "age": { "$gte": 3 } }'}
            autoComplete="off"
            spellCheck={false}
            value={fields}
            fault={fault}
            onChange={({ target }) => setFields(target.value)}
          />
        </div>
        <div className="flex gap-2 sm:pt-5">
          <Button type="submit">Search</Button>
          {(query !== undefined || filter !== undefined) && (
            <Button look="quiet" onClick={() => onSearch({})}>
              Clear
            </Button>
          )}
        </div>
      </form>
    </search>
  );
}
