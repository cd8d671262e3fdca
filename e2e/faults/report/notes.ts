/** By goal: what a reader must know to judge its numbers, and why a limit that is not met is not. */
export const notes: Record<string, string> = {
  R2: 'A new client whose connection is cut by a kill before its first event tells nothing about how soon that comes; one that stays connected without an event counts with all it waited.',
  R7: 'All four holes are there at the same time; the seed says which direction each swallows.',
  R9: 'A wake-up goes to one worker. That all come for the same runs in the same moment is brought about by stopping them while the runs are created.',
  R10: 'Memory is the most that the system counts for agent-api while it serves, what is yet to be collected included, above what it takes when as many readers of the same stream are not slow: that differs by some 20 MB from one time to the next. Buffers for one slow reader are bounded by 256 KiB. The delay of normal readers is 30 to 50 ms alone, runs that compute beside them on the same two cores included; slow readers double it for the second or two in which the buffers of the system fill up for them: over many runs to between 1.4 and 2.3 times.',
  R11: 'Client, gateway, server, workers and Postgres share two cores, and nearly all is answered with what was asked for: what is created is executed meanwhile. The storm takes 6 to 7 s of processor time: 2.5 s in the gateway, 1.5 s each in agent-api and the client, the rest in Postgres and the workers. So the last is answered after 3 s or more on two cores, and the client does not always get to send all within its second and a half. Refusing more would keep within the limit (with 100 places for each server instead of 256: 1,550 and 1,675 admitted, p99 2.8 and 3.3 s); who asks within a second for what two cores do in three is rather answered late than told to come again.',
  R12: 'The creates go to real processes. The random sequences are executed by the engine itself on a real Postgres, without processes around it.',
  R13: 'Orders and losses come at random moments of runs that take half a second, not at named points of the code.',
  R14: 'No scheduler leads: each of three may fire whatever is due, and any is killed. Time is that of the database, which is the only one they go by; each of its minutes is a tick for fifty crons.',
  R17: 'Shown from the first release on, or with `--previous REF`. Without either it is left out and counts for nothing.',
  R18: 'Memory is read once a minute, half a minute after the last fault, once all garbage is collected: of the first agent-api and the first worker with the processes below them, which no fault replaces. What lives is what their heaps and buffers hold, memory is what the system counts.',
  R19: 'The servers are Postgres and Redis, with Redis as the event bus: Kafka is always there.',
  R20: 'What fails is a call to Postgres, on its way there or on the answer’s way back, whichever method of a store makes it.',
  R22: 'Parts that look after rows of a database find none to look after here.',
};
