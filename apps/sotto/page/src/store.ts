// The state that several views share, and the session: it opens, lives by a person's moves, and ends.
import { useEffect, useState } from "preact/hooks";
import type { Now, NewSession, PlantInfo } from "./api";
import { events, forget_key, get, has_key, hooks, open_session, post, since_asked } from "./client";
import { forget_answers } from "./answers";

export interface Shared {
  session: "none" | "open";
  /** Why the lock screen is shown, beside having no session yet. */
  lock: "new" | "ended" | "passphrase" | "idle" | "locked";
  plant: PlantInfo | null;
  now: Now | null;
  /** Date.now() when `now` came: ages count on from there. */
  now_at: number;
  console_answers: boolean;
  theme: "auto" | "light" | "dark";
  /** The window that "What the cloud sees" opens; here, as an address must not hold it. */
  window: { device: string; stream: string; number: number } | null;
  /** The person has read what zooming tells the cloud. */
  zoom_understood: boolean;
}

const empty = (): Shared => ({
  session: "none",
  lock: "new",
  plant: null,
  now: null,
  now_at: 0,
  console_answers: true,
  theme: "auto",
  window: null,
  zoom_understood: false,
});

let state: Shared = empty();
const listeners = new Set<() => void>();

export const shared = (): Shared => state;
export function change(part: Partial<Shared>): void {
  state = { ...state, ...part };
  for (const listener of [...listeners]) listener();
}

export function useShared(): Shared {
  const [value, set] = useState(state);
  useEffect(() => {
    const listener = () => set(state);
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return value;
}

/** Milliseconds since 1970 by the server's clock. */
export const server_now = (): number => (state.now ? state.now.at_ms + (Date.now() - state.now_at) : Date.now());

/** Draws the caller again every `ms`, for ages. */
export function useTick(ms: number): void {
  const [, set] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => set((tick) => tick + 1), ms);
    return () => clearInterval(timer);
  }, [ms]);
}

let stop_events: AbortController | null = null;
let idle_ms = 0;
let moved_at = 0;

export async function start_session(body: NewSession): Promise<void> {
  const session = await open_session(body);
  idle_ms = session.idle_ms;
  moved_at = performance.now();
  await load_plant(false);
  change({ session: "open", lock: "ended" });
  void follow_events();
}

/** Asks for the declarations again, after a change. */
export async function load_plant(background: boolean): Promise<void> {
  change({ plant: await get<PlantInfo>("/api/plant", { background }) });
}

function end(lock: Shared["lock"]): void {
  stop_events?.abort();
  stop_events = null;
  forget_key();
  forget_answers();
  // All readings leave memory; the theme may stay.
  change({ ...empty(), lock, theme: state.theme });
}

export function lock_now(lock: "idle" | "locked"): void {
  if (!has_key()) return;
  // The key is gone with the next line: the request must be on its way before.
  void post("/api/lock", {}).catch(() => {});
  end(lock);
}

hooks.ended = (reason) => end(reason === "passphrase" ? "passphrase" : "ended");
hooks.reached = (answers) => {
  if (answers !== state.console_answers) change({ console_answers: answers });
};

/** The server sends a line every 15 s. Without one for this long the connection is dead. */
const SILENT_MS = 40_000;

async function follow_events(): Promise<void> {
  stop_events?.abort();
  const mine = (stop_events = new AbortController());
  let pause = 1000;
  while (!mine.signal.aborted) {
    const one = new AbortController();
    const forward = () => one.abort();
    mine.signal.addEventListener("abort", forward);
    let watchdog = setTimeout(() => one.abort(), SILENT_MS);
    try {
      await events<Now>(
        "/api/events",
        (now) => {
          if (mine.signal.aborted) return;
          clearTimeout(watchdog);
          watchdog = setTimeout(() => one.abort(), SILENT_MS);
          pause = 1000;
          const before = state.now?.version;
          // The same state sent again does not turn its clock back.
          change({ now, now_at: now.at_ms === state.now?.at_ms ? state.now_at : Date.now() });
          if (before !== undefined && before !== now.version) void load_plant(true).catch(() => {});
        },
        one.signal,
      );
    } catch {
      // The banner says it; the loop tries again.
    }
    clearTimeout(watchdog);
    mine.signal.removeEventListener("abort", forward);
    if (mine.signal.aborted) return;
    change({ console_answers: false });
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 10_000);
  }
}

/** Watches a person's moves. Without one for `idle_ms` the page locks; moves without a request keep the session awake. */
export function watch_idle(): void {
  const moved = () => {
    moved_at = performance.now();
  };
  for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "touchstart"]) {
    addEventListener(name, moved, { passive: true, capture: true });
  }
  setInterval(() => {
    if (!has_key() || idle_ms <= 0) return;
    const still = performance.now() - moved_at;
    if (still >= idle_ms) lock_now("idle");
    else if (since_asked() > idle_ms / 2 && still < idle_ms / 2) void get("/api/now").catch(() => {});
  }, 1000);
}
