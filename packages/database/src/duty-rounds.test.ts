import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DutyRounds, type DutyRoundsOptions } from './duty-rounds.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function roundsOf(options: Partial<DutyRoundsOptions> = {}) {
  const duty = { isMine: vi.fn(async () => true), release: vi.fn(async () => undefined) };
  const round = vi.fn(async () => undefined);
  const onError = vi.fn();
  return { rounds: new DutyRounds({ duty, everyMs: 1000, round, onError, ...options }), duty, round, onError };
}

it('rounds run at every interval, at the start only on request, and never after the end', async () => {
  const later = roundsOf();
  const atOnce = roundsOf({ atStart: true });
  later.rounds.start();
  atOnce.rounds.start();
  await vi.advanceTimersByTimeAsync(2000);
  await Promise.all([later.rounds.close(), atOnce.rounds.close()]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(later.round).toHaveBeenCalledTimes(2);
  expect(atOnce.round).toHaveBeenCalledTimes(3);
});

it('no round runs while another process has the lease', async () => {
  const { rounds, duty, round } = roundsOf({ atStart: true });
  duty.isMine.mockResolvedValue(false);
  rounds.start();
  await vi.advanceTimersByTimeAsync(2000);
  expect(duty.isMine).toHaveBeenCalledTimes(3);
  expect(round).not.toHaveBeenCalled();
  await rounds.close();
});

it('rounds do not overlap, and closing waits for the running one and frees the lease', async () => {
  let finish = () => {};
  const round = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
  const { rounds, duty } = roundsOf({ round, atStart: true });
  rounds.start();
  await vi.advanceTimersByTimeAsync(5000);
  expect(round).toHaveBeenCalledTimes(1);
  const closed = rounds.close();
  expect(rounds.isClosing).toBe(true);
  expect(duty.release).not.toHaveBeenCalled();
  finish();
  await closed;
  expect(duty.release).toHaveBeenCalledOnce();
});

it('rounds continue after a failed one', async () => {
  const { rounds, duty, round, onError } = roundsOf({ atStart: true });
  const away = new Error('away');
  duty.isMine.mockRejectedValueOnce(away);
  round.mockRejectedValueOnce(away);
  duty.release.mockRejectedValue(away);
  rounds.start();
  await vi.advanceTimersByTimeAsync(2000);
  expect(onError.mock.calls).toEqual([[away], [away]]);
  expect(round).toHaveBeenCalledTimes(2);
  await expect(rounds.close()).resolves.toBeUndefined();
});

it('no round runs when it is started after its end', async () => {
  const { rounds, round } = roundsOf({ atStart: true });
  await rounds.close();
  rounds.start();
  await vi.advanceTimersByTimeAsync(2000);
  expect(round).not.toHaveBeenCalled();
});

it('intervals may be longer than a timer', async () => {
  const { rounds, round } = roundsOf({ everyMs: 2 ** 40 });
  rounds.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(round).not.toHaveBeenCalled();
  await rounds.close();
});
