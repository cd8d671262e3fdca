/**
 * Names a step to a waiting person.
 *
 * @param work goes on after that line; absent for what has happened, or has no end of its own
 */
export type ReportStep = (line: string, work?: Promise<unknown>) => void;
