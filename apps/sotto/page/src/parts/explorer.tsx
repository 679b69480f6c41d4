// A question's chart, large: spans, zoom, comparison, table, export.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Ask, ExportFormat } from "../api";
import { ask_in_turn } from "../answers";
import { post_bytes } from "../client";
import { change, server_now, useShared } from "../store";
import { T } from "../texts";
import { AnswerChart } from "../charts/answer";
import { drawn_svg, save_png, save_svg, time_svg } from "../charts/export";
import { kind_of } from "../charts/kind";
import { series_of, span_of } from "../charts/series";
import { bytes, local_of_ms, ms_of_local } from "../format";
import { PREFETCHED, aligned, ask_of, group_for, group_ms, mondays, type View } from "../zoom";
import { Action, Choice, Fault, Progress, save } from "./basic";
import { Below } from "./below";
import { Rows } from "./rows";
import { useAsking } from "./asking";
import { Way } from "./way";

export interface ExplorerProps {
  /** A name or a text, as it is asked. */
  question: string;
  text: string;
  by: string | undefined;
  zooms: boolean;
  parameters: string[];
}
const DAY = 86_400_000;
const SPANS: [string, number][] = [
  ["day", DAY],
  ["week", 7 * DAY],
  ["month", 30 * DAY],
  ["year", 365 * DAY],
];
const FORMATS: ExportFormat[] = ["csv", "parquet", "xlsx"];
/** Bytes of readings that come down at most without a person's word, and with it. */
const FETCHED = 8_000_000;
const MOST_FETCHED = 512_000_000;
const ALL: View = { span: null, by: null };

export function Explorer({ question, text, by, zooms, parameters }: ExplorerProps) {
  const { plant, now, zoom_understood } = useShared();
  const zone = plant!.time_zone;
  const [view, set_view] = useState<View>(ALL);
  const [earlier, set_earlier] = useState<View[]>([]);
  const [pending, set_pending] = useState<View | null>(null);
  const [as, set_as] = useState<"chart" | "table">("chart");
  const [weeks, set_weeks] = useState(false);
  const [over, set_over] = useState<string[]>([]);
  const [typed, set_typed] = useState<Record<string, string>>({});
  const [values, set_values] = useState<Record<string, string> | null>(parameters.length === 0 ? {} : null);
  const [way, set_way] = useState(false);
  const [fetch, set_fetch] = useState(FETCHED);
  const [verify, set_verify] = useState(false);
  const chart = useRef<HTMLDivElement>(null);
  const end = now ? Math.max(0, ...now.devices.map((device) => device.newest_ms ?? 0)) || server_now() : server_now();

  // With --prefetch the cloud is asked for all there is, in fixed groups: what is looked at shows in no request.
  const asked_view = plant!.prefetch ? { ...view, span: null } : view;
  const plain = useMemo((): Ask | null => values && ask_of(question, asked_view, values), [question, view, values]);
  useEffect(() => {
    if (!plant!.prefetch || !zooms || !values) return;
    const stop = new AbortController();
    const load = async () => {
      for (const group of PREFETCHED) await ask_in_turn(ask_of(question, { span: null, by: group }, values), { background: true, signal: stop.signal }, () => {});
    };
    // A group that cannot be asked for is refused where it is looked at.
    const again = () => void load().catch(() => {});
    again();
    const timer = setInterval(again, 300_000);
    return () => (clearInterval(timer), stop.abort());
  }, [question, values]);
  /** The view of another question: in whole groups of its own, if it has others. */
  const view_of = (name: string): View => {
    const own = plant!.questions[name]?.by;
    if (!asked_view.span || asked_view.by || !own || own === by) return asked_view;
    return { span: aligned(asked_view.span[0], asked_view.span[1], own, zone), by: null };
  };
  const week = useMemo(() => mondays(end, zone), [Math.floor(end / DAY), zone]);
  const asks = useMemo((): Ask[] | null => {
    if (!plain || !values) return null;
    if (weeks) {
      const group = zooms ? { by: group_for(28 * DAY, text, plant!) } : {};
      const more = Object.keys(values).length > 0 ? { with: values } : {};
      return [
        { question, since: week.this_week, until: week.next_week, ...group, ...more },
        { question, since: week.last_week, until: week.this_week, ...group, ...more },
      ];
    }
    const more = { ...(fetch > FETCHED ? { fetch } : {}), ...(verify ? { verify } : {}) };
    return [{ ...plain, ...more }, ...over.map((name) => ({ ...ask_of(name, view_of(name), {}), ...more }))];
  }, [plain, weeks, over, week, zooms, fetch, verify]);
  const asking = useAsking(asks, false, plant!.prefetch);
  const answer = asking.done?.[0]?.answer ?? null;
  const shift = weeks ? ms_of_local(week.this_week, zone) - ms_of_local(week.last_week, zone) : 0;
  const series = useMemo(() => {
    const out = answer ? series_of(answer, 0, 0, weeks ? T.explorer.this_week : "") : [];
    asking.done?.slice(1).forEach((done) => {
      // Last week has the colours of this week; other questions follow in theirs.
      out.push(...series_of(done.answer, weeks ? 0 : out.length, weeks ? shift : 0, weeks ? T.explorer.last_week : ""));
    });
    return out;
  }, [asking.done]);
  const kind = answer ? kind_of(answer, plant) : "empty";
  const over_time = kind === "time";
  const span = useMemo((): [number, number] | null => (weeks ? [ms_of_local(week.this_week, zone), ms_of_local(week.next_week, zone)] : view.span), [weeks, view, week]);

  const look = (next: View) => {
    // All of it, in the question's own groups, is what dashboards ask too: nothing new to learn from that.
    if (!zoom_understood && !plant!.prefetch && next.span) return set_pending(next);
    set_earlier([...earlier, view].slice(-30));
    set_view(next);
    return undefined;
  };
  const zoom = (from: number, to: number) => {
    const coarse = by ? (group_ms(by) ?? Infinity) : Infinity;
    const fine = group_for(to - from, text, plant!);
    // A span that the question's own groups already fill needs no others.
    const group = zooms ? (group_ms(fine)! >= coarse && (to - from) / coarse >= 60 ? null : fine) : null;
    set_weeks(false);
    look({ span: aligned(from, to, group ?? by ?? "1m", zone), by: group });
  };
  const shown = span ?? (series.length > 0 ? span_of(series) : [end - 365 * DAY, end]);
  const move = (factor: number, by_share: number) => {
    const middle = (shown[0] + shown[1]) / 2 + (shown[1] - shown[0]) * by_share;
    const half = ((shown[1] - shown[0]) * factor) / 2;
    zoom(middle - half, middle + half);
  };
  const svg = () => (over_time ? time_svg(series, span, zone, text) : chart.current && drawn_svg(chart.current, text));
  const file = question === text ? "answer" : question;

  if (!values) {
    return (
      <form class="panel row" onSubmit={(event) => (event.preventDefault(), set_values({ ...typed }))}>
        {parameters.map((name) => (
          <div class="field" key={name}>
            <label for={`with-${name}`}>{T.explorer.value_of(name)}</label>
            <input id={`with-${name}`} value={typed[name] ?? ""} onInput={(event) => set_typed({ ...typed, [name]: event.currentTarget.value })} />
          </div>
        ))}
        <button class="primary" disabled={parameters.some((name) => !typed[name]?.trim())}>
          {T.ask.ask}
        </button>
      </form>
    );
  }
  return (
    <div class="explorer">
      <div class="tools">
        <Choice
          label={T.explorer.span}
          value={weeks ? "" : view.span ? (SPANS.find(([, size]) => Math.abs(view.span![1] - view.span![0] - size) < DAY / 2 && view.span![1] >= end - DAY)?.[0] ?? "") : "all"}
          of={[...SPANS.map(([name]): [string, string] => [name, T.explorer.spans[name as "day"]]), ["all", T.explorer.spans.all]]}
          choose={(name) => {
            const size = SPANS.find(([one]) => one === name)?.[1];
            set_weeks(false);
            if (size) zoom(end - size, end);
            else look(ALL);
          }}
        />
        {over_time && (
          <div class="choice" role="group" aria-label={T.explorer.zoom}>
            <button aria-label={T.explorer.earlier} title={T.explorer.earlier} onClick={() => move(1, -0.5)}>←</button>
            <button aria-label={T.explorer.out} title={T.explorer.out} onClick={() => move(2, 0)}>−</button>
            <button aria-label={T.explorer.in} title={T.explorer.in} onClick={() => move(0.5, 0)}>+</button>
            <button aria-label={T.explorer.later} title={T.explorer.later} onClick={() => move(1, 0.5)}>→</button>
          </div>
        )}
        {earlier.length > 0 && (
          <button onClick={() => (set_weeks(false), set_view(earlier.at(-1)!), set_earlier(earlier.slice(0, -1)))}>{T.explorer.back}</button>
        )}
        {over_time && !plant!.prefetch && (
          <button aria-pressed={weeks} class="toggle" onClick={() => set_weeks(!weeks)}>
            {T.explorer.weeks}
          </button>
        )}
        <Choice label={T.explorer.as} value={as} of={[["chart", T.explorer.chart], ["table", T.explorer.table]]} choose={set_as} />
      </div>
      {pending && (
        <div class="note warn" role="alert">
          <p>{T.explorer.zoom_note}</p>
          <div class="row">
            <button
              class="primary"
              onClick={() => {
                change({ zoom_understood: true });
                set_earlier([...earlier, view]);
                set_view(pending);
                set_pending(null);
              }}
            >
              {T.understood}
            </button>
            <button onClick={() => set_pending(null)}>{T.cancel}</button>
          </div>
        </div>
      )}
      <div class="spanned">
        {span ? T.explorer.shows(local_of_ms(span[0], zone).replace("T", " "), local_of_ms(span[1], zone).replace("T", " ")) : T.explorer.shows_all}
        {view.by && !weeks ? T.explorer.by(view.by) : ""}
      </div>
      <div class="busy">{asking.loading && <Progress share={asking.share} label={T.explorer.asking} />}</div>
      {asking.fault && <Fault refusal={asking.fault} />}
      {asking.fault && /fetch/.test(asking.fault.error) && fetch < MOST_FETCHED && (
        <button onClick={() => set_fetch(fetch * 8)}>{T.explorer.fetch(bytes(fetch * 8))}</button>
      )}
      {answer?.rows.some((row) => row.held_back) && !verify && <button onClick={() => set_verify(true)}>{T.explorer.verify}</button>}
      {answer && (
        <>
          <div class="stage" ref={chart} hidden={as !== "chart" || kind === "empty" || answer.rows.every((row) => row.held_back)}>
            <AnswerChart answer={answer} plant={plant!} series={series} span={span} zoom={over_time ? zoom : undefined} />
            {over_time && <p class="help">{zooms ? T.explorer.drag : T.explorer.drag_only}</p>}
          </div>
          {asking.done!.map((done, i) => (
            <div key={i}>
              {asking.done!.length > 1 && <h2>{T.explorer.one_of(done.answer.question, weeks ? i : -1)}</h2>}
              {as === "table" && <Rows answer={done.answer} label={T.explorer.one_of(done.answer.question, weeks ? i : -1)} />}
              <Below answer={done.answer} />
            </div>
          ))}
          <div class="tools">
            {over_time && !weeks && (
              <label class="field over">
                <span class="visually-hidden">{T.explorer.over}</span>
                <select
                  value=""
                  onChange={(event) => {
                    const name = event.currentTarget.value;
                    event.currentTarget.value = "";
                    if (name) set_over([...over, name].slice(-3));
                  }}
                >
                  <option value="">{T.explorer.over}</option>
                  {Object.entries(plant!.questions)
                    .filter(([name, info]) => name !== question && !over.includes(name) && info.by && info.parameters.length === 0 && !info.refused)
                    .map(([name]) => (
                      <option key={name}>{name}</option>
                    ))}
                </select>
              </label>
            )}
            {over.map((name) => (
              <button key={name} onClick={() => set_over(over.filter((one) => one !== name))}>
                {name} ×
              </button>
            ))}
            <span class="push" />
            {FORMATS.map((format) => (
              <Action key={format} run={async () => save(await post_bytes(`/api/export/${format}`, asks![0]), `${file}.${format}`)}>
                {T.explorer.formats[format]}
              </Action>
            ))}
            <Action run={async () => { const made = svg(); if (made) await save_png(made, file); }} disabled={as !== "chart"}>PNG</Action>
            <Action run={async () => { const made = svg(); if (made) save_svg(made, file); }} disabled={as !== "chart"}>SVG</Action>
            <button aria-expanded={way} onClick={() => set_way(!way)}>
              {T.explorer.way}
            </button>
          </div>
          {way && asks && (
            <>
              <h2 class="section">{T.way.title}</h2>
              <Way ask={asks[0]!} answer={answer} />
            </>
          )}
        </>
      )}
    </div>
  );
}
