// The last answers that are kept, how far each is assured, and the check of their evidence.
import { useState } from "preact/hooks";
import type { KeptAnswer } from "../api";
import { get, refusal_of, verify, type Verified } from "../client";
import type { Refusal } from "../api";
import { useShared } from "../store";
import { T } from "../texts";
import { bytes, duration, local, whole } from "../format";
import { Fault, Note, Progress, useLoad } from "./basic";

const FIRST = 10;

export function Answers() {
  const { plant } = useShared();
  const answers = useLoad("answers", (signal) => get<KeptAnswer[]>("/api/answers", { signal }));
  const [all, set_all] = useState(false);
  const list = answers.value ?? [];
  return (
    <section class="panel">
      <h2>{T.answers.title}</h2>
      <p class="help">{T.answers.lead}</p>
      {answers.fault && <Fault refusal={answers.fault} />}
      {answers.value && list.length === 0 && <p>{T.answers.none}</p>}
      <ul class="answers">
        {list.slice(0, all ? 50 : FIRST).map((answer) => (
          <One key={answer.name} of={answer} writes={!plant!.read_only} />
        ))}
      </ul>
      {list.length > FIRST && !all && <button onClick={() => set_all(true)}>{T.more(list.length - FIRST)}</button>}
    </section>
  );
}

function One({ of, writes }: { of: KeptAnswer; writes: boolean }) {
  const [share, set_share] = useState<number | null>(null);
  const [running, set_running] = useState(false);
  const [found, set_found] = useState<Verified | null>(null);
  const [fault, set_fault] = useState<Refusal | null>(null);
  const run = async () => {
    set_running(true);
    set_fault(null);
    try {
      set_found(await verify(of.name, set_share));
    } catch (error) {
      set_fault(refusal_of(error));
    }
    set_running(false);
    set_share(null);
  };
  const holds = found?.holds ?? of.verified?.holds ?? null;
  return (
    <li>
      <div class="grow">
        <span class="mono">{of.question}</span>
        <p class="help">{T.answers.of(local(of.at), whole(of.rows))}</p>
        {running && <Progress share={share} label={T.answers.verifying} />}
        {fault && <Fault refusal={fault} />}
        {found && <p class="help">{T.answers.found(whole(found.tagged), whole(found.repeated), whole(found.windows), bytes(found.bytes), duration(found.seconds * 1000))}</p>}
        {found?.findings.slice(0, 20).map((finding, i) => (
          <Note key={i} warn>
            {finding}
          </Note>
        ))}
      </div>
      <span class={of.assurance === "unchecked" ? "pill alert" : "pill"}>{of.assurance}</span>
      {holds !== null && <span class={holds ? "pill fine" : "pill alert"}>{holds ? T.answers.holds : T.answers.fails}</span>}
      {writes && (
        <button disabled={running} onClick={() => void run()}>
          {running ? T.answers.verifying : T.answers.verify}
        </button>
      )}
    </li>
  );
}
