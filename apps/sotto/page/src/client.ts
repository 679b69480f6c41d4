// Talks with the server. The key of the session lives in this module alone: not in storage, a cookie, an address or a title.
import type { Ask, Answer, Asked, NewSession, Refusal, Session, Verifying } from "./api";
import { T } from "./texts";

let key: string | null = null;
/** Time of the last request that a person caused, by performance.now(). */
let asked_at = 0;

export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly refusal: Refusal,
  ) {
    super(refusal.error);
  }
}

/** Called when the server knows no session (401), wants the passphrase (423), or answers or not. */
export const hooks = {
  ended: (_reason: "session" | "passphrase") => {},
  reached: (_answers: boolean) => {},
};

export interface Options {
  background?: boolean;
  signal?: AbortSignal | undefined;
}

export const has_key = () => key !== null;
export const forget_key = () => {
  key = null;
};
export const since_asked = () => performance.now() - asked_at;

async function send(method: string, path: string, body: unknown, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = {};
  if (key !== null) headers["authorization"] = `Bearer ${key}`;
  if (options.background) headers["x-background"] = "1";
  else asked_at = performance.now();
  if (body !== undefined) headers["content-type"] = "application/json";
  const mine = key;
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      ...(body !== undefined ? { body: JSON.stringify(body) } : {}),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    if (!options.signal?.aborted) hooks.reached(false);
    throw options.signal?.aborted ? error : new Refused(0, { error: T.link.console_away, exit_code: 0 });
  }
  hooks.reached(true);
  if (response.ok) return response;
  const refusal = await read_refusal(response);
  // An answer to a request of an earlier session says nothing about this one.
  if (mine === key && key !== null) {
    if (response.status === 401) hooks.ended("session");
    if (response.status === 423) hooks.ended("passphrase");
  }
  throw new Refused(response.status, refusal);
}

async function read_refusal(response: Response): Promise<Refusal> {
  try {
    const body = (await response.json()) as Partial<Refusal>;
    if (typeof body.error === "string") return { exit_code: 0, ...body, error: body.error };
  } catch {
    // No JSON: the status has to do.
  }
  return { error: T.link.status(response.status), exit_code: 0 };
}

export async function open_session(body: NewSession): Promise<Session> {
  const session = (await (await send("POST", "/api/session", body)).json()) as Session;
  key = session.key;
  return session;
}

export const get = async <A>(path: string, options?: Options): Promise<A> => (await send("GET", path, undefined, options)).json();
export const post = async <A>(path: string, body: unknown, options?: Options): Promise<A> => {
  const response = await send("POST", path, body, options);
  return response.status === 204 ? (undefined as A) : response.json();
};
export const put = async (path: string, body: unknown): Promise<void> => void (await send("PUT", path, body));
export const remove = async (path: string): Promise<void> => void (await send("DELETE", path, undefined));
export const post_bytes = async (path: string, body: unknown): Promise<Blob> => (await send("POST", path, body)).blob();
export const get_text = async (path: string): Promise<string> => (await send("GET", path, undefined)).text();

/** Characters of one line at most. A cloud that answers without end must not fill the browser's memory. */
const LINE = 1 << 27;

/** Calls `each` for every line of JSON. Returns when the server ends the answer. */
async function read_lines<L>(response: Response, each: (line: L) => void): Promise<void> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const pieces = decoder.decode(value, { stream: true }).split("\n");
    const last = pieces.pop() ?? "";
    for (const piece of pieces) {
      const line = parts.join("") + piece;
      parts = [];
      length = 0;
      if (line.trim()) each(JSON.parse(line) as L);
    }
    parts.push(last);
    length += last.length;
    if (length > LINE) {
      await reader.cancel();
      throw new Refused(0, { error: T.link.too_long, exit_code: 0 });
    }
  }
  const rest = parts.join("");
  if (rest.trim()) each(JSON.parse(rest) as L);
}

export const events = async <L>(path: string, each: (line: L) => void, signal: AbortSignal): Promise<void> =>
  read_lines(await send("GET", path, undefined, { background: true, signal }), each);

export interface Done {
  answer: Answer;
  name: string | null;
}

/** Asks, and waits for the answer. `progress` gets the share that is done, 0 to 1. */
export async function ask(body: Ask, options: Options = {}, progress: (share: number) => void = () => {}): Promise<Done> {
  let done: Done | null = null;
  let refused: Refusal | null = null;
  await read_lines<Asked>(await send("POST", "/api/ask", body, options), (line) => {
    if ("progress" in line) progress(line.progress.all > 0 ? line.progress.done / line.progress.all : 0);
    else if ("answer" in line) done = { answer: line.answer, name: line.name };
    else if ("refused" in line) refused = line.refused;
  });
  if (refused) throw new Refused(200, refused);
  if (!done) throw new Refused(0, { error: T.link.cut_off, exit_code: 0 });
  return done;
}

export type Verified = Extract<Verifying, { verified: unknown }>["verified"];

export async function verify(name: string, progress: (share: number) => void): Promise<Verified> {
  let verified: Verified | null = null;
  let refused: Refusal | null = null;
  const path = `/api/answers/${encodeURIComponent(name)}/verify`;
  await read_lines<Verifying>(await send("POST", path, {}), (line) => {
    if ("progress" in line) progress(line.progress.all > 0 ? line.progress.done / line.progress.all : 0);
    else if ("verified" in line) verified = line.verified;
    else if ("refused" in line) refused = line.refused;
  });
  if (refused) throw new Refused(200, refused);
  if (!verified) throw new Refused(0, { error: T.link.cut_off, exit_code: 0 });
  return verified;
}

/** The words of an error, for a person. */
export const words_of = (error: unknown): string =>
  error instanceof Refused ? error.refusal.error : error instanceof Error ? error.message : String(error);
export const refusal_of = (error: unknown): Refusal =>
  error instanceof Refused ? error.refusal : { error: words_of(error), exit_code: 0 };
export const was_aborted = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";
