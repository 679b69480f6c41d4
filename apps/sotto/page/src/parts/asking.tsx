// Asks one or more questions for one chart. The last answer stays until the next is there.
import { useEffect, useState } from "preact/hooks";
import type { Ask, Refusal } from "../api";
import { ask_in_turn, kept_answer, key_of } from "../answers";
import { refusal_of, was_aborted, type Done } from "../client";

export interface Asking {
  /** In the order of the asks; those that failed are left out. */
  done: Done[] | null;
  fault: Refusal | null;
  loading: boolean;
  share: number | null;
  again: () => void;
}

/** Answers younger than this are not asked for again when a view opens. */
const FRESH_MS = 60_000;

export function useAsking(asks: Ask[] | null, background = false, keeps = false): Asking {
  const [turn, set_turn] = useState(0);
  const [state, set] = useState<Omit<Asking, "again">>({ done: null, fault: null, loading: asks !== null, share: null });
  const key = asks === null ? "" : asks.map(key_of).join("\n");
  useEffect(() => {
    if (!asks) return;
    const stop = new AbortController();
    const kept = asks.map(kept_answer);
    if (kept.every((one) => one !== undefined)) {
      const done = kept.map((one) => one.done);
      // With --prefetch answers are asked for by a timer alone.
      const fresh = turn === 0 && kept.every((one) => keeps || Date.now() - one.at < FRESH_MS);
      set({ done, fault: null, loading: !fresh, share: null });
      if (fresh) return;
    } else set((before) => ({ ...before, fault: null, loading: true, share: null }));
    const shares = asks.map(() => 0);
    const progress = (i: number) => (share: number) => {
      shares[i] = share;
      if (!stop.signal.aborted) set((before) => ({ ...before, share: shares.reduce((a, b) => a + b, 0) / shares.length }));
    };
    void Promise.allSettled(asks.map((ask, i) => ask_in_turn(ask, { background: background || turn > 0, signal: stop.signal }, progress(i)))).then((settled) => {
      if (stop.signal.aborted) return;
      // The first is the question itself: without it the others say nothing.
      const done = settled[0]?.status === "fulfilled" ? settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])) : [];
      const failed = settled.find((one) => one.status === "rejected");
      const fault = failed && !was_aborted(failed.reason) ? refusal_of(failed.reason) : null;
      set((before) => ({ done: done.length > 0 ? done : before.done, fault, loading: false, share: null }));
    });
    return () => stop.abort();
  }, [key, turn]);
  return { ...state, again: () => set_turn((before) => before + 1) };
}
