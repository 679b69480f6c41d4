// A chart over time: lines, or columns side by side, bounds as bands, gaps as gaps, coverage and assurance as strips. Canvas by uPlot.
import uPlot from "uplot";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bound_text, local_of_ms, number, percent, whole, with_unit, zoned_date } from "../format";
import { T } from "../texts";
import { useShared } from "../store";
import { time_labels } from "./axis";
import { align, marks, visible } from "./decimate";
import { colour, resolved, resolved_colour } from "./palette";
import { nearest, span_of, type Series } from "./series";
import { useWidth } from "./width";

declare global {
  interface Window {
    /** Script time of each redraw in milliseconds, for the tests. */
    __sottoTimings?: { redraws: number[] };
  }
}
const timings = (window.__sottoTimings ??= { redraws: [] });
/** Redraws that are remembered; the oldest go. */
const REMEMBERED = 1000;

export interface TimeProps {
  series: Series[];
  zone: string;
  height: number;
  label: string;
  span?: [number, number] | null;
  /** A person dragged over this span. */
  zoom?: (from: number, to: number) => void;
  small?: boolean;
}

export function TimeChart(props: TimeProps) {
  const { series, zone, height, label, small } = props;
  const [holder, width] = useWidth<HTMLDivElement>();
  const plot = useRef<uPlot | null>(null);
  const zoom = useRef(props.zoom);
  zoom.current = props.zoom;
  const { theme } = useShared();
  const dark = useDark();
  const span = useMemo(() => props.span ?? span_of(series), [series, props.span?.[0], props.span?.[1]]);
  const [at, set_at] = useState<number | null>(null);
  const shape = series.map((one) => `${one.key}${one.style}${one.has_bound}${one.columns}`).join("\n") + zone + dark + theme + small;

  useEffect(() => {
    if (!holder.current || width < 40) return;
    const started = { at: 0 };
    const made = new uPlot(options(), [[]], holder.current);
    plot.current = made;
    draw();
    return () => {
      plot.current = null;
      made.destroy();
    };

    function draw() {
      started.at = performance.now();
      made.batch(() => {
        made.setData(data_of(series, span, width), false);
        made.setScale("x", { min: span[0], max: span[1] });
      });
    }

    function options(): uPlot.Options {
      const ink = resolved("--soft");
      const line = resolved("--line");
      const standing = stands(series, width);
      const list: uPlot.Series[] = [{}];
      const bands: uPlot.Band[] = [];
      for (const [place, one] of series.entries()) {
        const stroke = resolved_colour(one.style);
        list.push({
          label: one.label,
          stroke,
          width: standing ? 0 : one.shift ? 1.1 : 1.6,
          alpha: one.shift ? (standing ? 0.5 : 0.75) : 1,
          dash: one.dash,
          points: { show: !standing && !small && one.from.length < width / 12, size: 4, fill: stroke },
          ...(standing ? { fill: stroke, paths: (u: uPlot) => columns_path(u, series, place) } : {}),
        });
        if (one.has_bound) {
          const at = list.length;
          list.push({ stroke: "transparent", width: 0, points: { show: false } }, { stroke: "transparent", width: 0, points: { show: false } });
          if (!standing) bands.push({ series: [at, at + 1], fill: `${stroke}38` });
        }
      }
      const font = "12px system-ui, sans-serif";
      const grid = { stroke: line, width: 1 };
      return {
        width,
        height,
        ms: 1,
        tzDate: (ms) => zoned_date(ms, zone),
        legend: { show: false },
        cursor: {
          y: false,
          points: { show: !small && !standing },
          drag: { x: props.zoom !== undefined, y: false, setScale: false },
        },
        scales: { x: { time: true, range: (_, min, max) => [min, max] }, y: { range: (_, min, max) => range_of(min, max, series) } },
        padding: [8, 24, 0, 0],
        axes: [
          { stroke: ink, font, grid: { ...grid, show: !small }, ticks: { ...grid, size: 4 }, space: small ? 64 : 76, size: 40, values: (_, splits, __, ___, step) => time_labels(splits, step, zone) },
          { stroke: ink, font, grid, ticks: { show: false }, size: (u, values) => axis_width(u, values), gap: 6, space: small ? 30 : 40, values: (_, splits) => splits.map((value) => number(value)) },
        ],
        series: list,
        bands,
        hooks: {
          setCursor: [(u) => set_at(u.cursor.left != null && u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null)],
          setSelect: [
            (u) => {
              if (u.select.width < 6) return;
              const from = u.posToVal(u.select.left, "x");
              const to = u.posToVal(u.select.left + u.select.width, "x");
              u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              zoom.current?.(from, to);
            },
          ],
          draw: [
            (u) => {
              if (standing) whiskers(u, series, span);
              strips(u, series, span);
              if (started.at > 0) {
                timings.redraws.push(performance.now() - started.at);
                if (timings.redraws.length > REMEMBERED) timings.redraws.shift();
                started.at = 0;
              }
            },
          ],
        },
      };
    }
  }, [shape, series, span, width, height]);

  const keys = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const first = series[0];
    if (!step || !first || first.from.length === 0 || !plot.current) return;
    event.preventDefault();
    const now = at === null ? (step > 0 ? -1 : first.from.length) : nearest(first, at);
    const next = Math.min(first.from.length - 1, Math.max(0, now + step));
    const x = (first.from[next]! + first.to[next]!) / 2;
    plot.current.setCursor({ left: plot.current.valToPos(x, "x"), top: 10 });
    set_at(x);
  };
  const marked = useMemo(() => ({ missing: series.some((s) => s.missing.some((n) => n > 0)), unchecked: series.some((s) => s.unchecked.some((n) => n > 0)) }), [series]);
  return (
    <div class="time-chart">
      <div class="plot" data-drawn={stands(series, width) ? "columns" : "lines"} ref={holder} tabIndex={0} role="group" aria-roledescription={T.chart.role} aria-label={label} style={{ minHeight: `${height}px` }} onKeyDown={keys} onBlur={() => set_at(null)} />
      {at !== null && !small && <ReadOut series={series} at={at} zone={zone} width={width} share={(at - span[0]) / (span[1] - span[0])} />}
      {!small && (marked.missing || marked.unchecked) && (
        <p class="marks">
          {marked.missing && <span class="mark missing">{T.chart.missing}</span>}
          {marked.unchecked && <span class="mark unchecked">{T.chart.unchecked}</span>}
        </p>
      )}
    </div>
  );
}

/** Pixels of a chart beside its plot. */
const AXIS = 60;
/** Pixels of a column at least if several stand side by side, and at most. */
const NARROWEST = 2;
const WIDEST = 60;

/** True if all series are sums over groups of one length, and a chart of this width has room for their columns. */
export function stands(series: Series[], width: number): boolean {
  const lengths = series.map((one) => (one.to[0] ?? 0) - (one.from[0] ?? 0));
  // Months differ in length.
  const alike = Math.max(...lengths) <= 1.2 * Math.min(...lengths);
  const most = Math.max(...series.map((one) => one.from.length));
  const room = (width - AXIS) / (series.length * (series.length > 1 ? NARROWEST : 1));
  return series.length > 0 && series.every((one) => one.columns) && alike && most < room;
}

/** The left edge and the width of a column: those of one group stand side by side, in the order of the series. */
export function column_of([from, to]: [number, number], place: number, count: number, widest: number): [number, number] {
  const width = Math.min(((to - from) * 0.82) / count, widest);
  return [(from + to) / 2 + (place - count / 2) * width, width];
}

/** Calls `each` with every value that a span shows, and its column in pixels of the canvas. */
function each_column(u: uPlot, series: Series[], place: number, span: [number, number], each: (i: number, left: number, width: number) => void): void {
  const one = series[place]!;
  const [first, after] = visible(one, span[0], span[1]);
  for (let i = first; i < after; i += 1) {
    if (Number.isNaN(one.value[i]!)) continue;
    const [left, width] = column_of([u.valToPos(one.from[i]!, "x", true), u.valToPos(one.to[i]!, "x", true)], place, series.length, WIDEST * devicePixelRatio);
    each(i, left, width);
  }
}

function columns_path(u: uPlot, series: Series[], place: number): uPlot.Series.Paths {
  const path = new Path2D();
  const zero = u.valToPos(0, "y", true);
  const { min, max } = u.scales["x"]!;
  each_column(u, series, place, [min!, max!], (i, left, width) => {
    const top = u.valToPos(series[place]!.value[i]!, "y", true);
    path.rect(left, Math.min(top, zero), Math.max(width, 0.5), Math.abs(top - zero));
  });
  return { fill: path, stroke: null };
}

/** The bounds of columns. */
function whiskers(u: uPlot, series: Series[], span: [number, number]): void {
  u.ctx.save();
  u.ctx.fillStyle = resolved("--ink");
  series.forEach((one, place) => {
    if (!one.has_bound) return;
    each_column(u, series, place, span, (i, left, width) => {
      const [low, high] = [u.valToPos(one.value[i]! - one.bound[i]!, "y", true), u.valToPos(one.value[i]! + one.bound[i]!, "y", true)];
      u.ctx.fillRect(left + width / 2 - devicePixelRatio / 2, high, devicePixelRatio, low - high);
    });
  });
  u.ctx.restore();
}

function data_of(series: Series[], span: [number, number], width: number): uPlot.AlignedData {
  const aligned = align(series, span[0], span[1], Math.max(50, width - AXIS));
  const data: unknown[] = [aligned.x];
  for (const one of aligned.of) data.push(one.y, ...(one.high ? [one.high, one.low] : []));
  return data as uPlot.AlignedData;
}

/** Columns start at 0; lines fill the height, with some air. */
function range_of(min: number | null, max: number | null, series: Series[]): [number, number] {
  if (min == null || max == null || !Number.isFinite(min)) return [0, 1];
  const zero = series.every((one) => one.columns);
  const low = zero ? Math.min(0, min) : min;
  const high = zero ? Math.max(0, max) : max;
  const air = (high - low || Math.abs(high) || 1) * 0.06;
  return [zero && low === 0 ? 0 : low - air, high + air];
}

function axis_width(u: uPlot, values: string[] | null): number {
  if (!values) return 46;
  u.ctx.save();
  u.ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  const widest = Math.max(...values.map((text) => u.ctx.measureText(text ?? "").width)) / devicePixelRatio;
  u.ctx.restore();
  // As wide for most values: panels under each other share their left edge.
  return Math.max(46, Math.ceil(widest) + 12);
}

/** Below: groups with missing readings, as high as their share. Above: unchecked values. */
function strips(u: uPlot, series: Series[], span: [number, number]): void {
  const { left, top, width, height } = u.bbox;
  const found = marks(series, span[0], span[1], Math.max(1, Math.round(width)));
  const ratio = devicePixelRatio;
  u.ctx.save();
  u.ctx.fillStyle = resolved("--warn");
  found.missing.forEach((share, p) => {
    if (share > 0) u.ctx.fillRect(left + p, top + height - ratio * (3 + 9 * share), 1, ratio * (3 + 9 * share));
  });
  u.ctx.fillStyle = resolved("--alert");
  found.unchecked.forEach((is, p) => {
    if (is && Math.floor(p / (3 * ratio)) % 2 === 0) u.ctx.fillRect(left + p, top, 1, 3 * ratio);
  });
  u.ctx.restore();
}

function ReadOut({ series, at, zone, width, share }: { series: Series[]; at: number; zone: string; width: number; share: number }) {
  const found = series.slice(0, 12).flatMap((one) => {
    const i = nearest(one, at);
    return i < 0 || at > one.to[i]! + (one.to[i]! - one.from[i]!) * 2 ? [] : [{ one, i }];
  });
  const first = found[0];
  return (
    <div class={share > 0.5 ? "read-out left" : "read-out right"} aria-live="polite">
      <p>{first ? `${local_of_ms(first.one.from[first.i]!, zone).replace("T", " ")} – ${local_of_ms(first.one.to[first.i]!, zone).replace("T", " ")}` : T.chart.no_row}</p>
      {found.map(({ one, i }) => {
        const value = Number.isNaN(one.value[i]!) ? null : one.value[i]!;
        const missing = one.missing[i]!;
        return (
          <p key={one.key}>
            <Key of={one} column={stands(series, width)} /> {one.label}: <b>{value === null ? T.chart.no_value : with_unit(number(value, one.bound[i]!), one.unit)}</b>
            {one.has_bound && ` ${bound_text(value, one.bound[i]!)}`}
            <small>
              {T.chart.readings(whole(one.count[i]!))}
              {missing > 0 && T.chart.missing_of(whole(missing), percent(missing / (missing + one.count[i]!)))}
              {one.unchecked[i] ? T.chart.is_unchecked : ""}
            </small>
          </p>
        );
      })}
    </div>
  );
}

export function Key({ of, column }: { of: Series; column?: boolean }) {
  return (
    <svg class="key" width="22" height="10" aria-hidden="true">
      {column ? <rect x="6" width="10" height="10" fill={colour(of.style)} fill-opacity={of.shift ? 0.5 : 1} /> : <line x1="0" x2="22" y1="5" y2="5" stroke={colour(of.style)} stroke-width="2.5" stroke-dasharray={of.dash.join(" ")} />}
    </svg>
  );
}

function useDark(): boolean {
  const query = useMemo(() => matchMedia("(prefers-color-scheme: dark)"), []);
  const [dark, set] = useState(query.matches);
  useEffect(() => {
    const changed = () => set(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return dark;
}
