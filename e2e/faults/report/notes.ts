/** By goal: what a reader must know to judge its numbers, and why a limit that is not met is not. */
export const notes: Record<string, string> = {
  R2: 'A new client whose connection is cut by a kill before its first event tells nothing about how soon that comes; one that stays connected without an event counts with all it waited.',
  R7: 'All four holes are there at the same time; the seed says which direction each swallows.',
  R9: 'A wake-up goes to one worker. That all come for the same runs in the same moment is brought about by stopping them while the runs are created.',
  R10: 'Memory is the most that the system counts for agent-api while it serves, what is yet to be collected included, above what it takes when as many readers of the same stream are not slow: that differs by some 20 MB from one time to the next. Buffers for one slow reader are bounded by 256 KiB. The delay of normal readers is 30 to 50 ms alone, runs that compute beside them on the same two cores included; slow readers double it for the second or two in which the buffers of the system fill up for them: over many runs to between 1.4 and 2.3 times.',
  R11: 'Gateway, server, workers, Postgres and the client, in a process of its own, share two cores, and what is created is executed meanwhile. A storm waits in three places: before the gateway, which takes one new connection in each turn of its event loop; in it; and behind it, for the 256 places of each server. Those who have waited 1.5 s to be read are refused, so that the others are served in time. The latency at the client has all three and the client’s own waiting for a processor in it; that at the gateway begins when a create is read, and is the upper edge of a bucket of its metrics. The first storm costs a gateway that has just started about 1.2 ms of processor time for each create, a later one 0.7, as its code is compiled by then; a refusal costs a third of that.',
  R12: 'The creates go to real processes. The random sequences are executed by the engine itself on a real Postgres, without processes around it.',
  R13: 'Orders and losses come at random moments of runs that take half a second, not at named points of the code.',
  R14: 'No scheduler leads: each of three may fire whatever is due, and any is killed. Time is that of the database, which is the only one they go by; each of its minutes is a tick for fifty crons.',
  R17: 'Shown from the first release on, or with `--previous REF`. Without either it is left out and counts for nothing.',
  R18: 'Memory is read once a minute, half a minute after the last fault, once all garbage is collected: of the first agent-api and the first worker with the processes below them, which no fault replaces. What lives is what their heaps and buffers hold, memory is what the system counts.',
  R19: 'The servers are Postgres and Redis, with Redis as the event bus: Kafka is always there.',
  R20: 'What fails is a call to Postgres, on its way there or on the answer’s way back, whichever method of a store makes it.',
  R22: 'Parts that look after rows of a database find none to look after here.',
};
