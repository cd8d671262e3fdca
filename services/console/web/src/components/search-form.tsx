import { type FormEvent, useState } from 'react';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';

/** Searches by a part of a name. The search in force is that of the address. */
export function SearchForm({
  label,
  q = '',
  onSearch,
}: {
  label: string;
  q: string | undefined;
  onSearch: (q: string | undefined) => void;
}) {
  // Another address, as after Back, begins another form.
  return <Form key={q} label={label} q={q} onSearch={onSearch} />;
}

function Form({ label, q, onSearch }: { label: string; q: string; onSearch: (q: string | undefined) => void }) {
  const [text, setText] = useState(q);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch(text.trim() || undefined);
  };
  return (
    <form aria-label="Search" onSubmit={submit} className="flex min-w-0 flex-wrap items-end gap-2">
      <TextField
        label={label}
        type="search"
        value={text}
        maxLength={254}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit">Search</Button>
    </form>
  );
}
