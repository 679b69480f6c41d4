// The chart of an answer, by the kind of its rows.
import { useMemo } from "preact/hooks";
import type { Answer, PlantInfo, Row } from "../api";
import { bound_text, local, number, percent, whole, with_unit } from "../format";
import { T } from "../texts";
import { Bars, Ranking, type Bar } from "./bars";
import { Heat, type Cell } from "./heat";
import { cycle_of, cycles_of, kind_of } from "./kind";
import { Panels } from "./panels";
import { Rose } from "./rose";
import { is_checked, subject, type Series } from "./series";

export interface ChartProps {
  answer: Answer;
  plant: PlantInfo;
  series: Series[];
  small?: boolean;
  span?: [number, number] | null;
  zoom?: ((from: number, to: number) => void) | undefined;
}

export function AnswerChart({ answer, plant, series, small, span, zoom }: ChartProps) {
  const kind = useMemo(() => kind_of(answer, plant), [answer, plant]);
  const label = T.chart.label(answer.question, answer.rows.length);
  switch (kind) {
    case "empty":
      return null;
    case "number":
      return <Numbers answer={answer} small={small ?? false} />;
    case "ranking":
      return <Ranking label={label} bars={answer.rows.slice(0, small ? 8 : 100).map((row) => bar_of(answer, row, subject(row) || row.name))} />;
    case "histogram":
      return (
        <ByName rows={answer.rows} small={small}>
          {(rows) => <Bars label={label} height={small ? 200 : 360} bars={rows.slice(0, BARS).map((row) => bar_of(answer, row, number(row.bin![0])))} edges={number(rows.at(-1)?.bin?.[1] ?? 0)} />}
        </ByName>
      );
    case "rose":
      return (
        <ByName rows={answer.rows} small={small}>
          {(rows) => <Rose label={label} rows={rows} size={small ? 220 : 420} />}
        </ByName>
      );
    case "cycle":
      return (
        <ByName rows={answer.rows} small={small}>
          {(rows, i) => <CycleBars answer={answer} rows={rows} label={label} height={small ? 200 : 320} style={i} />}
        </ByName>
      );
    case "grid":
      return (
        <ByName rows={answer.rows} small={small}>
          {(rows) => <Grid answer={answer} rows={rows} label={label} small={small ?? false} />}
        </ByName>
      );
    case "bins_over":
      return (
        <ByName rows={answer.rows} small={small}>
          {(rows) => <BinsOver answer={answer} rows={rows} label={label} small={small ?? false} />}
        </ByName>
      );
    case "time":
      return <Panels series={series} zone={answer.time_zone} label={label} small={small ?? false} span={span ?? null} zoom={zoom} />;
  }
}

export function title_of(answer: Answer, row: Row, group: string): string {
  const parts = [`${group}: ${row.value === null ? T.chart.no_value : with_unit(number(row.value, row.bound), row.unit)} ${bound_text(row.value, row.bound)}`.trimEnd(), T.chart.readings(whole(row.count))];
  if (row.missing > 0) parts.push(T.chart.missing_of(whole(row.missing), percent(row.missing / (row.missing + row.count))));
  if (!is_checked(answer, row)) parts.push(T.chart.is_unchecked);
  return parts.join("");
}
const bar_of = (answer: Answer, row: Row, label: string): Bar => ({
  label,
  value: row.value,
  bound: row.bound,
  unit: row.unit,
  title: title_of(answer, row, row.bin ? `${number(row.bin[0])} – ${number(row.bin[1])}` : label),
  marked: !is_checked(answer, row),
});

/** Bins that a histogram draws at most. */
const BARS = 1000;

/** One chart for each name and device; two at most when small, twelve at all. */
function ByName({ rows, small, children }: { rows: Row[]; small: boolean | undefined; children: (rows: Row[], index: number) => preact.ComponentChild }) {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = [row.bin ? "" : row.name, subject(row)].filter(Boolean).join(" · ");
    const list = groups.get(key);
    if (list) list.push(row);
    else groups.set(key, [row]);
  }
  const shown = [...groups].slice(0, small ? 1 : 12);
  return (
    <>
      {shown.map(([name, list], i) => (
        <div key={name} class="by-name">
          {groups.size > 1 && <p class="sub">{name}</p>}
          {children(list, i % 8)}
        </div>
      ))}
      {shown.length < groups.size && <p class="help">{T.more(groups.size - shown.length)}</p>}
    </>
  );
}

function Numbers({ answer, small }: { answer: Answer; small: boolean }) {
  return (
    <dl class={small ? "numbers small" : "numbers"}>
      {answer.rows.map((row, i) => (
        <div key={i}>
          <dt>{[row.name, subject(row)].filter(Boolean).join(" · ")}</dt>
          <dd>
            <b>{row.value === null ? T.chart.no_value : number(row.value, row.bound)}</b> <span>{row.unit}</span>
            <small>
              {bound_text(row.value, row.bound)}
              {T.chart.readings(whole(row.count))}
              {row.missing > 0 && T.chart.missing_of(whole(row.missing), percent(row.missing / (row.missing + row.count)))}
            </small>
            {!is_checked(answer, row) && <small class="alert">{T.rows.unchecked}</small>}
            {row.why && <small>{row.why}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function CycleBars({ answer, rows, label, height, style }: { answer: Answer; rows: Row[]; label: string; height: number; style: number }) {
  const name = cycles_of(rows[0]!)[0]![0];
  const cycle = cycle_of(name, rows.map((row) => cycles_of(row)[0]![1]));
  const by_key = new Map(rows.map((row) => [cycles_of(row)[0]![1], row]));
  const bars = cycle.keys.map((key): Bar => {
    const row = by_key.get(key);
    return row ? bar_of(answer, row, cycle.label(key)) : { label: cycle.label(key), value: null, bound: null, unit: "", title: "", marked: false };
  });
  return <Bars label={label} bars={bars} height={height} style={style} />;
}

const cell_of = (answer: Answer, row: Row | undefined, group: string): Cell | null =>
  row ? { value: row.value, title: title_of(answer, row, group), marked: row.missing > (row.missing + row.count) * 0.02 || !is_checked(answer, row) } : null;

function Grid({ answer, rows, label, small }: { answer: Answer; rows: Row[]; label: string; small: boolean }) {
  const names = cycles_of(rows[0]!).map(([name]) => name);
  const [a, b] = [names[0]!, names[1]!];
  const value = (row: Row, name: string) => cycles_of(row).find(([one]) => one === name)?.[1] ?? "";
  // The longer cycle lies along the chart.
  let across = cycle_of(a, rows.map((row) => value(row, a)));
  let down = cycle_of(b, rows.map((row) => value(row, b)));
  let [x, y] = [a, b];
  if (down.keys.length > across.keys.length) [across, down, x, y] = [down, across, b, a];
  const at = new Map(rows.map((row) => [`${value(row, x)}/${value(row, y)}`, row]));
  const cells = down.keys.map((line) => across.keys.map((column) => cell_of(answer, at.get(`${column}/${line}`), `${down.label(line)} ${across.label(column)}`)));
  return <Heat label={label} unit={rows[0]!.unit} columns={across.keys.map(across.label)} rows={down.keys.map(down.label)} cells={cells} small={small} />;
}

/** Groups that a heat map shows at most: the last ones. */
const COLUMNS = 200;
const BINS = 64;

function BinsOver({ answer, rows, label, small }: { answer: Answer; rows: Row[]; label: string; small: boolean }) {
  const label_of = (row: Row) => (row.recurs ? cycles_of(row).map(([name, key]) => cycle_of(name, []).label(key)).join(" ") : local(row.from).slice(0, row.from.slice(11, 16) === "00:00" ? 10 : 16));
  // The hour that comes twice in autumn has two groups of one name.
  const group = (row: Row) => (row.recurs ? label_of(row) : row.from);
  const labels = new Map(rows.map((row) => [group(row), label_of(row)]));
  const all = [...labels.keys()];
  const columns = all.slice(-COLUMNS);
  const bins = [...new Map(rows.map((row) => [row.bin![0], row.bin!])).values()].sort((a, b) => b[0] - a[0]).slice(0, BINS);
  const at = new Map(rows.map((row) => [`${group(row)}/${row.bin![0]}`, row]));
  const cells = bins.map((bin) => columns.map((column) => cell_of(answer, at.get(`${column}/${bin[0]}`), `${labels.get(column)}, ${number(bin[0])} – ${number(bin[1])}`)));
  return (
    <>
      <Heat label={label} unit="" columns={columns.map((column) => labels.get(column)!)} rows={bins.map((bin) => number(bin[0]))} cells={cells} small={small} from_zero />
      {all.length > COLUMNS && <p class="help">{T.chart.last_groups(COLUMNS, all.length)}</p>}
    </>
  );
}
