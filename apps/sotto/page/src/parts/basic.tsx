// Small pieces of every view.
import { Component, type ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Refusal } from "../api";
import { refusal_of, was_aborted } from "../client";
import { T } from "../texts";

const PATHS: Record<string, string> = {
  wave: "M2 13c3 0 3-8 6-8s3 14 6 14 3-9 8-9",
  now: "M4 12a8 8 0 1 1 16 0M12 12l4-4M4 18h16",
  questions: "M4 20V4M4 20h16M8 15l4-5 3 3 5-7",
  ask: "M5 5h14v10H11l-5 4v-4H5zM9 10h6",
  alarms: "M6 17V11a6 6 0 0 1 12 0v6l1 1H5zM10.5 21h3",
  cloud: "M7 18a4 4 0 0 1 0-8 5.5 5.5 0 0 1 10.5 1A3.5 3.5 0 0 1 17 18z",
  plan: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4v6M9 14v6",
  keys: "M8 16a4 4 0 1 1 3.5-6H21v3h-2v3h-3v-3h-4.5A4 4 0 0 1 8 16z",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  open: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 6.5-2",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
  cross: "M6 6l12 12M18 6L6 18",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">
      <path d={PATHS[name] ?? ""} />
    </svg>
  );
}

/** A fault in one view must not take the navigation with it. */
export class Boundary extends Component<{ children: ComponentChildren }, { fault: string | null }> {
  override state = { fault: null as string | null };
  static override getDerivedStateFromError(error: unknown) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
  override render() {
    if (this.state.fault === null) return this.props.children;
    return <Fault refusal={{ error: `${T.fault_of_page} ${this.state.fault}`, exit_code: 0 }} />;
  }
}

/** Text with the commands in backticks as code. Text nodes alone: it may come from the cloud. */
export function Words({ of }: { of: string }) {
  return <>{of.split("`").map((part, i, all) => (i % 2 === 1 && i < all.length - 1 ? <code key={i}>{part}</code> : i % 2 === 1 ? `\`${part}` : part))}</>;
}
const worded = (children: ComponentChildren): ComponentChildren => (typeof children === "string" ? <Words of={children} /> : children);

export function Fault({ refusal }: { refusal: Refusal }) {
  return (
    <p class="fault" role="alert">
      <Words of={refusal.error} />
    </p>
  );
}

export function Note({ children, warn }: { children: ComponentChildren; warn?: boolean }) {
  return <p class={warn ? "note warn" : "note"}>{worded(children)}</p>;
}

export function Progress({ share, label }: { share: number | null; label: string }) {
  return (
    <div class="progress" role="progressbar" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={share === null ? undefined : Math.round(share * 100)}>
      <div class={share === null ? "bar unknown" : "bar"} style={share === null ? undefined : { width: `${(share * 100).toFixed(1)}%` }} />
    </div>
  );
}

/** Facts, name beside value. */
export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{worded(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface Loaded<A> {
  value: A | null;
  fault: Refusal | null;
  loading: boolean;
  again: () => void;
}

/** Loads when `key` changes; an answer that comes after the next request is dropped. */
export function useLoad<A>(key: string, load: (signal: AbortSignal) => Promise<A>): Loaded<A> {
  const [turn, set_turn] = useState(0);
  const [state, set] = useState<{ key: string; value: A | null; fault: Refusal | null; loading: boolean }>({ key: "", value: null, fault: null, loading: true });
  useEffect(() => {
    const stop = new AbortController();
    set((before) => ({ key, value: before.key === key ? before.value : null, fault: null, loading: true }));
    load(stop.signal).then(
      (value) => !stop.signal.aborted && set({ key, value, fault: null, loading: false }),
      (error) => !stop.signal.aborted && !was_aborted(error) && set((before) => ({ key, value: before.value, fault: refusal_of(error), loading: false })),
    );
    return () => stop.abort();
  }, [key, turn]);
  return { value: state.key === key ? state.value : null, fault: state.fault, loading: state.loading || state.key !== key, again: () => set_turn(turn + 1) };
}

/** A button that runs something long: it says so, and shows the refusal beside it. */
export function Action({ run, children, kind, disabled }: { run: () => Promise<unknown>; children: ComponentChildren; kind?: string; disabled?: boolean }) {
  const [busy, set_busy] = useState(false);
  const [fault, set_fault] = useState<Refusal | null>(null);
  const there = useRef(true);
  useEffect(() => () => void (there.current = false), []);
  const click = async () => {
    set_busy(true);
    set_fault(null);
    try {
      await run();
    } catch (error) {
      if (there.current && !was_aborted(error)) set_fault(refusal_of(error));
    }
    if (there.current) set_busy(false);
  };
  return (
    <>
      <button class={kind} disabled={busy || disabled} aria-busy={busy} onClick={() => void click()}>
        {children}
      </button>
      {fault && <Fault refusal={fault} />}
    </>
  );
}

/** A modal of the browser's own: focus stays inside, Escape closes. */
export function Dialog({ title, close, children, wide }: { title: string; close: () => void; children: ComponentChildren; wide?: boolean }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} class={wide ? "wide" : undefined} aria-label={title} onCancel={(event) => (event.preventDefault(), close())}>
      <div class="dialog-head">
        <h2>{title}</h2>
        <button class="quiet icon-button" aria-label={T.close} onClick={close}>
          <Icon name="cross" />
        </button>
      </div>
      {children}
    </dialog>
  );
}

/** A table that scrolls sideways, and can be scrolled by keys. `after` stands below it, in the same region. */
export function Table({ label, kind, children, after }: { label: string; kind?: string; children: ComponentChildren; after?: ComponentChildren }) {
  return (
    <div class={kind ? `scroll ${kind}` : "scroll"} tabIndex={0} role="region" aria-label={label}>
      <table>{children}</table>
      {after}
    </div>
  );
}

/** A choice of a few, as one row of buttons. */
export function Choice<V extends string>({ label, value, of, choose }: { label: string; value: V; of: [V, string][]; choose: (value: V) => void }) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {of.map(([one, text]) => (
        <button key={one} aria-pressed={one === value} onClick={() => choose(one)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** Offers the browser a file. The address of the bytes is given back at once. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
