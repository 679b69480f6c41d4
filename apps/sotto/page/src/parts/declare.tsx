// Declares a question: the price first, then the step.
import { useState } from "preact/hooks";
import type { Declared, NewQuestion } from "../api";
import { post } from "../client";
import { load_plant } from "../store";
import { address } from "../route";
import { T } from "../texts";
import { bytes } from "../format";
import { Action, Dialog, Note } from "./basic";

export function Declare({ text, close }: { text: string; close: () => void }) {
  const [name, set_name] = useState("");
  const [precision, set_precision] = useState("");
  const [price, set_price] = useState<Declared | null>(null);
  const [done, set_done] = useState<Declared | null>(null);
  const wanted = Number(precision.trim().replace(",", "."));
  const order = (dry_run: boolean): NewQuestion => ({ name, question: text, dry_run, ...(precision.trim() ? { precision: wanted } : {}) });
  const is_wrong = precision.trim() !== "" && !(Number.isFinite(wanted) && wanted > 0);
  const change = (set: (text: string) => void) => (event: { currentTarget: HTMLInputElement }) => {
    set(event.currentTarget.value);
    set_price(null);
  };
  return (
    <Dialog title={T.declare.title} close={close}>
      <p class="text-of">{text}</p>
      {done ? (
        <>
          <Note>{T.declare.done(done.name)}</Note>
          <Lacks of={done} />
          <a class="button" href={address("question", done.name)}>
            {T.declare.see}
          </a>
        </>
      ) : (
        <>
          <div class="row">
            <div class="field grow">
              <label for="declare-name">{T.declare.name}</label>
              <input id="declare-name" value={name} autocomplete="off" spellcheck={false} onInput={change(set_name)} />
            </div>
            <div class="field">
              <label for="declare-precision">{T.declare.precision}</label>
              <input id="declare-precision" inputMode="decimal" size={8} aria-invalid={is_wrong} value={precision} onInput={change(set_precision)} />
            </div>
          </div>
          {price && (
            <>
              <ul class="lines">
                {price.lines.slice(0, 60).map((line, i) => (
                  <li key={i}>{line}</li>
                ))}
              </ul>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{T.rows.device}</th>
                    <th scope="col" class="n">{T.declare.before}</th>
                    <th scope="col" class="n">{T.declare.after}</th>
                  </tr>
                </thead>
                <tbody>
                  {price.prices.slice(0, 100).map((one) => (
                    <tr key={one.device}>
                      <td>{one.device}</td>
                      <td class="n">{bytes(one.before)}</td>
                      <td class="n">{bytes(one.after)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {price.remarks.map((remark) => (
                <Note key={remark}>{remark}</Note>
              ))}
              <Lacks of={price} />
            </>
          )}
          <div class="row actions">
            {price ? (
              <Action
                kind="primary"
                run={async () => {
                  const declared = await post<Declared>("/api/questions", order(false));
                  await load_plant(false);
                  set_done(declared);
                }}
              >
                {T.declare.confirm}
              </Action>
            ) : (
              <Action kind="primary" disabled={!name.trim() || is_wrong} run={async () => set_price(await post<Declared>("/api/questions", order(true)))}>
                {T.declare.price}
              </Action>
            )}
            <button onClick={close}>{T.cancel}</button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function Lacks({ of }: { of: Declared }) {
  return (
    <>
      {of.bundles
        .filter((bundle) => bundle.lacks !== null)
        .slice(0, 20)
        .map((bundle) => (
          <Note key={bundle.device} warn>
            {T.ask.lacks(bundle.device, bundle.lacks!)}
          </Note>
        ))}
    </>
  );
}
