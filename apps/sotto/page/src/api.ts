// The contract between the page and `sotto console`: JSON over HTTP on loopback, written twice, here and in
// apps/sotto/src/console/. Every request but `POST /api/session` carries `authorization: Bearer KEY`, where KEY is that of the
// session. Requests that no person caused (polling, events) also carry `x-background: 1`: they do not keep a session awake.
//
// Refusals have a status from 400 on, and a `Refusal` as their body. 401: there is no session, show the field for a code. 423: the
// plant has a passphrase, and nobody gave it yet.
// Times are RFC 3339 in the plant's time zone; fields that end in `_ms` are milliseconds, of times since 1970.
// Answers that take long come as lines of JSON (`application/x-ndjson`), the last one with the result.

/** POST /api/session: a code of `sotto console --code`, or the plant's passphrase. */
export interface NewSession {
  code?: string;
  passphrase?: string;
}

export interface Session {
  /** Travels in the header `authorization`, never in a cookie or an address. */
  key: string;
  /** Milliseconds without a request of a person after which the session ends. */
  idle_ms: number;
}

/** The body of every refusal. */
export interface Refusal {
  /** What happened, to which thing, and what to do. May have several lines. */
  error: string;
  /** The exit code that the command line has for it. */
  exit_code: number;
  /** The character of the question at which the error is, counted from 0. */
  column?: number;
  /** The reason alone, without the place and the drawn caret, if there is a `column`. */
  reason?: string;
}

// --- the plant -----------------------------------------------------------------------------------------------------------

/** GET /api/plant: what is declared. Asked again after every change (`version` in Now differs). */
export interface PlantInfo {
  name: string;
  folder: string;
  time_zone: string;
  program_version: string;
  read_only: boolean;
  /** Charts load fixed groups of all there is when they open, so that zooming asks for nothing. */
  prefetch: boolean;
  cloud: string;
  channels: Record<string, ChannelInfo>;
  questions: Record<string, QuestionInfo>;
  /** The question names of each dashboard, in their order. "main" is there always; if sotto.toml has none, it has all questions. */
  dashboards: Record<string, string[]>;
  devices: Record<string, { channels: string[]; tags: string[]; public: boolean }>;
  alarms: Record<string, { when: string }>;
}

export interface ChannelInfo {
  unit: string;
  kind: "gauge" | "counter" | "state" | "amount" | "angle";
  range: [number, number];
  resolution: number;
  every: string;
  every_ms: number;
  /** The words of a state, the first is 0. */
  states: string[];
}

export interface QuestionInfo {
  text: string;
  /** Names of `$parameters`, which take their values when it is asked. */
  parameters: string[];
  precision?: number;
  /** The group of its rows: "day", "hour", "month", "15 minute"...; absent: one row, or a recurring group. */
  by?: string;
  /** True if another group may be asked for in place of its own (`by` of Ask): zooming works. */
  zooms: boolean;
  /** Why it cannot be read, if so. */
  refused?: string;
}

// --- now -----------------------------------------------------------------------------------------------------------------

/** GET /api/now, and the lines of GET /api/events: sent when something changed, and every 15 seconds. */
export interface Now {
  at_ms: number;
  /** A digest of sotto.toml and its time: ask for /api/plant again when it differs. */
  version: string;
  cloud: { url: string; reachable: boolean; error?: string };
  devices: DeviceStatus[];
  alarms: AlarmState[];
  backup: { file: string; at: string; age_ms: number } | null;
  notes: string[];
}

/** As `sotto status --json` has it. */
export interface DeviceStatus {
  device: string;
  enrolled: boolean;
  windows: number;
  received: number;
  without_secret: number;
  bytes: number;
  heard_at: string | null;
  heard_ms: number | null;
  late: boolean;
  late_stream: { stream: string; newest_ms: number; window_ms: number } | null;
  newest_ms: number | null;
  window_ms: number | null;
  channels: ChannelStatus[];
  generated: number;
  recoveries: number;
  recovered_at: string | null;
  repeated_masks: number;
  repeated_at: string | null;
  taken_numbers: number;
  taken_at: string | null;
  revoked: boolean;
  unusable: number;
  earlier: number;
  listed: boolean;
  troubles: { error: string; exit_code: number }[];
}

export interface ChannelStatus {
  channel: string;
  readings: number;
  missing: number;
  from: string | null;
  to: string | null;
  oldest: string | null;
  newest: string | null;
  newest_ms: number | null;
  window_ms: number | null;
  /** Readings that the device left out, by reason: "out-of-range", "no-such-time"... */
  left_out: Record<string, number>;
}

// --- alarms --------------------------------------------------------------------------------------------------------------

/** GET /api/alarms, and in Now. */
export interface AlarmState {
  alarm: string;
  when: string;
  devices: DeviceAlarm[];
  /** Its last 10 events, oldest first. */
  events: AlarmEvent[];
  /** Why its state cannot be told, if so. */
  failed?: string;
}

export interface DeviceAlarm {
  device: string;
  /** It lasts since then; null: it does not. */
  raised_since: string | null;
  /** Windows in a row that speak for a change, of `needed`. */
  run: number;
  needed: number;
  run_since: string | null;
  /** End of the last window that was looked at. */
  last: string | null;
  /** What that window said, in words. */
  value: string | null;
  /** Why its windows cannot be evaluated. */
  failing: string | null;
  put_aside: number;
  muted_until: string | null;
  muted_now: boolean;
  acknowledged: boolean;
}

export interface AlarmEvent {
  id: string;
  alarm: string;
  device: string;
  event: "raised" | "cleared" | "failed" | "still" | "muted" | "unmuted" | "acknowledged" | "test";
  when: string;
  from: string;
  to: string;
  value: number | null;
  bound: number | null;
  unit: string;
  readings: number;
  late: boolean;
  at: string;
  what: string;
  reason?: string;
  muted?: boolean;
}

/** POST /api/alarms/NAME/mute with Mute, /unmute and /acknowledge with Order: the AlarmState after it. */
export interface Order {
  device?: string;
  reason?: string;
}
export interface Mute extends Order {
  for_ms: number;
}

// --- questions -----------------------------------------------------------------------------------------------------------

/** POST /api/ask: lines of Asked. */
export interface Ask {
  /** The name of a declared question, or a text. */
  question: string;
  /** 2026-01-31, 2026-01-31T12:00, or -7d. */
  since?: string;
  until?: string;
  /** Values of its parameters. */
  with?: Record<string, string>;
  /** Another group in place of the question's: "year", "quarter", "month", "week", "day", "hour", "15m", "5m", "1m"..., or "window". */
  by?: string;
  /** Bytes of readings that may come down at most. Absent: 8 MB. */
  fetch?: number;
  /** Repeat the cloud's work on what carries no tags: then its values are shown. */
  verify?: boolean;
}

export type Asked =
  | { progress: { done: number; all: number } }
  | { answer: Answer; name: string | null }
  | { refused: Refusal };

/** As `sotto ask --json` has it. */
export interface Answer {
  version: number;
  question: string;
  /** How far all rows are checked; absent: each row tells. */
  assurance?: Assurance;
  rows: Row[];
  bytes_up: number;
  bytes_down: number;
  seconds: number;
  windows: number;
  jobs: number;
  cached?: number;
  evaluate_us: number;
  /** Number of runs of each operation in the cloud. */
  steps: Record<string, number>;
  schemes: string[];
  took_part: Record<string, number>;
  left_out: Record<string, Record<string, number>>;
  complete?: { device: string; stream: string; number: number; until: string; gaps?: boolean }[];
  /** Why it has no value, with the way out. */
  empty?: { exit_code: number; [more: string]: unknown };
  notes: string[];
  time_zone: string;
}

export type Assurance = "authenticated" | "repeated" | "sampled" | "unchecked" | string;

export interface Row {
  from: string;
  to: string;
  device: string | null;
  tag?: string;
  rank?: { place: number; [more: string]: unknown };
  name: string;
  value: number | null;
  /** The largest possible distance of the true value. */
  bound: number | null;
  unit: string;
  count: number;
  missing: number;
  assurance?: Assurance;
  held_back?: boolean;
  why?: string;
  bin?: [number, number];
  interpolated?: boolean;
  /** A recurring group: hour_of_day 0..23, weekday "mon".., day_of_month, month... */
  recurs?: { hour_of_day?: number; weekday?: string; [more: string]: unknown };
  at?: string;
}

/**
 * POST /api/check with { question }: Checked, or { refused: Refusal } with status 200. Browsers write a line to their console for
 * each status from 400 on, and typing meets many refusals. The page takes a status of 400 too. Nothing leaves this machine.
 */
export interface Check {
  question: string;
  precision?: number;
}
export interface Checked {
  /** The question in its canonical form. */
  text: string;
  remarks: string[];
  parameters: string[];
  by?: string;
  zooms: boolean;
  /** For each enrolled device that it concerns: why its latest bundle does not suffice, or null. */
  bundles: { device: string; lacks: string | null }[];
}

/** POST /api/complete with { text }: the text with its last word completed, each with a hint; at most 30. */
export interface Completion {
  text: string;
  help: string | null;
}

/** POST /api/explain with Ask: what it would take, and who learns what. As `sotto ask --explain --json`. */
export interface Explanation {
  version: number;
  question: string;
  time_zone: string;
  groups: number;
  streams: ExplainedStream[];
  bytes_up: number;
  bytes_down: number;
  computed: { name: string; from: string[] }[];
  learned: { cloud: string[]; owner: string[]; reader: string[] };
  [more: string]: unknown;
}
export interface ExplainedStream {
  device: string;
  stream: string;
  windows: number;
  from: string | null;
  to: string | null;
  period_ms: number;
  bytes_up: number;
  sums: number;
  of_one_window: number;
  requests: number;
  bytes_down: number;
  values: { what: string; channels: string[]; sums: number; of_one_window: number; calls: string[] }[];
  [more: string]: unknown;
}

/** POST /api/questions: declares it. With dry_run tells the price and writes nothing. */
export interface NewQuestion {
  name: string;
  question: string;
  precision?: number;
  dry_run: boolean;
}
export interface Declared {
  name: string;
  text: string;
  dry_run: boolean;
  remarks: string[];
  /** The price in words, a line each, as the command line tells it. */
  lines: string[];
  /** Bytes a day of each device, before and after. */
  prices: { device: string; before: number | null; after: number }[];
  bundles: { device: string; lacks: string | null }[];
}
// DELETE /api/questions/NAME: 204.
// PUT /api/dashboards/NAME with a list of question names: 204. An empty list removes the dashboard.

/** POST /api/export/FORMAT with Ask; FORMAT is csv, parquet or xlsx: the bytes of the file. */
export type ExportFormat = "csv" | "parquet" | "xlsx";

// --- answers -------------------------------------------------------------------------------------------------------------

/** GET /api/answers: the last 50 answers that are kept, newest first. */
export interface KeptAnswer {
  name: string;
  at: string;
  question: string;
  assurance: string;
  rows: number;
  verified: { at: string; holds: boolean } | null;
}
/** POST /api/answers/NAME/verify: lines of Verifying. */
export type Verifying =
  | { progress: { done: number; all: number } }
  | { verified: { holds: boolean; findings: string[]; tagged: number; repeated: number; windows: number; bytes: number; seconds: number } }
  | { refused: Refusal };

// --- what the cloud sees -------------------------------------------------------------------------------------------------

/** GET /api/devices/NAME: its page. */
export interface DevicePage {
  device: string;
  tags: string[];
  public: boolean;
  verifying_key: string | null;
  /** The latest last. */
  bundles: { made_at: string | null; streams: StreamInfo[] }[];
  unregistered: boolean;
  came_back: boolean;
}
export interface StreamInfo {
  name: string;
  scheme: string;
  channels: string[];
  period_ms: number;
  window_ms: number | null;
}

/** GET /api/devices/NAME/windows?before=POSITION: up to 50 windows, newest first. */
export interface WindowLine {
  stream: string;
  number: number;
  from: string;
  to: string;
  readings: number;
  missing: number;
  bytes: number;
  replaces: boolean;
  /** Asks for the windows before this one. */
  position: string;
}

/** GET /api/devices/NAME/windows/STREAM/NUMBER: the same window twice. */
export interface WindowSeen {
  cloud: {
    /** The facts of its head that the cloud reads, in words: name and value. */
    head: [string, string][];
    /** Bytes of the message, in all. */
    bytes: number;
    /** The encrypted part, in hexadecimal, at most 4,096 bytes of it. */
    body: string;
    body_bytes: number;
    tags: string[];
  };
  owner: {
    channels: { channel: string; unit: string; values: { at: string; value: number | null }[] }[];
    /** Why its readings cannot be shown, if so. */
    why?: string;
  };
}

// --- what if -------------------------------------------------------------------------------------------------------------

/** POST /api/plan: the plan with other settings. Nothing is written. */
export interface WhatIf {
  /** A question's text or name; absent: all declared ones. */
  question?: string;
  /** Another resolution of its channels, as a factor: 1, 10, 0.1. */
  resolution_factor?: number;
  /** Another time between readings, in milliseconds. */
  every_ms?: number;
  /** Pieces of open windows at this interval, as `--fresh`. */
  fresh_ms?: number;
  /** The longest window, in milliseconds. Absent: as long as the questions allow, at most a day. */
  window_ms?: number;
  /** Bits of security of ciphertexts: 128, 192 or 256. Sums have 256 always. */
  security_bits?: number;
}
export interface Planned {
  /** The streams for the questions that are possible. */
  devices: Record<string, PlannedStream[]>;
  /** The planned questions, and `alarm NAME` for each alarm: the reason why it would not be possible, or null. */
  questions: Record<string, string | null>;
  /** Streams that serve no question, and could not be sent. */
  unsent: { device: string; stream: string; channels: string[]; why: string }[];
}
export interface PlannedStream {
  stream: string;
  scheme: string;
  channels: string[];
  windows_a_day: number;
  window_ms: number;
  /** Milliseconds after which an answer can have a reading, at most. */
  delay_ms: number;
  readings_a_window: number;
  bytes_a_window: number;
  bytes_a_day: number;
  fresh_bytes_a_day?: number;
  bytes_a_reading: number;
  bytes_an_answer: number;
  security_bits: number | null;
  why: string;
  alternatives: { scheme: string; n: number | null; bytes_a_reading: number | null; window_bytes: number | null; why: string }[];
}

// --- keys and devices ----------------------------------------------------------------------------------------------------

/** GET /api/keys */
export interface Keys {
  has_passphrase: boolean;
  owner_key: string | null;
  cloud_keys: string[];
  /** A note with the way out, if no key of the cloud is pinned. */
  not_pinned: string | null;
  certificate: { hosts: string[]; until: string } | null;
  backup: { file: string; at: string; age_ms: number } | null;
  devices: Record<string, DevicePage>;
  faults: { error: string; exit_code: number }[];
}

/** POST /api/devices: adds a device, or with dry_run tells what it would send. */
export interface NewDevice {
  name: string;
  channels: string[];
  dry_run: boolean;
}
/** POST /api/devices/NAME/renew: a new bundle. */
export interface Bundle {
  device: string;
  /** The path of the file on this machine; null if dry_run. It holds the device's secret. */
  file: string | null;
  lines: string[];
}
/** POST /api/devices/NAME/qr: the bundle that this console has made, as a QR code. It holds the device's secret. */
export interface QrCode {
  device: string;
  /** Rows of 0 and 1. */
  rows: string[];
  /** The command that makes the bundle of a picture of the code. */
  reading: string;
}
// POST /api/devices/NAME/rename with { name }, POST /api/devices/NAME/remove: 204.

// POST /api/lock: 204, and ends the session.
// GET /api/licences: the licence texts of what is inside the page, plain text.
