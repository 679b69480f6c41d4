// Labels of time axes, in the plant's zone.
import { zoned_date } from "../format";
import { T } from "../texts";

const MONTHS = T.calendar.months;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const two = (value: number): string => String(value).padStart(2, "0");

/** A split of days may lie an hour before midnight, where clocks change in the browser's zone or the plant's: it names the day that begins. */
const OFF = 2 * HOUR;

/** One label for each split; the larger unit is named where it changes. */
export function time_labels(splits: number[], step: number, zone: string): string[] {
  let before: Date | null = null;
  return splits.map((at) => {
    const date = zoned_date(step >= DAY ? at + OFF : at, zone);
    const last: Date | null = before;
    before = date;
    const year = last === null || last.getFullYear() !== date.getFullYear();
    if (step >= 360 * DAY) return String(date.getFullYear());
    if (step >= 27 * DAY) return year ? `${MONTHS[date.getMonth()]}\n${date.getFullYear()}` : MONTHS[date.getMonth()]!;
    const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`;
    if (step >= DAY) return year ? `${day}\n${date.getFullYear()}` : day;
    const clock = `${two(date.getHours())}:${two(date.getMinutes())}${step < 60_000 ? `:${two(date.getSeconds())}` : ""}`;
    return last === null || last.getDate() !== date.getDate() ? `${clock}\n${day}` : clock;
  });
}

/** Round steps for an axis of values: at most `most` of them. */
export function ticks(low: number, high: number, most: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? 10 * power;
  const out: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && out.length < 50; k += 1) out.push(Number((k * step).toPrecision(12)));
  return out;
}
