/** The numbers that each flag takes, in all commands. */
const FLAGS = {
  clients: whole(1),
  groups: whole(200),
  mb: { takes: 'numbers above 0', isTaken: isPositive },
  members: whole(200),
  rate: { takes: 'numbers above 0', isTaken: isPositive },
  rounds: whole(1),
  seconds: { takes: 'numbers above 0', isTaken: isPositive },
  settle: { takes: 'numbers from 0', isTaken: (number: number) => number >= 0 },
  threads: whole(1),
};

/** @throws Error with a sentence for the person at the keyboard */
export function readNumber(flag: keyof typeof FLAGS, text: string): number {
  const { takes, isTaken } = FLAGS[flag];
  // An empty text would be 0.
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number) && isTaken(number)) return number;
  throw new Error(`--${flag} takes ${takes}, not "${text}".`);
}

/** Reads numbers that are separated by commas. @throws Error with a sentence for the person at the keyboard */
export function readNumbers(flag: keyof typeof FLAGS, text: string): number[] {
  return text.split(',').map((each) => readNumber(flag, each));
}

function whole(least: number) {
  return {
    takes: `whole numbers from ${least}`,
    isTaken: (number: number) => Number.isInteger(number) && number >= least,
  };
}

function isPositive(number: number): boolean {
  return number > 0;
}
