/** Milliseconds for which one answer serves the gauges of a scrape, and for which a scrape waits for it. */
const FRESH_MS = 1_000;
const PATIENCE_MS = 1_000;

/**
 * Shares one query among all gauges of a scrape, however often they are scraped. Undefined when it is not answered in
 * time: the scrape then lacks those gauges, and does not fail.
 */
export function cacheForScrape<T>(ask: () => Promise<T>): () => Promise<T | undefined> {
  let asked: { at: number; answer: Promise<T | undefined> } | undefined;
  return () => {
    if (!asked || performance.now() - asked.at > FRESH_MS) {
      asked = { at: performance.now(), answer: inTime(ask()) };
    }
    return asked.answer;
  };
}

async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  try {
    return await Promise.race([answer.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
