// The way of an answer as a picture: messages, sums or steps in the cloud, decryption, checks, the bound.
import type { ComponentChildren } from "preact";
import type { Answer, Ask, Explanation } from "../api";
import { post } from "../client";
import { bytes, duration, matters, number, whole, with_unit } from "../format";
import { T } from "../texts";
import { is_checked } from "../charts/series";
import { Fault, Icon, useLoad } from "./basic";

export function Way({ ask, answer }: { ask: Ask; answer: Answer | null }) {
  const explained = useLoad(JSON.stringify(ask), (signal) => post<Explanation>("/api/explain", ask, { signal }));
  const e = explained.value;
  const up = answer?.bytes_up ?? e?.bytes_up ?? 0;
  const down = answer?.bytes_down ?? e?.bytes_down ?? 0;
  const windows = answer?.windows ?? e?.streams.reduce((sum, one) => sum + one.windows, 0) ?? 0;
  const sums = e?.streams.reduce((sum, one) => sum + one.sums, 0) ?? null;
  const devices = answer ? Object.keys(answer.took_part).length : new Set(e?.streams.map((one) => one.device)).size;
  const unchecked = answer?.rows.filter((row) => row.value !== null && !is_checked(answer, row)).length ?? 0;
  const widest = answer?.rows.reduce((most, row) => (row.value !== null && (row.bound ?? 0) > (most?.bound ?? -1) ? row : most), answer.rows.find((row) => row.value !== null));
  const steps = Object.entries(answer?.steps ?? {}).filter(([, count]) => count > 0);
  const programs = (e?.streams ?? []).flatMap((stream) => facts_of_program(stream));
  return (
    <section class="way" aria-label={T.way.title}>
      {explained.fault && <Fault refusal={explained.fault} />}
      <ol class="stages">
        <Stage where="device" icon="lock" title={T.way.messages} big={T.way.windows(whole(windows))}>
          {T.way.sent(devices, bytes(up))}
        </Stage>
        <Funnel from={up} to={Math.max(down, up / 3)} label={bytes(up)} />
        <Stage where="cloud" icon="cloud" title={steps.length > 0 && steps.some(([name]) => name !== "add") ? T.way.steps : T.way.sums} big={sums === null ? "…" : T.way.sums_of(whole(sums))}>
          {answer && T.way.took(duration(answer.evaluate_us / 1000))}
          {steps.map(([name, count]) => (
            <span key={name}> {T.way.step(name, whole(count))}</span>
          ))}
          {answer?.schemes.length ? <span> {T.way.scheme(answer.schemes.join(", "))}</span> : null}
          {programs.map((fact) => (
            <span key={fact}> {fact}.</span>
          ))}
          {answer?.cached ? <span> {T.way.cached(whole(answer.cached))}</span> : null}
        </Stage>
        <Funnel from={Math.max(down, up / 3)} to={down} label={bytes(down)} />
        <Stage where="owner" icon="open" title={T.way.decrypted} big={bytes(down)}>
          {answer && T.way.rows(whole(answer.rows.length), duration(answer.seconds * 1000))}
        </Stage>
        <Stage where="owner" icon="keys" title={T.way.checked} big={!answer ? "…" : unchecked === 0 ? T.way.all : T.way.not_all(whole(unchecked))}>
          {answer && (unchecked === 0 ? T.way.checked_by(answer.assurance ?? "") : T.way.unchecked)}
        </Stage>
        <Stage where="owner" icon="plan" title={T.way.bound} big={!widest ? "…" : matters(widest.value ?? 0, widest.bound) ? `± ${number(widest.bound)}` : T.rows.exact}>
          {widest && T.way.result(widest.name, with_unit(number(widest.value, widest.bound), widest.unit))}
        </Stage>
      </ol>
      {e && (
        <div class="learned">
          {(["cloud", "owner", "reader"] as const).map((who) => (
            <div key={who} class={`panel ${who}`}>
              <h3>{T.way.learns[who]}</h3>
              <ul class="bullets">
                {e.learned[who].slice(0, 40).map((line, i) => (
                  <li key={i}>{line}</li>
                ))}
              </ul>
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

/** Level, noise and time of a program, if the stream tells them. */
function facts_of_program(stream: Explanation["streams"][number]): string[] {
  return Object.entries(stream)
    .filter(([name, value]) => /level|noise|security|seconds|depth/.test(name) && (typeof value === "number" || typeof value === "string"))
    .map(([name, value]) => `${stream.stream}: ${name.replaceAll("_", " ")} ${typeof value === "number" ? number(value) : value}`);
}

function Stage({ where, icon, title, big, children }: { where: "device" | "cloud" | "owner"; icon: string; title: string; big: string; children: ComponentChildren }) {
  return (
    <li class={`stage-of ${where}`}>
      <p class="where">
        <Icon name={icon} /> {T.way.where[where]}
      </p>
      <h3>{title}</h3>
      <p class="big">{big}</p>
      <p class="help">{children}</p>
    </li>
  );
}

/** As wide at each end as the bytes there, by their logarithm. */
function Funnel({ from, to, label }: { from: number; to: number; label: string }) {
  const half = (size: number) => Math.min(46, Math.max(1.5, (Math.log10(Math.max(10, size)) - 1) * 7));
  const [a, b] = [half(from), half(to)];
  return (
    <li class="funnel" aria-hidden="true">
      <svg viewBox="0 0 40 100" preserveAspectRatio="none" width="40" height="100">
        <path d={`M0 ${50 - a}C20 ${50 - a} 20 ${50 - b} 40 ${50 - b}V${50 + b}C20 ${50 + b} 20 ${50 + a} 0 ${50 + a}Z`} fill="var(--accent)" fill-opacity="0.28" />
      </svg>
      <small>{label}</small>
    </li>
  );
}
