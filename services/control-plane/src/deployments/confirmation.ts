import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds that a caller waits for deployments to confirm a change. */
const CONFIRMATION_MS = 3_000;
const LOOK_EVERY_MS = 50;

/** Reads a state until data planes have confirmed it, and for so long at most. Returns it as it is then. */
export async function untilConfirmed<State>(
  read: () => Promise<State>,
  isConfirmed: (state: State) => boolean,
): Promise<State> {
  const until = performance.now() + CONFIRMATION_MS;
  for (;;) {
    const state = await read();
    if (isConfirmed(state) || performance.now() >= until) return state;
    await pause(LOOK_EVERY_MS);
  }
}
