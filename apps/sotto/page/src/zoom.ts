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

/** The span in whole groups: days and longer begin at the zone's midnight, so that no group at an edge is cut. */
export function aligned(from: number, to: number, group: number, zone: string): [number, number] {
  if (group >= DAY) {
    const midnight = (at: number) => ms_of_local(local_of_ms(at, zone).slice(0, 10), zone);
    return [midnight(from), midnight(Math.max(to, from + group) + DAY - 1)];
  }
  const start = Math.floor(from / group) * group;
  return [start, Math.max(Math.ceil(to / group) * group, start + 2 * group)];
}

export interface View {
  /** Milliseconds; null: all there is. */
  span: [number, number] | null;
  /** null: the group of the question. */
  by: string | null;
}

export function ask_of(question: string, view: View, values: Record<string, string>, zone: string): Ask {
  const ask: Ask = { question };
  if (view.span) {
    ask.since = local_of_ms(view.span[0], zone);
    // The end is the start of the next minute: the last group must be whole.
    ask.until = local_of_ms(Math.ceil(view.span[1] / MINUTE) * MINUTE, zone);
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
