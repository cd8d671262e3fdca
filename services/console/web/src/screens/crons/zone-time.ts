/** Returns a moment as the clocks of a time zone show it. The browser may not know the zone: then it is in UTC. */
export function formatInZone(at: string, zone: string): string {
  const date = new Date(at);
  try {
    return formatter(zone).format(date);
  } catch {
    return formatter('UTC').format(date);
  }
}

function formatter(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(undefined, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
    timeZoneName: 'short',
  });
}
