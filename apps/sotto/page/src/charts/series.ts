// Rows of answers as series of points over time.
import type { Answer, Row } from "../api";
import { matters, ms_of } from "../format";
import { dash, EARLIER } from "./palette";

export interface Series {
  key: string;
  label: string;
  unit: string;
  /** Index of its colour. */
  style: number;
  dash: number[];
  /** Added to its times, so that last week lies under this week. */
  shift: number;
  from: Float64Array;
  to: Float64Array;
  /** NaN: no value, the line breaks. */
  value: Float64Array;
  bound: Float64Array;
  missing: Float64Array;
  count: Float64Array;
  unchecked: Uint8Array;
  has_bound: boolean;
  /** Sums and counts stand as columns over their groups; means and extremes are lines. */
  columns: boolean;
}

const ADDS_UP = /^(increase|count|time|changes|sum|number|integral|total)\b/;

export const is_checked = (answer: Answer, row: Row): boolean => (row.assurance ?? answer.assurance ?? "unchecked") !== "unchecked";
export const subject = (row: Row): string => [row.device, row.tag].filter(Boolean).join(" · ");

export function series_of(answer: Answer, from_style = 0, shift = 0, suffix = ""): Series[] {
  const groups = new Map<string, Row[]>();
  for (const row of answer.rows) {
    if (row.bin || row.recurs) continue;
    const key = `${row.name}\n${row.device ?? ""}\n${row.tag ?? ""}`;
    const rows = groups.get(key);
    if (rows) rows.push(row);
    else groups.set(key, [row]);
  }
  const names = new Set(answer.rows.map((row) => row.name));
  let style = from_style;
  const all: Series[] = [];
  for (const [key, rows] of groups) {
    const first = rows[0]!;
    const about = subject(first);
    const label = (about === "" ? first.name : names.size === 1 ? about : `${first.name} · ${about}`) + suffix;
    all.push({ ...columns_of(answer, rows, shift), key: key + suffix, label, unit: first.unit, style, dash: shift === 0 ? dash(style) : EARLIER, shift, columns: ADDS_UP.test(first.name) });
    style += 1;
  }
  return all;
}

function columns_of(answer: Answer, rows: Row[], shift: number) {
  const timed = rows.map((row): [number, Row] => [ms_of(row.from), row]);
  timed.sort(([a], [b]) => a - b);
  const n = rows.length;
  const made = () => new Float64Array(n);
  const s = { from: made(), to: made(), value: made(), bound: made(), missing: made(), count: made(), unchecked: new Uint8Array(n), has_bound: false };
  timed.forEach(([from, row], i) => {
    s.from[i] = from + shift;
    s.to[i] = ms_of(row.to) + shift;
    s.value[i] = row.value ?? NaN;
    s.bound[i] = row.bound ?? 0;
    s.missing[i] = row.missing;
    s.count[i] = row.count;
    s.unchecked[i] = is_checked(answer, row) ? 0 : 1;
    if (row.value !== null && matters(row.value, row.bound)) s.has_bound = true;
  });
  return s;
}

/** Index of the point at or nearest to a time; -1 without points. */
export function nearest(series: Series, at: number): number {
  let low = 0;
  let high = series.from.length - 1;
  if (high < 0) return -1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (series.from[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function span_of(series: Series[]): [number, number] {
  let from = Infinity;
  let to = -Infinity;
  for (const one of series) {
    if (one.from.length === 0) continue;
    from = Math.min(from, one.from[0]!);
    to = Math.max(to, one.to[one.to.length - 1]!);
  }
  return from < to ? [from, to] : [0, 1];
}
