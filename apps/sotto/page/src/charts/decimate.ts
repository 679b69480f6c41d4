// At most two points for each column of pixels, the least and the largest: a chart of 10^5 points draws as fast as one of 10^3.
import type { Series } from "./series";

type Column = (number | null | undefined)[];
export interface Aligned {
  x: number[];
  /** For each series its values, and its bounds if it has some. null breaks a line; undefined belongs to another series. */
  of: { y: Column; low: Column | null; high: Column | null }[];
}

const middle = (s: Series, i: number): number => (s.from[i]! + s.to[i]!) / 2;

/** Indices [first, after) of the points that a span shows, and one more on each side, so that lines run to the edges. */
export function visible(s: Series, from: number, to: number): [number, number] {
  let first = 0;
  let after = s.from.length;
  while (first < after && s.to[first]! < from) first += 1;
  while (after > first && s.from[after - 1]! > to) after -= 1;
  return [Math.max(0, first - 1), Math.min(s.from.length, after + 1)];
}

export function align(series: Series[], from: number, to: number, pixels: number): Aligned {
  const ranges = series.map((s) => visible(s, from, to));
  const most = Math.max(0, ...ranges.map(([first, after]) => after - first));
  return most <= 2 * pixels ? exact(series, ranges) : thinned(series, ranges, from, to, pixels);
}

function exact(series: Series[], ranges: [number, number][]): Aligned {
  const points = series.map((s, k) => {
    const [first, after] = ranges[k]!;
    const out: [number, number][] = [];
    for (let i = first; i < after; i += 1) {
      // No row between two groups: an absent group is a gap too. The change of clocks is none.
      if (i > first && s.from[i]! - s.to[i - 1]! > (s.to[i]! - s.from[i]!) * 0.5) out.push([s.to[i - 1]! + 1, -1]);
      out.push([middle(s, i), i]);
    }
    return out;
  });
  const x = [...new Set(points.flatMap((list) => list.map(([at]) => at)))].sort((a, b) => a - b);
  const place = new Map(x.map((at, i) => [at, i]));
  return {
    x,
    of: series.map((s, k) => {
      const y: Column = new Array(x.length).fill(undefined);
      const low: Column | null = s.has_bound ? new Array(x.length).fill(undefined) : null;
      const high: Column | null = s.has_bound ? new Array(x.length).fill(undefined) : null;
      for (const [at, i] of points[k]!) {
        const p = place.get(at)!;
        const value = i < 0 || Number.isNaN(s.value[i]!) ? null : s.value[i]!;
        y[p] = value;
        if (low && high) {
          low[p] = value === null ? null : value - s.bound[i]!;
          high[p] = value === null ? null : value + s.bound[i]!;
        }
      }
      return { y, low, high };
    }),
  };
}

function thinned(series: Series[], ranges: [number, number][], from: number, to: number, pixels: number): Aligned {
  const step = (to - from) / pixels;
  const x: number[] = new Array(2 * pixels);
  for (let p = 0; p < pixels; p += 1) {
    x[2 * p] = from + (p + 0.25) * step;
    x[2 * p + 1] = from + (p + 0.75) * step;
  }
  return {
    x,
    of: series.map((s, k) => {
      const y: Column = new Array(2 * pixels).fill(undefined);
      const low: Column | null = s.has_bound ? new Array(2 * pixels).fill(undefined) : null;
      const high: Column | null = s.has_bound ? new Array(2 * pixels).fill(undefined) : null;
      const [first, after] = ranges[k]!;
      let i = first;
      while (i < after) {
        const column = Math.min(pixels - 1, Math.max(0, Math.floor((middle(s, i) - from) / step)));
        let least = -1;
        let largest = -1;
        let lowest = Infinity;
        let highest = -Infinity;
        for (; i < after; i += 1) {
          const its = Math.floor((middle(s, i) - from) / step);
          if (its > column && column < pixels - 1) break;
          const value = s.value[i]!;
          if (Number.isNaN(value)) continue;
          if (least < 0 || value < s.value[least]!) least = i;
          if (largest < 0 || value > s.value[largest]!) largest = i;
          lowest = Math.min(lowest, value - s.bound[i]!);
          highest = Math.max(highest, value + s.bound[i]!);
        }
        const at = 2 * column;
        const values: [number | null, number | null] = least < 0 ? [null, null] : least <= largest ? [s.value[least]!, s.value[largest]!] : [s.value[largest]!, s.value[least]!];
        [y[at], y[at + 1]] = values;
        if (low && high) {
          low[at] = low[at + 1] = least < 0 ? null : lowest;
          high[at] = high[at + 1] = least < 0 ? null : highest;
        }
        // Empty columns between two points are a gap if no group covers them.
        if (i < after && i > first && s.from[i]! - s.to[i - 1]! > (s.to[i]! - s.from[i]!) * 0.5 && at + 2 < y.length) y[at + 2] ??= null;
      }
      return { y, low, high };
    }),
  };
}

/** Share of missing readings, and whether a value is unchecked, for each column of pixels. */
export function marks(series: Series[], from: number, to: number, pixels: number): { missing: Float32Array; unchecked: Uint8Array } {
  const missing = new Float32Array(pixels);
  const unchecked = new Uint8Array(pixels);
  const scale = pixels / (to - from);
  for (const s of series) {
    const [first, after] = visible(s, from, to);
    for (let i = first; i < after; i += 1) {
      const share = s.missing[i]! > 0 ? s.missing[i]! / (s.missing[i]! + s.count[i]!) : 0;
      if (share === 0 && !s.unchecked[i]) continue;
      const a = Math.max(0, Math.floor((s.from[i]! - from) * scale));
      const b = Math.min(pixels, Math.max(a + 1, Math.round((s.to[i]! - from) * scale)));
      for (let p = a; p < b; p += 1) {
        if (share > missing[p]!) missing[p] = share;
        if (s.unchecked[i]) unchecked[p] = 1;
      }
    }
  }
  return { missing, unchecked };
}
