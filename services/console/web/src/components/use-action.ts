import { useCallback, useRef, useState } from 'react';

/**
 * Does one thing at a time, and keeps the error of the last. Answers with secrets pass through to whoever asked: unlike a
 * mutation of the query client, it keeps none.
 */
export function useAction() {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const busy = useRef(false);
  const run = useCallback(async (action: () => Promise<void>) => {
    if (busy.current) return;
    busy.current = true;
    setIsBusy(true);
    setError(undefined);
    try {
      await action();
    } catch (error) {
      setError(error);
    } finally {
      busy.current = false;
      setIsBusy(false);
    }
  }, []);
  return { run, isBusy, error };
}

interface Request<Body> {
  body: Body;
  key: string;
}

/**
 * Returns a function that makes the request of what was chosen in a form. The same choice gives the same request with the
 * same key: repeated after a lost answer it is done once.
 */
export function useRequest<Body>(): (choice: unknown, bodyOf: () => Body) => Request<Body> {
  const sent = useRef<Request<Body> & { choice: string }>(undefined);
  return useCallback((choice, bodyOf) => {
    const text = JSON.stringify(choice);
    if (sent.current?.choice !== text) sent.current = { choice: text, body: bodyOf(), key: crypto.randomUUID() };
    return sent.current;
  }, []);
}
