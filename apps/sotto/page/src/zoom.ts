// Which span and which group a zoom asks for.
import type { Ask, PlantInfo } from "./api";
import { channels_in } from "./charts/kind";
import { local_of_ms, ms_of_local } from "./format";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** The groups that `--prefetch` loads of all there is, whatever is looked at. */
export const PREFETCHED = ["month", "day", "hour"];
/** From coarse to fine. */
const GROUPS: [string, number][] = [
  ["year", 365 * DAY],
  ["month", 30 * DAY],
  ["week", 7 * DAY],
  ["day", DAY],
  ["hour", 60 * MINUTE],
  ["15m", 15 * MINUTE],
  ["5m", 5 * MINUTE],
  ["1m", MINUTE],
  ["10s", 10_000],
  ["1s", 1000],
];
const UNITS: Record<string, number> = { second: 1000, m: MINUTE, min: MINUTE, minute: MINUTE, h: 60 * MINUTE, hour: 60 * MINUTE, d: DAY, day: DAY, week: 7 * DAY, month: 30 * DAY, quarter: 91 * DAY, year: 365 * DAY };
/** Groups that a chart gets at most: more than these a screen does not show apart. */
const ROWS = 750;

export const group_ms = (by: string): number | null => {
  const found = /^(\d*)\s*([a-z]+?)s?$/.exec(by === "1s" || /^\d+s$/.test(by) ? `${by.slice(0, -1)}second` : by);
  const unit = found && UNITS[found[2]!];
  return unit ? unit * (found[1] ? Number(found[1]) : 1) : null;
};

/** The finest group of a span that a screen shows, no finer than the readings of the slowest channel. */
export function group_for(span_ms: number, text: string, plant: PlantInfo): string {
  const channels = channels_in(text, plant).map((name) => plant.channels[name]!);
  const slowest = channels.reduce((a, b) => (b.every_ms > a.every_ms ? b : a), channels[0] ?? { every: "1s", every_ms: 1000 });
  const single = /^\d+[smhd]$/.test(slowest.every) ? [[slowest.every, slowest.every_ms] as [string, number]] : [];
  const fixed = plant.prefetch ? GROUPS.filter(([name]) => PREFETCHED.includes(name)) : null;
  if (fixed) return fixed.filter(([, size]) => size >= slowest.every_ms && span_ms / size <= ROWS).at(-1)?.[0] ?? "month";
  const fits = [...GROUPS.filter(([, size]) => size > slowest.every_ms), ...single].filter(([, size]) => span_ms / size <= ROWS);
  return fits.at(-1)?.[0] ?? "year";
}

/** The start of the group of a time, as `by` divides time in the zone. */
function start_of(at: number, by: string, zone: string): number {
  const local = local_of_ms(at, zone);
  const [year, month, day] = [local.slice(0, 4), Number(local.slice(5, 7)), local.slice(0, 10)];
  const from = (text: string) => ms_of_local(text, zone);
  const two = (number: number) => String(number).padStart(2, "0");
  switch (by) {
    case "year":
      return from(`${year}-01-01`);
    case "quarter":
      return from(`${year}-${two(month - ((month - 1) % 3))}-01`);
    case "month":
      return from(`${local.slice(0, 7)}-01`);
    case "week":
      return from(mondays(at, zone).this_week);
    case "day":
      return from(day);
  }
  const size = group_ms(by) ?? DAY;
  // Parts of a day begin at its midnight: not on UTC's grid in zones of half an hour.
  return size < DAY ? from(day) + Math.floor((at - from(day)) / size) * size : from(day);
}

/** The span in whole groups, so that none at an edge is cut. */
export function aligned(from: number, to: number, by: string, zone: string): [number, number] {
  const size = group_ms(by) ?? DAY;
  const start = start_of(from, by, zone);
  let end = start_of(to, by, zone);
  // The start of the next group: a little more than a group behind the start of this one.
  if (end < to) end = start_of(end + size + (size >= 30 * DAY ? 5 * DAY : size >= DAY ? DAY / 8 : 0), by, zone);
  return [start, end > start ? end : start + size];
}

export interface View {
  /** Milliseconds, in whole groups; null: all there is. */
  span: [number, number] | null;
  /** null: the group of the question. */
  by: string | null;
}

/** The request of a question in a view, whose span is of whole groups. */
export function ask_of(question: string, view: View, values: Record<string, string>): Ask {
  const ask: Ask = { question };
  if (view.span) {
    const [from, to] = view.span;
    // Of UTC: the hour that comes twice in autumn has one name alone in local time.
    const utc = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`;
    ask.since = utc(Math.floor(from / MINUTE) * MINUTE);
    // The end is the start of the next minute: the last group must be whole.
    ask.until = utc(Math.ceil(to / MINUTE) * MINUTE);
  }
  if (view.by) ask.by = view.by;
  if (Object.keys(values).length > 0) ask.with = values;
  return ask;
}

/** Monday 00:00 of the week of a time, in the zone; and that of the week before. */
export function mondays(at: number, zone: string): { this_week: string; last_week: string; next_week: string } {
  const date = new Date(`${local_of_ms(at, zone).slice(0, 10)}T00:00:00Z`);
  const back = (date.getUTCDay() + 6) % 7;
  const day = (offset: number) => new Date(date.getTime() + offset * DAY).toISOString().slice(0, 10);
  return { this_week: day(-back), last_week: day(-back - 7), next_week: day(7 - back) };
}
