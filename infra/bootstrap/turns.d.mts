export declare class Turns {
  constructor(show: (text: string) => void);
  take(): { write(text: string): void; end(): void };
}
