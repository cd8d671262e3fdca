import type pg from 'pg';
import { countTokens, type UsedTokens } from './count-tokens.ts';
import type { ExhaustedBudget } from './types.ts';

export interface BudgetsOptions {
  /** Is called when somebody has used a budget up, once in each period. */
  onExhausted?: ((budget: ExhaustedBudget) => void) | undefined;
}

/** The knowledge that one process has of the budgets of its deployment. */
export class Budgets {
  /**
   * False when the deployment had no budget when this process last created a run: then creations do not ask. The
   * statement that inserts them refuses if there is one now.
   */
  areRead = false;
  readonly #onExhausted: (budget: ExhaustedBudget) => void;

  constructor({ onExhausted = () => {} }: BudgetsOptions) {
    this.#onExhausted = onExhausted;
  }

  /** Counts what runs have used, in the caller's transaction. Returns the budget in force that stops a run, by its id. */
  async countTokens(client: pg.ClientBase, used: readonly UsedTokens[]): Promise<Map<string, ExhaustedBudget>> {
    const { stops, reached } = await countTokens(client, used);
    this.tell(reached);
    return stops;
  }

  tell(reached: readonly ExhaustedBudget[]): void {
    for (const budget of reached) this.#onExhausted(budget);
  }
}
