// Numbers, sizes and times as a person reads them.
import { T } from "./texts";

/** A bound below this share of its value is rounding, not error. */
const ROUNDING = 1e-9;

export const matters = (value: number, bound: number | null): boolean =>
  bound !== null && bound > Math.max(Math.abs(value), 1) * ROUNDING;

/** Decimals that a value deserves: two digits of its bound, or five significant ones if it is exact. */
function decimals(value: number, bound: number | null): number {
  const size = Math.abs(value);
  if (matters(value, bound)) return Math.min(9, Math.max(0, 1 - Math.floor(Math.log10(bound!))));
  if (size === 0 || Number.isInteger(value)) return 0;
  return Math.min(9, Math.max(0, 4 - Math.floor(Math.log10(size))));
}

const formats = new Map<number, Intl.NumberFormat>();
/** A number with so many decimals at most; with `least`, with that many at least. */
export function fixed(value: number, digits: number, least = digits): string {
  const key = digits * 100 + least;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat("en", { minimumFractionDigits: least, maximumFractionDigits: digits, useGrouping: "min2" as never });
    formats.set(key, format);
  }
  return format.format(value).replace("-", "−").replaceAll(",", "\u202f");
}

export function number(value: number | null, bound: number | null = null): string {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e12 || size < 1e-6)) return value.toExponential(3).replace("-", "−");
  return fixed(value, decimals(value, bound), 0);
}
export const bound_text = (value: number | null, bound: number | null): string =>
  value === null || bound === null ? "" : matters(value, bound) ? `± ${fixed(bound, Math.min(9, Math.max(0, 1 - Math.floor(Math.log10(bound)))), 0)}` : T.rows.exact;
export const with_unit = (text: string, unit: string): string => (unit ? `${text}\u00a0${unit}` : text);
export const whole = (value: number): string => fixed(Math.round(value), 0, 0);
export const percent = (share: number): string =>
  share > 0 && share < 0.001 ? "< 0.1 %" : `${fixed(share * 100, share < 0.1 ? 1 : 0, 0)}\u00a0%`;

export function bytes(count: number | null | undefined): string {
  if (count === null || count === undefined || !Number.isFinite(count)) return "–";
  if (count < 1000) return `${fixed(count, count < 100 && !Number.isInteger(count) ? 1 : 0, 0)}\u00a0B`;
  const units = ["kB", "MB", "GB", "TB"];
  let size = count / 1000;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${fixed(size, size < 10 ? 2 : size < 100 ? 1 : 0, 0)}\u00a0${units[unit]}`;
}

const UNITS: [number, string][] = [
  [86_400_000, T.calendar.day],
  [3_600_000, T.calendar.hour],
  [60_000, T.calendar.minute],
  [1000, T.calendar.second],
];
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}\u00a0${T.calendar.millisecond}`;
  for (const [size, unit] of UNITS) {
    if (ms >= size * 1.5 || (ms >= size && ms % size === 0) || size === 1000) {
      const count = ms / size;
      return `${fixed(count, count < 3 && size !== 1000 ? 1 : 0, 0)}\u00a0${unit}`;
    }
  }
  return "";
}
export const ago = (ms: number): string => (ms < 2000 ? T.time.now : T.time.ago(duration(ms)));

/** The local part of an RFC 3339 time: its offset is the plant's, the browser's zone does not matter. */
export const local = (time: string | null, seconds = false): string =>
  time === null ? "–" : `${time.slice(0, 10)} ${time.slice(11, seconds ? 19 : 16)}`.trim();
/** Two times as one text: the second one without its date if that is the first one's. */
export function span(from: string, to: string): string {
  const [begin, end] = [local(from), local(to)];
  return `${begin} – ${end.slice(begin.slice(0, 10) === end.slice(0, 10) ? 11 : 0)}`;
}
export const ms_of = (time: string): number => Date.parse(time);

const zoned = new Map<string, Intl.DateTimeFormat>();
function parts_of(ms: number, zone: string): Record<string, string> {
  let format = zoned.get(zone);
  if (!format) {
    const fields = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
    format = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", ...fields });
    zoned.set(zone, format);
  }
  return Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
}
/** 2026-01-31T12:00 in the plant's zone, as questions take it. */
export function local_of_ms(ms: number, zone: string): string {
  const p = parts_of(ms, zone);
  return `${p["year"]}-${p["month"]}-${p["day"]}T${p["hour"]}:${p["minute"]}`;
}
/** A Date whose local fields are those of the plant's zone, for axes. */
export function zoned_date(ms: number, zone: string): Date {
  const p = parts_of(ms, zone);
  const field = (name: string) => Number(p[name]);
  return new Date(field("year"), field("month") - 1, field("day"), field("hour"), field("minute"), field("second"), ((ms % 1000) + 1000) % 1000);
}
/** The inverse: milliseconds of a local time of the zone, right but for the doubled hour of a change of clocks. */
export function ms_of_local(text: string, zone: string): number {
  const guess = Date.parse(`${text.length === 10 ? `${text}T00:00` : text}:00Z`);
  const offset = (at: number) => Date.parse(`${local_of_ms(at, zone)}:00Z`) - Math.floor(at / 60_000) * 60_000;
  return guess - offset(guess - offset(guess));
}
