// A new question: typed with completion, checked while typing, asked, declared.
import { useState } from "preact/hooks";
import type { Checked } from "../api";
import { useShared } from "../store";
import { T } from "../texts";
import { Explorer } from "../parts/explorer";
import { QuestionField } from "../parts/field";
import { Declare } from "../parts/declare";
import { Note } from "../parts/basic";

export function AskView() {
  const { plant } = useShared();
  const [text, set_text] = useState("");
  const [checked, set_checked] = useState<Checked | null>(null);
  const [asked, set_asked] = useState<{ text: string; checked: Checked } | null>(null);
  const [declaring, set_declaring] = useState(false);
  const lacks = checked?.bundles.filter((bundle) => bundle.lacks !== null) ?? [];
  const ask = () => checked && set_asked({ text: checked.text, checked });
  return (
    <>
      <h1>{T.views.ask}</h1>
      <p class="lead">{T.ask.lead}</p>
      <div class="panel">
        <QuestionField value={text} change={set_text} checked={set_checked} submit={ask} />
        <div class="row actions">
          <button class="primary" disabled={!checked} onClick={ask}>
            {T.ask.ask}
          </button>
          {!plant!.read_only && (
            <button disabled={!checked} onClick={() => set_declaring(true)}>
              {T.ask.declare}
            </button>
          )}
          {checked && <span class="help">{T.ask.canonical(checked.text)}</span>}
        </div>
        {checked?.remarks.slice(0, 8).map((remark) => (
          <Note key={remark}>{remark}</Note>
        ))}
        {lacks.slice(0, 8).map((bundle) => (
          <Note key={bundle.device} warn>
            {T.ask.lacks(bundle.device, bundle.lacks!)}
          </Note>
        ))}
      </div>
      {declaring && checked && <Declare text={checked.text} close={() => set_declaring(false)} />}
      {asked && (
        <section aria-label={asked.text}>
          <p class="text-of">{asked.text}</p>
          <Explorer key={asked.text} question={asked.text} text={asked.text} by={asked.checked.by} zooms={asked.checked.zooms} parameters={asked.checked.parameters} />
        </section>
      )}
      {!asked && <Examples choose={set_text} />}
    </>
  );
}

/** Questions of this plant's own channels, to start from. */
function Examples({ choose }: { choose: (text: string) => void }) {
  const { plant } = useShared();
  const channels = Object.entries(plant!.channels).filter(([name]) => /^[\w-]+$/.test(name));
  const of = (kinds: string[]) => channels.find(([, info]) => kinds.includes(info.kind))?.[0];
  const gauge = of(["gauge"]);
  const counter = of(["counter", "amount"]);
  const state = channels.find(([, info]) => info.kind === "state" && info.states.length > 1);
  const texts = [
    gauge && `mean(${gauge}) by day`,
    gauge && `mean(${gauge}) by hour of day and weekday`,
    gauge && `histogram(${gauge}, 20)`,
    counter && `increase(${counter}) by week`,
    state && `time(${state[0]} = ${state[1].states[1]}) by day`,
  ].filter((text): text is string => Boolean(text));
  return texts.length === 0 ? null : (
    <section>
      <h2>{T.ask.examples}</h2>
      <ul class="examples">
        {texts.map((text) => (
          <li key={text}>
            <button class="quiet mono" onClick={() => choose(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
