import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeHost, quietLogger } from '../../test/fakes.ts';
import { HostSupervisor } from './host-supervisor.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(async () => {
  await supervisor.close(0);
  vi.useRealTimers();
});

let supervisor: HostSupervisor;

function supervising() {
  const started: { fake: FakeHost; exit: (reason: string) => void }[] = [];
  const onReady = vi.fn();
  const onLost = vi.fn();
  const state = { failing: false };
  supervisor = new HostSupervisor({
    logger: quietLogger,
    onReady,
    onLost,
    start: async (exit) => {
      if (state.failing) throw new Error('does not load');
      const fake = new FakeHost();
      started.push({ fake, exit });
      return fake.host;
    },
  });
  return { started, onReady, onLost, state };
}

it('a host that ends by itself is replaced', async () => {
  const { started, onReady, onLost } = supervising();
  await supervisor.start();
  const seat = supervisor.takeSeat();
  started[0]!.exit('exited with code 1');
  expect(supervisor.current).toBeUndefined();
  expect(onLost).toHaveBeenCalledOnce();
  expect(seat.wasLostWithOthers()).toBe(false);
  await vi.advanceTimersByTimeAsync(100);
  expect(supervisor.current).toBe(started[1]!.fake.host);
  expect(onReady).toHaveBeenCalledTimes(2);
});

it('knows which runs were lost together', async () => {
  const { started } = supervising();
  await supervisor.start();
  const [over, ...seats] = [supervisor.takeSeat(), supervisor.takeSeat(), supervisor.takeSeat()];
  over!.leave();
  started[0]!.exit('ran out of memory');
  for (const seat of seats) {
    expect(seat.wasLostWithOthers()).toBe(true);
    seat.leave();
  }
});

it('starts that fail are tried again, ever more slowly', async () => {
  const { started, state } = supervising();
  await supervisor.start();
  state.failing = true;
  started[0]!.exit('gone');
  await vi.advanceTimersByTimeAsync(60_000);
  state.failing = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(supervisor.current).toBe(started[1]!.fake.host);
});

it('a project that does not load is an error of the start', async () => {
  const { state } = supervising();
  state.failing = true;
  await expect(supervisor.start()).rejects.toThrow('does not load');
});

it('a host that does not answer gets no new runs, and is taken back when it answers', async () => {
  const { started, onReady } = supervising();
  await supervisor.start();
  let answer = () => {};
  started[0]!.fake.ping = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(supervisor.current).toBeUndefined();
  expect(() => supervisor.takeSeat()).toThrow();
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(supervisor.current).toBe(started[0]!.fake.host);
  expect(onReady).toHaveBeenCalledTimes(2);
});

it('a host that stays silent is killed and replaced', async () => {
  const { started, onLost } = supervising();
  await supervisor.start();
  started[0]!.fake.ping = () => new Promise(() => undefined);
  await vi.advanceTimersByTimeAsync(62_000);
  expect(started[0]!.fake.closedWith).toBe(0);
  expect(onLost).toHaveBeenCalledOnce();
  expect(supervisor.current).toBe(started[1]!.fake.host);
});

it('a host that was complained about is replaced, and closed when its other runs are over', async () => {
  const { started } = supervising();
  await supervisor.start();
  const [deaf, other] = [supervisor.takeSeat(), supervisor.takeSeat()];
  deaf.complain();
  deaf.leave();
  await vi.advanceTimersByTimeAsync(100);
  expect(supervisor.current).toBe(started[1]!.fake.host);
  expect(started[0]!.fake.closedWith).toBeUndefined();
  other.leave();
  expect(started[0]!.fake.closedWith).toBe(0);
});

it('suspects get hosts of their own, a few at a time', async () => {
  const { started } = supervising();
  await supervisor.start();
  const seats = await Promise.all([1, 2, 3].map(() => supervisor.takeSeatAlone()));
  expect(new Set(seats.map(({ host }) => host)).size).toBe(3);
  expect(seats.map(({ host }) => host)).not.toContain(supervisor.current);
  const fourth = supervisor.takeSeatAlone();
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toHaveLength(4);
  seats[0]!.leave();
  expect(started[1]!.fake.closedWith).toBe(0);
  await fourth;
  expect(started).toHaveLength(5);
});
