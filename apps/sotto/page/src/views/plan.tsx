// The plan with other settings: sliders, and the bytes that devices would send.
import { useEffect, useState } from "preact/hooks";
import type { Planned, PlannedStream, WhatIf } from "../api";
import { post } from "../client";
import { useShared } from "../store";
import { T } from "../texts";
import { bytes, duration, number, whole } from "../format";
import { Fault, Note, Progress, useLoad, Words } from "../parts/basic";

const MINUTE = 60_000;
/** null: as declared. */
const EVERY: (number | null)[] = [null, 1000, 10_000, MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE];
const FRESH: (number | null)[] = [null, MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE];
/** From the longest. null: as the questions allow. */
const LONGEST: (number | null)[] = [null, 12 * 60 * MINUTE, 6 * 60 * MINUTE, 3 * 60 * MINUTE, 60 * MINUTE, 30 * MINUTE, 15 * MINUTE, 5 * MINUTE, MINUTE];
/** null: 128 bits, as devices get them. */
const SECURITY: (number | null)[] = [null, 192, 256];
const SUMS = "sums";
const DEVICES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
const PAUSE_MS = 300;

export function PlanView() {
  const { plant, now } = useShared();
  const [resolution, set_resolution] = useState(0);
  const [every, set_every] = useState(0);
  const [longest, set_longest] = useState(0);
  const [fresh, set_fresh] = useState(0);
  const [security, set_security] = useState(0);
  const [devices, set_devices] = useState(0);
  const [question, set_question] = useState("");
  const [last, set_last] = useState<Planned | null>(null);
  const factor = Number((10 ** (resolution / 10)).toPrecision(2));
  const declared_body: WhatIf = question ? { question } : {};
  const body: WhatIf = {
    ...declared_body,
    ...(factor !== 1 ? { resolution_factor: factor } : {}),
    ...(EVERY[every] ? { every_ms: EVERY[every] } : {}),
    ...(LONGEST[longest] ? { window_ms: LONGEST[longest] } : {}),
    ...(FRESH[fresh] ? { fresh_ms: FRESH[fresh] } : {}),
    ...(SECURITY[security] ? { security_bits: SECURITY[security] } : {}),
  };
  const key = (of: WhatIf) => `${now?.version ?? ""} ${JSON.stringify(of)}`;
  const load = (of: WhatIf, pause: number) => async (signal: AbortSignal) => {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (signal.aborted) throw new DOMException("", "AbortError");
    return post<Planned>("/api/plan", of, { signal });
  };
  const base = useLoad(key(declared_body), load(declared_body, 0));
  const is_declared = key(body) === key(declared_body);
  const other = useLoad(is_declared ? "" : key(body), is_declared ? async () => null : load(body, PAUSE_MS));
  const { value, fault, loading: busy } = is_declared ? base : other;
  // The plan of before stays until the next one is there.
  useEffect(() => void (value && set_last(value)), [value]);
  const planned = value ?? last;
  const declared = base.value;
  const many = DEVICES[devices]!;
  const streams = planned ? Object.values(planned.devices).flat() : [];
  const sent = (plan: Planned | null) => (plan ? Object.values(plan.devices).flat().reduce((sum, one) => sum + (one.fresh_bytes_a_day ?? one.bytes_a_day), 0) : null);
  const [before, after] = [sent(declared), sent(planned)];
  const wait = streams.reduce((most, one) => Math.max(most, one.delay_ms), 0);
  const refused = Object.entries(planned?.questions ?? {}).filter(([, why]) => why !== null);
  const possible = Object.entries(planned?.questions ?? {}).filter(([name, why]) => why === null && declared?.questions[name]);
  // A reason that a question has is not said twice.
  const unsent = (planned?.unsent ?? []).filter((one) => !refused.some(([, why]) => why === one.why));
  const has_ciphertexts = Object.values(declared?.devices ?? {}).flat().some((one) => one.scheme !== SUMS);
  return (
    <>
      <h1>{T.views.plan}</h1>
      <p class="lead">{T.plan.lead}</p>
      <div class="planning">
        <section class="panel sliders" aria-label={T.plan.sliders}>
          <div class="field">
            <label for="plan-question">{T.plan.question}</label>
            <select id="plan-question" value={question} onChange={(event) => (set_question(event.currentTarget.value), set_last(null))}>
              <option value="">{T.plan.all}</option>
              {Object.keys(plant!.questions).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </div>
          <Slider label={T.plan.resolution} value={resolution} min={-10} max={10} set={set_resolution} text={T.plan.factor(number(factor))} />
          <Slider label={T.plan.every} value={every} min={0} max={EVERY.length - 1} set={set_every} text={EVERY[every] ? duration(EVERY[every]) : T.plan.declared} />
          <Slider label={T.plan.window} value={longest} min={0} max={LONGEST.length - 1} set={set_longest} text={LONGEST[longest] ? duration(LONGEST[longest]) : T.plan.by_questions} help={T.plan.window_help} />
          <Slider label={T.plan.fresh} value={fresh} min={0} max={FRESH.length - 1} set={set_fresh} text={FRESH[fresh] ? duration(FRESH[fresh]) : T.plan.no_fresh} />
          {has_ciphertexts ? (
            <Slider label={T.plan.level} value={security} min={0} max={SECURITY.length - 1} set={set_security} text={T.plan.bits(SECURITY[security] ?? 128, "")} help={T.plan.level_help} />
          ) : (
            declared && <p class="help">{T.plan.sums_alone}</p>
          )}
          <Slider label={T.plan.devices} value={devices} min={0} max={DEVICES.length - 1} set={set_devices} text={T.plan.times(whole(many))} />
          <button onClick={() => (set_resolution(0), set_every(0), set_longest(0), set_fresh(0), set_security(0), set_devices(0))}>{T.plan.reset}</button>
        </section>
        <section aria-live="polite" aria-busy={busy}>
          <div class="busy">{busy && <Progress share={null} label={T.plan.planning} />}</div>
          {fault && <Fault refusal={fault} />}
          {after !== null && (
            <dl class="numbers">
              <div>
                <dt>{T.plan.all_a_day}</dt>
                <dd>
                  <b>{bytes(after * many)}</b>
                  {before !== null && before > 0 && <small>{T.plan.of_now(number(Math.round((1000 * after) / before) / 1000), bytes(before * many))}</small>}
                </dd>
              </div>
              <div>
                <dt>{T.plan.all_a_year}</dt>
                <dd>
                  <b>{bytes(after * many * 365)}</b>
                </dd>
              </div>
              <div>
                <dt>{T.plan.wait}</dt>
                <dd>
                  <b>{duration(wait)}</b>
                  <small>{T.plan.until}</small>
                </dd>
              </div>
              <div>
                <dt>{T.plan.impossible}</dt>
                <dd>
                  <b class={refused.length > 0 ? "alert" : undefined}>{refused.length}</b>
                  <small>{T.plan.of_questions(Object.keys(planned!.questions).length)}</small>
                </dd>
              </div>
            </dl>
          )}
          {refused.slice(0, 100).map(([name, why]) => (
            <Note key={name} warn>
              {T.plan.refused(name, why!)}
            </Note>
          ))}
          {possible.slice(0, 100).map(([name]) => (
            <Note key={name}>{T.plan.becomes(name)}</Note>
          ))}
          {unsent.slice(0, 50).map((one) => (
            <Note key={`${one.device} ${one.stream}`} warn>
              {T.plan.unsent(one.device, one.stream, one.channels.join(", "), one.why)}
            </Note>
          ))}
          <div class="plans">
            {Object.entries(planned?.devices ?? {})
              .slice(0, 100)
              .map(([device, streams]) => (
              <section class="panel" key={device}>
                <h2>{device}</h2>
                {streams.length === 0 && <p class="help">{T.plan.sends_nothing}</p>}
                {streams.slice(0, 50).map((stream) => (
                  <Stream key={stream.stream} of={stream} was={declared?.devices[device]?.find((one) => one.stream === stream.stream)} />
                ))}
              </section>
              ))}
          </div>
        </section>
      </div>
    </>
  );
}

function Slider({ label, value, min, max, set, text, help }: { label: string; value: number; min: number; max: number; set: (value: number) => void; text: string; help?: string }) {
  const id = `slider-${label.replace(/\W/g, "-")}`;
  return (
    <div class="slider">
      <label for={id}>{label}</label>
      <output for={id}>{text}</output>
      <input id={id} type="range" min={min} max={max} step={1} value={value} aria-valuetext={text} aria-describedby={help ? `${id}-help` : undefined} onInput={(event) => set(Number(event.currentTarget.value))} />
      {help && (
        <p class="help" id={`${id}-help`}>
          <Words of={help} />
        </p>
      )}
    </div>
  );
}

function Stream({ of, was }: { of: PlannedStream; was: PlannedStream | undefined }) {
  const facts: [string, string, boolean][] = [
    [T.plan.a_day, bytes(of.bytes_a_day), was !== undefined && was.bytes_a_day !== of.bytes_a_day],
    ...(of.fresh_bytes_a_day !== undefined ? [[T.plan.fresh_a_day, bytes(of.fresh_bytes_a_day), true] as [string, string, boolean]] : []),
    [T.plan.a_reading, bytes(of.bytes_a_reading), was !== undefined && was.bytes_a_reading !== of.bytes_a_reading],
    [T.plan.an_answer, bytes(of.bytes_an_answer), was !== undefined && was.bytes_an_answer !== of.bytes_an_answer],
    [T.plan.wait, duration(of.delay_ms), was !== undefined && was.delay_ms !== of.delay_ms],
    [T.plan.windows, T.plan.windows_of(number(of.windows_a_day), whole(of.readings_a_window), bytes(of.bytes_a_window)), was !== undefined && was.windows_a_day !== of.windows_a_day],
    [T.plan.security, of.security_bits === null ? "–" : T.plan.bits(of.security_bits, of.scheme === SUMS ? T.plan.of_stream_cipher : ""), was !== undefined && was.security_bits !== of.security_bits],
  ];
  return (
    <div class="planned">
      <h3>
        {of.stream} <span class="pill">{of.scheme}</span> <small>{of.channels.join(", ")}</small>
      </h3>
      <dl class="facts columns">
        {facts.map(([name, value, changed]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={changed ? "strong" : undefined}>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="help">{T.plan.why(of.scheme, of.why)}</p>
      {of.alternatives.length > 0 && (
        <details>
          <summary>{T.plan.alternatives(of.alternatives.length)}</summary>
          <ul class="bullets">
            {of.alternatives.slice(0, 20).map((one, i) => (
              <li key={i}>
                <b>{one.scheme}</b>
                {one.n !== null && one.n !== undefined ? ` n = ${one.n}` : ""}
                {one.bytes_a_reading != null ? `, ${T.plan.per_reading(bytes(one.bytes_a_reading))}` : ""}
                {one.window_bytes != null ? `, ${T.plan.per_window(bytes(one.window_bytes))}` : ""}: {one.why}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
