import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { Fault } from '../components/fault.tsx';
import { personQuery, signOut } from '../session/session.ts';

/** The page of a person who reaches no workspace. */
export function NoWorkspace() {
  const { data: person } = useQuery(personQuery);
  const [fault, setFault] = useState<unknown>();
  return (
    <main className="mx-auto max-w-prose p-8">
      <h1 className="text-xl font-semibold">You reach no workspace</h1>
      <p className="mt-2 text-faint">
        You are signed in as {person?.email}. Ask an administrator of your organization for a role in a workspace.
      </p>
      <Fault error={fault} />
      <p className="mt-4">
        <Button onClick={() => void signOut().catch(setFault)}>Sign out</Button>
      </p>
    </main>
  );
}
