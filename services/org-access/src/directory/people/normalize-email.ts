/** Returns the form in which addresses are compared and stored. Tags after a plus stay: they may be other people. */
export function normalizeEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
