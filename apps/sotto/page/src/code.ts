// The code of an address that `sotto console` opens. It leaves the address and the history before anything else.
let code: string | null = null;

function strip(): void {
  const found = /^#code=(.{0,200})/.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", `${location.pathname}#/now`);
  code = found[1]!;
}

/** Takes codes out of the address, also while a session is open: then nobody uses them. */
export function watch_code(): void {
  strip();
  addEventListener("hashchange", strip);
}

/** The last code of the address, once. */
export function take_code(): string | null {
  const taken = code;
  code = null;
  return taken && /^[A-Za-z0-9_-]+$/.test(taken) ? taken : null;
}
