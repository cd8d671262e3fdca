/** Measures of a page, by what its browser reports of it. */
import type { Page } from 'playwright-core';

/** Begins to watch for tasks of more than 50 ms. Call it before the page is opened. */
export async function watchLongTasks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { longTasks: tasks });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration);
    }).observe({ type: 'longtask' });
  });
}

/** Returns the milliseconds of the longest task since the page was opened, or since the last call; 0: none had 50. */
export function longestTask(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { longTasks } = globalThis as unknown as { longTasks: number[] };
    return Math.max(0, ...longTasks.splice(0));
  });
}

/** Returns the megabytes that the page's scripts hold, without what they have let go. */
export async function heapMegabytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1024 / 1024;
}

/** Scrolls what is below the pointer, and returns the milliseconds between frames that 95 of 100 keep. */
export async function frameTimeWhileScrolling(
  page: Page,
  { byPx, times }: { byPx: number; times: number },
): Promise<number> {
  const frames = page.evaluate(
    (count) =>
      new Promise<number[]>((resolve) => {
        const lengths: number[] = [];
        let last = performance.now();
        const next = () => {
          const now = performance.now();
          lengths.push(now - last);
          last = now;
          if (lengths.length < count) requestAnimationFrame(next);
          else resolve(lengths);
        };
        requestAnimationFrame(next);
      }),
    times * 2,
  );
  for (let time = 0; time < times; time++) await page.mouse.wheel(0, byPx);
  return percentile(await frames, 0.95);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
