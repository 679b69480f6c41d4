// A chart as a file: SVG, or PNG drawn from it. Nothing leaves the browser.
import { save } from "../parts/basic";
import { number } from "../format";
import { T } from "../texts";
import { ticks, time_labels } from "./axis";
import { align, marks } from "./decimate";
import { colour, resolved } from "./palette";
import { span_of, type Series } from "./series";
import { column_of, stands } from "./time";

const SVG = "http://www.w3.org/2000/svg";
type Attributes = Record<string, string | number>;

function element(name: string, attributes: Attributes, parent?: Element, text?: string): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

/** Colours of the theme become their values: a file has no custom properties. */
function with_colours(svg: SVGElement): SVGElement {
  for (const one of [svg, ...svg.querySelectorAll("*")]) {
    for (const name of ["fill", "stroke"]) {
      const found = /^var\((--[\w-]+)\)$/.exec(one.getAttribute(name) ?? "");
      if (found) one.setAttribute(name, resolved(found[1]!));
    }
  }
  return svg;
}

const WIDTH = 1200;

/** Draws series as the canvas does: a panel for each unit, a line of keys, the question above. */
export function time_svg(series: Series[], span: [number, number] | null, zone: string, title: string): SVGElement {
  const units = [...new Set(series.map((one) => one.unit))].slice(0, 4);
  const panel = units.length > 1 ? 280 : 480;
  const top = 44;
  const height = top + units.length * panel + 40;
  const svg = frame(WIDTH, height, title);
  const [from, to] = span ?? span_of(series);
  const [left, right] = [74, WIDTH - 20];
  const x = (at: number) => left + ((right - left) * (at - from)) / (to - from);
  units.forEach((unit, u) => {
    const shown = series.filter((one) => one.unit === unit);
    const aligned = align(shown, from, to, right - left);
    const known = aligned.of.flatMap((one) => [...(one.low ?? one.y), ...(one.high ?? one.y)]).filter((value): value is number => typeof value === "number");
    let low = known.reduce((a, b) => Math.min(a, b), Infinity);
    let high = known.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!Number.isFinite(low)) [low, high] = [0, 1];
    if (shown.every((one) => one.columns)) [low, high] = [Math.min(0, low), Math.max(0, high)];
    if (low === high) high = low + 1;
    const [y0, y1] = [top + u * panel + panel - 34, top + u * panel + 18];
    const y = (value: number) => y0 - ((y0 - y1) * (value - low)) / (high - low);
    element("text", { x: 16, y: y1 - 6, fill: "var(--soft)" }, svg, unit);
    for (const tick of ticks(low, high, panel / 60)) {
      element("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), stroke: "var(--line)" }, svg);
      element("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end", fill: "var(--soft)" }, svg, number(tick));
    }
    const splits = Array.from({ length: 9 }, (_, i) => from + ((to - from) * i) / 8);
    time_labels(splits, (to - from) / 8, zone).forEach((label, i) => {
      label.split("\n").forEach((line, k) => element("text", { x: x(splits[i]!), y: y0 + 16 + 13 * k, "text-anchor": i === 0 ? "start" : i === 8 ? "end" : "middle", fill: "var(--soft)" }, svg, line));
    });
    const standing = stands(shown, right - left);
    shown.forEach((one, k) => {
      const column = aligned.of[k]!;
      const stroke = colour(one.style);
      if (standing) {
        one.value.forEach((value, i) => {
          if (Number.isNaN(value) || one.to[i]! <= from || one.from[i]! >= to) return;
          const [a, wide] = column_of([x(one.from[i]!), x(one.to[i]!)], k, shown.length, Infinity);
          const [b, c] = [Math.max(left, a), Math.min(right, a + wide)];
          if (c <= b) return;
          element("rect", { x: b.toFixed(1), width: (c - b).toFixed(1), y: y(Math.max(0, value)).toFixed(1), height: Math.abs(y(value) - y(0)).toFixed(1), fill: stroke, "fill-opacity": one.shift ? 0.5 : 1 }, svg);
          if (one.has_bound) element("line", { x1: (b + c) / 2, x2: (b + c) / 2, y1: y(value - one.bound[i]!), y2: y(value + one.bound[i]!), stroke: "var(--ink)" }, svg);
        });
        return;
      }
      if (column.high && column.low) {
        const edge = (values: (number | null | undefined)[]) => aligned.x.flatMap((at, i) => (typeof values[i] === "number" ? [`${x(at).toFixed(1)} ${y(values[i]!).toFixed(1)}`] : []));
        element("path", { d: `M${[...edge(column.high), ...edge(column.low).reverse()].join("L")}Z`, fill: stroke, "fill-opacity": 0.2 }, svg);
      }
      let d = "";
      let pen = false;
      aligned.x.forEach((at, i) => {
        const value = column.y[i];
        if (value === null) pen = false;
        if (typeof value !== "number") return;
        d += `${pen ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
        pen = true;
      });
      element("path", { d, fill: "none", stroke, "stroke-width": 1.6, "stroke-dasharray": one.dash.join(" "), "stroke-linejoin": "round", "stroke-linecap": "round" }, svg);
    });
  });
  strips(svg, series, [from, to], [left, right], [top + 12, top + units.length * panel - 34]);
  let at = left;
  for (const one of series.slice(0, 12)) {
    element("line", { x1: at, x2: at + 22, y1: height - 18, y2: height - 18, stroke: colour(one.style), "stroke-width": 2.5, "stroke-dasharray": one.dash.join(" ") }, svg);
    element("text", { x: at + 28, y: height - 14, fill: "var(--ink)" }, svg, one.label);
    at += 50 + one.label.length * 7;
  }
  return with_colours(svg);
}

/** The marks of the page's charts: a file must not hide them. */
function strips(svg: SVGElement, series: Series[], span: [number, number], [left, right]: [number, number], [above, below]: [number, number]): void {
  const found = marks(series, span[0], span[1], right - left);
  found.missing.forEach((share, p) => {
    if (share > 0) element("rect", { x: left + p, width: 1, y: below - 3 - 9 * share, height: 3 + 9 * share, fill: "var(--warn)" }, svg);
  });
  let unchecked = false;
  found.unchecked.forEach((is, p) => {
    if (is && p % 6 === 0) element("rect", { x: left + p, width: 3, y: above, height: 3, fill: "var(--alert)" }, svg);
    unchecked ||= is === 1;
  });
  if (unchecked) element("text", { x: right, y: above - 4, "text-anchor": "end", fill: "var(--alert)" }, svg, T.chart.unchecked);
}

function frame(width: number, height: number, title: string): SVGElement {
  const svg = element("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, "font-family": "system-ui, sans-serif", "font-size": 12 });
  element("title", {}, svg, title);
  element("rect", { width, height, fill: "var(--paper)" }, svg);
  element("text", { x: 16, y: 24, "font-size": 15, "font-weight": 600, fill: "var(--ink)" }, svg, title);
  return svg;
}

/** The SVG charts below an element, one under the other. */
export function drawn_svg(holder: Element, title: string): SVGElement | null {
  const found = [...holder.querySelectorAll<SVGSVGElement>("svg[role=img], .ranking svg")];
  if (found.length === 0) return null;
  const sizes = found.map((one) => one.getBoundingClientRect());
  const width = Math.max(...sizes.map((size) => size.width)) + 32;
  const svg = frame(width, 48 + sizes.reduce((sum, size) => sum + size.height + 12, 0), title);
  let top = 40;
  found.forEach((one, i) => {
    const copy = one.cloneNode(true) as SVGElement;
    copy.setAttribute("x", "16");
    copy.setAttribute("y", String(top));
    copy.setAttribute("width", String(sizes[i]!.width));
    svg.append(copy);
    top += sizes[i]!.height + 12;
  });
  return with_colours(svg);
}

const text_of = (svg: SVGElement): Blob => new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
export const save_svg = (svg: SVGElement, name: string): void => save(text_of(svg), `${name}.svg`);

export async function save_png(svg: SVGElement, name: string): Promise<void> {
  const address = URL.createObjectURL(text_of(svg));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * Number(svg.getAttribute("width"));
    canvas.height = 2 * Number(svg.getAttribute("height"));
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (blob) save(blob, `${name}.png`);
  } finally {
    URL.revokeObjectURL(address);
  }
}
