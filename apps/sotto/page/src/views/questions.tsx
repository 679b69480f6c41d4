// Dashboards: each a list of questions, each question a chart.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { QuestionInfo } from "../api";
import { useShared, useTick } from "../store";
import { address } from "../route";
import { T } from "../texts";
import { AnswerChart } from "../charts/answer";
import { is_checked, series_of } from "../charts/series";
import { useAsking } from "../parts/asking";
import { Arrange } from "../parts/arrange";
import { Choice, Fault, Note, Progress } from "../parts/basic";
import { whole } from "../format";

/** The dashboard that was open last: one comes back to it from a question. */
let last = "main";

export function QuestionsView() {
  const { plant } = useShared();
  const [name, set_name] = useState(last);
  const [arranging, set_arranging] = useState(false);
  useEffect(() => void (last = name), [name]);
  if (!plant) return null;
  const dashboards = Object.keys(plant.dashboards);
  const shown = plant.dashboards[name] ? name : "main";
  const list = (plant.dashboards[shown] ?? []).filter((one) => Object.hasOwn(plant.questions, one));
  const rest = Object.keys(plant.questions).filter((one) => !list.includes(one));
  return (
    <>
      <div class="row spread">
        <h1>{T.views.questions}</h1>
        <div class="row">
          {dashboards.length > 1 && <Choice label={T.questions.dashboards} value={shown} of={dashboards.slice(0, 30).map((one) => [one, one])} choose={set_name} />}
          {!plant.read_only && (
            <button aria-expanded={arranging} onClick={() => set_arranging(!arranging)}>
              {arranging ? T.questions.arranged : T.questions.arrange}
            </button>
          )}
        </div>
      </div>
      {arranging && <Arrange key={shown} name={shown} list={list} plant={plant} chosen={set_name} />}
      {list.length === 0 && <p>{T.questions.none}</p>}
      <ul class="dashboard">
        {list.slice(0, 60).map((one) => (
          <li key={one}>
            <Card name={one} info={plant.questions[one]!} />
          </li>
        ))}
      </ul>
      {rest.length > 0 && (
        <section class="rest">
          <h2>{T.questions.rest}</h2>
          <ul>
            {rest.slice(0, 200).map((one) => (
              <li key={one}>
                <a href={address("question", one)}>{one}</a> <span class="text-of">{plant.questions[one]!.text}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** A dashboard asks again after this time while it is open. */
const AGAIN_MS = 300_000;

function Card({ name, info }: { name: string; info: QuestionInfo }) {
  const { plant } = useShared();
  const [seen, set_seen] = useState(false);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    // Charts below the fold ask when they come near.
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && set_seen(true), { rootMargin: "300px" });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  const asks = useMemo(() => (seen && !info.refused && info.parameters.length === 0 ? [{ question: name }] : null), [seen, info, name]);
  const asking = useAsking(asks, true);
  useEffect(() => {
    if (!asks) return;
    const timer = setInterval(() => document.visibilityState === "visible" && asking.again(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [asks]);
  useTick(60_000);
  const answer = asking.done?.[0]?.answer ?? null;
  const series = useMemo(() => (answer ? series_of(answer) : []), [answer]);
  const unchecked = useMemo(() => answer?.rows.filter((row) => row.value !== null && !is_checked(answer, row)).length ?? 0, [answer]);
  const held = useMemo(() => answer?.rows.filter((row) => row.held_back).length ?? 0, [answer]);
  const lacking = useMemo(() => answer?.rows.filter((row) => row.missing > 0).length ?? 0, [answer]);
  return (
    <article class="panel chart-card" ref={element}>
      <h2>
        <a href={address("question", name)}>{name}</a>
      </h2>
      <p class="text-of">{info.text}</p>
      {info.refused && <Note warn>{info.refused}</Note>}
      {info.parameters.length > 0 && <Note>{T.questions.parameters(info.parameters)}</Note>}
      <div class="busy">{asks && asking.loading && <Progress share={asking.share} label={T.explorer.asking} />}</div>
      {asking.fault && <Fault refusal={asking.fault} />}
      {answer && held < answer.rows.length && <AnswerChart answer={answer} plant={plant!} series={series} small />}
      {held > 0 && <Note warn>{T.questions.held(held)}</Note>}
      {answer && answer.rows.length === 0 && <Note>{T.questions.empty}</Note>}
      {(unchecked > 0 || lacking > 0) && (
        <p class="help">
          {unchecked > 0 && <span class="alert">{T.below.unchecked(whole(unchecked))} </span>}
          {lacking > 0 && T.questions.lacking(lacking)}
        </p>
      )}
    </article>
  );
}
