// Answers in memory, so that a chart is there at once when a person comes back to it. Gone with the session.
import type { Ask } from "./api";
import { ask, type Done, type Options } from "./client";

interface Kept {
  done: Done;
  at: number;
}
const kept = new Map<string, Kept>();
/** Answers kept at most; the oldest goes first. */
const MOST = 64;
/** Requests at the same time. The server evaluates one after another anyway. */
const AT_ONCE = 2;
let running = 0;
const waiting: (() => void)[] = [];

export const key_of = (body: Ask): string => JSON.stringify(body);
export const kept_answer = (body: Ask): Kept | undefined => kept.get(key_of(body));
export const forget_answers = (): void => kept.clear();

export async function ask_in_turn(body: Ask, options: Options = {}, progress?: (share: number) => void): Promise<Done> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    if (options.signal?.aborted) throw new DOMException("", "AbortError");
    const done = await ask(body, options, progress);
    kept.delete(key_of(body));
    kept.set(key_of(body), { done, at: Date.now() });
    const oldest = kept.keys().next().value;
    if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
    return done;
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
