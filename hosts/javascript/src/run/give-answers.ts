/**
 * Gives the answers of a run to tasks of LangGraph before 0.4, which cannot find them by themselves: each is added to
 * the checkpoint where its task waits, whenever that is read, after the answers that the task had before.
 */
import type { TaskAnswer } from '../storage/interrupt-answers.ts';
import type { RunSaver } from './run-saver.ts';

const INTERRUPT = '__interrupt__';
const RESUME = '__resume__';

export function giveAnswers(saver: RunSaver, answers: TaskAnswer[]): void {
  const getTuple = saver.getTuple.bind(saver);
  const putWrites = saver.putWrites.bind(saver);
  /** Every answer of a task, with those before this run. */
  const taken = new Map<string, unknown[]>();
  saver.getTuple = async (config) => {
    const tuple = await getTuple(config);
    const namespace = tuple?.config.configurable?.checkpoint_ns ?? '';
    for (const { taskId, value } of answers.filter((answer) => answer.namespace === namespace)) {
      const writes = tuple?.pendingWrites ?? [];
      if (!tuple || !writes.some(([of, channel]) => of === taskId && channel === INTERRUPT)) continue;
      const before = writes.filter(([of, channel]) => of === taskId && channel === RESUME);
      const all = [...before.flatMap(([, , list]) => list), value];
      taken.set(taskId, all);
      tuple.pendingWrites = [...writes.filter((write) => !before.includes(write)), [taskId, RESUME, all]];
    }
    return tuple;
  };
  // A task that asks again has taken its answer, and needs it in the runs to come. These lines store only answers that
  // they found themselves.
  saver.putWrites = async (config, writes, taskId) => {
    const answered = taken.get(taskId);
    const asksAgain = answered !== undefined && writes.some(([channel]) => channel === INTERRUPT);
    await putWrites(config, asksAgain ? [...writes, [RESUME, answered]] : writes, taskId);
  };
}
