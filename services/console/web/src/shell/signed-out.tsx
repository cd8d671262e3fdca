import { buttonClass } from '../components/button.tsx';

/** The page of a browser without a session. */
export function SignedOut() {
  const hasFailed = new URLSearchParams(window.location.search).get('reason') === 'sign-in-failed';
  return (
    <main className="mx-auto max-w-prose p-8">
      <h1 className="text-xl font-semibold">{hasFailed ? 'The sign-in did not work' : 'You are signed out'}</h1>
      {hasFailed && <p className="mt-2 text-faint">It took too long, or was begun in another browser.</p>}
      <p className="mt-4">
        <a href="/auth/start" className={buttonClass({ look: 'first' })}>
          Sign in
        </a>
      </p>
    </main>
  );
}
