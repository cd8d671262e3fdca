import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeHost, quietLogger } from '../../test/fakes.ts';
import { HostSupervisor } from './host-supervisor.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(async () => {
  await supervisor.close(0);
  vi.useRealTimers();
});

let supervisor: HostSupervisor;

function supervising(options: { deadMs?: number; isShared?: boolean } = {}) {
  const started: { fake: FakeHost; exit: (reason: string) => void }[] = [];
  const onReady = vi.fn();
  const onLost = vi.fn();
  const state = { failing: false };
  supervisor = new HostSupervisor({
    ...options,
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
  const slot = supervisor.takeSlot();
  started[0]!.exit('exited with code 1');
  expect(supervisor.current).toBeUndefined();
  expect(onLost).toHaveBeenCalledOnce();
  expect(slot.crashAttribution()).toBe('sole');
  await vi.advanceTimersByTimeAsync(100);
  expect(supervisor.current).toBe(started[1]!.fake.host);
  expect(onReady).toHaveBeenCalledTimes(2);
});

it('runs that were lost together share the crash attribution', async () => {
  const { started } = supervising();
  await supervisor.start();
  const [over, ...slots] = [supervisor.takeSlot(), supervisor.takeSlot(), supervisor.takeSlot()];
  over!.release();
  started[0]!.exit('ran out of memory');
  for (const slot of slots) {
    expect(slot.crashAttribution()).toBe('shared');
    slot.release();
  }
});

it('a run that a lost host had not begun is not charged, and the only one it had begun is', async () => {
  const { started } = supervising();
  await supervisor.start();
  const [begun, waiting] = [supervisor.takeSlot(), supervisor.takeSlot()];
  begun.markBegun();
  started[0]!.exit('ran out of memory');
  expect([begun.crashAttribution(), waiting.crashAttribution()]).toEqual(['sole', 'none']);
});

it('failing starts are repeated, ever more slowly', async () => {
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

/** Makes the host unresponsive until the returned function is called. */
function stopAnswering(fake: FakeHost): () => void {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  fake.ping = () => answered;
  return answer;
}

it('an unresponsive host gets no new runs: within three seconds there is another', async () => {
  const { started, onReady } = supervising();
  await supervisor.start();
  const slot = supervisor.takeSlot();
  const answer = stopAnswering(started[0]!.fake);
  await vi.advanceTimersByTimeAsync(2_999);
  expect(supervisor.current).toBe(started[0]!.fake.host);
  await vi.advanceTimersByTimeAsync(2);
  expect(supervisor.current).toBe(started[1]!.fake.host);
  expect(onReady).toHaveBeenCalledTimes(2);
  // It answers again: its runs end there, and new ones go to the other.
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(supervisor.current).toBe(started[1]!.fake.host);
  expect(started[0]!.fake.closedWith).toBeUndefined();
  slot.release();
  expect(started[0]!.fake.closedWith).toBe(0);
});

it('a host whose run blocks its event loop goes on for as long as that is allowed, while its process gives signs of life', async () => {
  const { started, onLost } = supervising({ deadMs: 900_000 });
  await supervisor.start();
  supervisor.takeSlot();
  const { fake } = started[0]!;
  stopAnswering(fake);
  let beats = 0;
  fake.beats = () => beats++;
  await vi.advanceTimersByTimeAsync(899_000);
  expect(onLost).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(onLost).toHaveBeenCalledOnce();
});

it('a host that code of an ended run may block is killed after a minute, however long others may block it', async () => {
  const { started, onLost } = supervising({ deadMs: 900_000 });
  await supervisor.start();
  const [ended, other] = [supervisor.takeSlot(), supervisor.takeSlot()];
  other.markBegun();
  stopAnswering(started[0]!.fake);
  let beats = 0;
  started[0]!.fake.beats = () => beats++;
  ended.reportUnresponsive();
  ended.release();
  await vi.advanceTimersByTimeAsync(59_000);
  expect(onLost).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(onLost).toHaveBeenCalledOnce();
  // Nobody knows whose code it was.
  expect(other.crashAttribution()).toBe('shared');
});

it('a host that has given signs of life, and gives none for a minute, is killed', async () => {
  const { started, onLost } = supervising({ deadMs: 900_000 });
  await supervisor.start();
  stopAnswering(started[0]!.fake);
  started[0]!.fake.beats = () => 7;
  await vi.advanceTimersByTimeAsync(59_000);
  expect(onLost).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(onLost).toHaveBeenCalledOnce();
});

it('a host that answers again before the other has started stays the current one', async () => {
  const { started, state } = supervising();
  await supervisor.start();
  state.failing = true;
  const answer = stopAnswering(started[0]!.fake);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(supervisor.current).toBeUndefined();
  expect(() => supervisor.takeSlot()).toThrow();
  answer();
  state.failing = false;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(supervisor.current).toBe(started[0]!.fake.host);
  expect(started.slice(1).every(({ fake }) => fake.closedWith === 0)).toBe(true);
});

it('runs that a blocked host did not begin are notified, unless they may block it themselves', async () => {
  const { started } = supervising();
  await supervisor.start();
  const [first, second] = [supervisor.takeSlot(), supervisor.takeSlot()];
  const heard: string[] = [];
  first.onUnresponsive(() => heard.push('first'));
  second.onUnresponsive(() => heard.push('second'));
  const answer = stopAnswering(started[0]!.fake);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(heard).toEqual([]);
  answer();
  await vi.advanceTimersByTimeAsync(1_000);
  first.markBegun();
  stopAnswering(started[0]!.fake);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(heard).toEqual(['second']);
});

it('a pause of the worker does not make its host unresponsive', async () => {
  const { started } = supervising();
  await supervisor.start();
  vi.setSystemTime(Date.now() + 600_000);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 600_000);
  await vi.advanceTimersByTimeAsync(1_000);
  vi.restoreAllMocks();
  expect(supervisor.current).toBe(started[0]!.fake.host);
  expect(started).toHaveLength(1);
});

it('a host that stays unresponsive is killed after a minute', async () => {
  const { started, onLost } = supervising();
  await supervisor.start();
  const [one, other] = [supervisor.takeSlot(), supervisor.takeSlot()];
  stopAnswering(started[0]!.fake);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(started[0]!.fake.closedWith).toBe(0);
  expect(onLost).toHaveBeenCalledOnce();
  expect([one.crashAttribution(), other.crashAttribution()]).toEqual(['shared', 'shared']);
  expect(supervisor.current).toBe(started[1]!.fake.host);
});

it('only a few unresponsive hosts get another one beside them', async () => {
  const { started } = supervising();
  await supervisor.start();
  for (let count = 0; count < 4; count += 1) {
    const { fake } = started.at(-1)!;
    supervisor.takeSlot();
    stopAnswering(fake);
    await vi.advanceTimersByTimeAsync(4_000);
  }
  expect(started).toHaveLength(4);
  expect(supervisor.current).toBeUndefined();
  // The first is killed, and there is room for another.
  await vi.advanceTimersByTimeAsync(50_000);
  expect(supervisor.current).toBeDefined();
});

it('code that runs on in a host makes every run there share its crash attribution', async () => {
  const { started } = supervising();
  await supervisor.start();
  const [stuck, other] = [supervisor.takeSlot(), supervisor.takeSlot()];
  other.markBegun();
  stuck.release();
  stuck.reportUnresponsive();
  started[0]!.exit('ran out of memory');
  expect(other.crashAttribution()).toBe('shared');
});

it('a host that was reported as unresponsive is replaced, and closed when its other runs have ended', async () => {
  const { started } = supervising();
  await supervisor.start();
  const [stuck, other] = [supervisor.takeSlot(), supervisor.takeSlot()];
  stuck.reportUnresponsive();
  stuck.release();
  await vi.advanceTimersByTimeAsync(100);
  expect(supervisor.current).toBe(started[1]!.fake.host);
  expect(started[0]!.fake.closedWith).toBeUndefined();
  other.release();
  expect(started[0]!.fake.closedWith).toBe(0);
});

it('quarantined runs get isolated hosts, a few at a time', async () => {
  const { started } = supervising();
  await supervisor.start();
  const slots = await Promise.all([1, 2, 3].map(() => supervisor.takeIsolatedSlot()));
  expect(new Set(slots.map(({ host }) => host)).size).toBe(3);
  expect(slots.map(({ host }) => host)).not.toContain(supervisor.current);
  const fourth = supervisor.takeIsolatedSlot();
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toHaveLength(4);
  expect(supervisor.freeIsolatedHosts).toBe(0);
  slots[0]!.release();
  expect(started[1]!.fake.closedWith).toBe(0);
  await fourth;
  expect(started).toHaveLength(5);
});

it('quarantined runs that take long make no others wait', async () => {
  const { onReady } = supervising();
  await supervisor.start();
  await Promise.all([1, 2, 3].map(() => supervisor.takeIsolatedSlot()));
  const fourth = supervisor.takeIsolatedSlot();
  await vi.advanceTimersByTimeAsync(30_000);
  const slot = await fourth;
  expect(supervisor.freeIsolatedHosts).toBe(2);
  // The claim loop is notified that quarantined runs may be claimed again.
  expect(onReady).toHaveBeenCalledTimes(3);
  slot.release();
});

it('the only run in a host that a server asks too need not have ended it, and one in an isolated host has', async () => {
  const { started } = supervising({ isShared: true });
  await supervisor.start();
  const slot = supervisor.takeSlot();
  started[0]!.exit('ran out of memory');
  expect(slot.crashAttribution()).toBe('shared');
  const isolated = await supervisor.takeIsolatedSlot();
  started.at(-1)!.exit('ran out of memory');
  expect(isolated.crashAttribution()).toBe('sole');
});

it('a host that a server asks too ends a minute after its last run when another takes the new ones', async () => {
  const { started } = supervising({ isShared: true });
  await supervisor.start();
  const answer = stopAnswering(started[0]!.fake);
  await vi.advanceTimersByTimeAsync(3_001);
  expect(supervisor.current).toBe(started[1]!.fake.host);
  answer();
  await vi.advanceTimersByTimeAsync(59_000);
  expect(started[0]!.fake.closedWith).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1_001);
  expect(started[0]!.fake.closedWith).toBe(0);
});

it('a host that is blocked without any run is killed after a minute, however long runs may block it', async () => {
  const { started, onLost } = supervising({ deadMs: 900_000 });
  await supervisor.start();
  stopAnswering(started[0]!.fake);
  let beats = 0;
  started[0]!.fake.beats = () => beats++;
  await vi.advanceTimersByTimeAsync(59_000);
  expect(onLost).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(onLost).toHaveBeenCalledOnce();
});
