// Which chart the rows of an answer ask for.
import type { Answer, PlantInfo, Row } from "../api";
import { T } from "../texts";

export type Kind = "empty" | "number" | "ranking" | "histogram" | "rose" | "bins_over" | "cycle" | "grid" | "time";

/** The channels that a text names. */
export const channels_in = (text: string, plant: PlantInfo | null): string[] =>
  Object.keys(plant?.channels ?? {}).filter((name) => new RegExp(`(^|[^\\w-])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}($|[^\\w-])`).test(text));

const group_of = (row: Row): string => `${row.from}\n${row.to}`;
export const cycles_of = (row: Row): [string, number | string][] =>
  Object.entries(row.recurs ?? {}).filter((entry): entry is [string, number | string] => typeof entry[1] === "number" || typeof entry[1] === "string");

export function kind_of(answer: Answer, plant: PlantInfo | null): Kind {
  const rows = answer.rows;
  const first = rows[0];
  if (!first) return "empty";
  const groups = new Set(rows.map(group_of));
  if (first.bin) {
    if (first.recurs || groups.size > 1) return "bins_over";
    const named = channels_in(answer.question, plant);
    const angle = named.length > 0 && named.every((name) => plant!.channels[name]!.kind === "angle");
    return angle ? "rose" : "histogram";
  }
  if (first.recurs) return cycles_of(first).length > 1 ? "grid" : "cycle";
  if (first.rank) return "ranking";
  if (groups.size === 1) return rows.length <= 6 ? "number" : "ranking";
  return "time";
}

const DAYS = Object.keys(T.calendar.weekdays);

export interface Cycle {
  /** All its values in their order, also those without a row. */
  keys: (number | string)[];
  label: (key: number | string) => string;
}

export function cycle_of(name: string, seen: (number | string)[]): Cycle {
  switch (name) {
    case "hour_of_day":
      return { keys: Array.from({ length: 24 }, (_, hour) => hour), label: (key) => String(key).padStart(2, "0") };
    case "weekday":
      return { keys: DAYS, label: (key) => T.calendar.weekdays[key] ?? String(key) };
    case "month":
    case "month_of_year":
      return { keys: Array.from({ length: 12 }, (_, month) => month + 1), label: (key) => T.calendar.months[Number(key) - 1] ?? String(key) };
    default:
      return { keys: [...new Set(seen)].slice(0, 200), label: String };
  }
}
