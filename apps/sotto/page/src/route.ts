// The fragment of the address holds the view and a name, never a reading.
import { useEffect, useState } from "preact/hooks";

export const VIEWS = ["now", "questions", "ask", "alarms", "cloud", "plan", "keys"] as const;
export type View = (typeof VIEWS)[number] | "question" | "device";
export interface Route {
  view: View;
  name: string | null;
}

const parse = (hash: string): Route => {
  const [view, name] = hash.replace(/^#\/?/, "").split("/", 2);
  const known: readonly string[] = [...VIEWS, "question", "device"];
  let plain: string | null = null;
  try {
    plain = name === undefined ? null : decodeURIComponent(name);
  } catch {
    // A malformed escape: no name.
  }
  if (view === undefined || !known.includes(view) || ((view === "question" || view === "device") && !plain)) {
    return { view: "now", name: null };
  }
  return { view: view as View, name: plain };
};

export const address = (view: View, name?: string): string => `#/${view}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
export const go = (view: View, name?: string): void => {
  location.hash = address(view, name);
};

export function useRoute(): Route {
  const [route, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => set(parse(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
