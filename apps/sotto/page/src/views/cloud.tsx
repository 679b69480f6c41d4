// The same window twice: bytes for the cloud, readings for the owner. Below, the way of an answer.
import { useMemo, useState } from "preact/hooks";
import type { WindowSeen } from "../api";
import { get } from "../client";
import { change, useShared } from "../store";
import { T } from "../texts";
import { bytes, fixed, local, whole, with_unit } from "../format";
import { Spark } from "../charts/spark";
import { useAsking } from "../parts/asking";
import { Facts, Fault, Icon, Note, Progress, Table, useLoad } from "../parts/basic";
import { Way } from "../parts/way";
import { Windows } from "../parts/windows";

export function CloudView() {
  const { plant, window: chosen } = useShared();
  const devices = Object.keys(plant!.devices);
  const device = chosen?.device ?? devices[0];
  return (
    <>
      <h1>{T.cloud.title}</h1>
      <p class="lead">{T.cloud.lead}</p>
      {device === undefined && <p>{T.now.none}</p>}
      {device !== undefined && (
        <div class="seen">
          <div>
            <div class="field">
              <label for="cloud-device">{T.rows.device}</label>
              <select id="cloud-device" value={device} onChange={(event) => event.currentTarget.value !== device && change({ window: { device: event.currentTarget.value, stream: "", number: -1 } })}>
                {devices.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            </div>
            <Windows
              key={device}
              device={device}
              chosen={chosen && chosen.number >= 0 ? `${chosen.stream} ${chosen.number}` : undefined}
              choose={(line) => change({ window: { device, stream: line.stream, number: line.number } })}
            />
          </div>
          {chosen && chosen.number >= 0 && <Both of={chosen} />}
        </div>
      )}
      <Ways />
    </>
  );
}

function Both({ of }: { of: { device: string; stream: string; number: number } }) {
  const path = `/api/devices/${encodeURIComponent(of.device)}/windows/${encodeURIComponent(of.stream)}/${of.number}`;
  const seen = useLoad(path, (signal) => get<WindowSeen>(path, { signal }));
  const value = seen.value;
  return (
    <div class="panes" aria-busy={seen.loading}>
      {seen.fault && <Fault refusal={seen.fault} />}
      <section class="panel theirs" aria-labelledby="theirs">
        <h2 id="theirs">
          <Icon name="cloud" /> {T.cloud.theirs}
        </h2>
        {value && (
          <>
            <Facts of={value.cloud.head.slice(0, 60).map(([name, text]): [string, string] => [name, text])} />
            {value.cloud.tags.length > 0 && <p class="help">{T.cloud.tags(value.cloud.tags.slice(0, 20).join(", "))}</p>}
            <h3>{T.cloud.body(bytes(value.cloud.body_bytes), bytes(value.cloud.bytes))}</h3>
            <Hex text={value.cloud.body} />
            {value.cloud.body.length / 2 < value.cloud.body_bytes && <p class="help">{T.cloud.cut(whole(value.cloud.body.length / 2))}</p>}
          </>
        )}
      </section>
      <section class="panel yours" aria-labelledby="yours">
        <h2 id="yours">
          <Icon name="open" /> {T.cloud.yours}
        </h2>
        {value?.owner.why && <Note warn>{value.owner.why}</Note>}
        {value?.owner.channels.slice(0, 16).map((channel, i) => (
          <Channel key={channel.channel} of={channel} style={i % 8} />
        ))}
      </section>
    </div>
  );
}

function Channel({ of, style }: { of: WindowSeen["owner"]["channels"][number]; style: number }) {
  const values = of.values.map((one) => one.value);
  const digits = decimals_of(values);
  return (
    <div class="channel">
      <h3>
        {of.channel} <small>{of.unit}</small>
      </h3>
      <Spark values={values.slice(0, 5000)} height={72} style={style} label={T.cloud.readings_of(of.channel, of.values.length)} />
      <Table label={T.cloud.readings_of(of.channel, of.values.length)} kind="readings">
        <thead class="visually-hidden">
          <tr>
            <th scope="col">{T.windows.time}</th>
            <th scope="col">{T.rows.value}</th>
          </tr>
        </thead>
        <tbody>
          {of.values.slice(0, 400).map((one) => (
            <tr key={one.at}>
              <td class="nowrap">{local(one.at, true).slice(11)}</td>
              <td class="n">{one.value === null ? T.chart.no_value : with_unit(fixed(one.value, digits), of.unit)}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </div>
  );
}

/** Decimals that all readings of a column have, so that their points stand under each other. */
const decimals_of = (values: (number | null)[]): number => Math.min(6, Math.max(0, ...values.map((value) => (value === null ? 0 : (String(value).split(".")[1]?.length ?? 0)))));

/** Bytes in hexadecimal, sixteen in a line with their offset, as `xxd` has them. */
function Hex({ text }: { text: string }) {
  const lines = useMemo(() => {
    const out: string[] = [];
    for (let at = 0; at < text.length && out.length < 256; at += 32) {
      const pairs = text.slice(at, at + 32).match(/../g) ?? [];
      out.push(`${(at / 2).toString(16).padStart(4, "0")}  ${pairs.slice(0, 8).join(" ")}  ${pairs.slice(8).join(" ")}`);
    }
    return out.join("\n");
  }, [text]);
  return (
    <pre class="hex" tabIndex={0} aria-label={T.cloud.hex}>
      {lines}
    </pre>
  );
}

/** Answers are asked on a press only: choosing a name here is no question to the cloud. */
function Ways() {
  const { plant } = useShared();
  const names = Object.entries(plant!.questions).filter(([, info]) => !info.refused && info.parameters.length === 0);
  const [name, set_name] = useState(names[0]?.[0] ?? "");
  const [shown, set_shown] = useState<string | null>(null);
  const asks = useMemo(() => (shown ? [{ question: shown }] : null), [shown]);
  const asking = useAsking(asks);
  if (names.length === 0) return null;
  return (
    <section>
      <h2 class="section">{T.way.title}</h2>
      <p class="lead">{T.way.lead}</p>
      <div class="row">
        <select aria-label={T.way.question} value={name} onChange={(event) => set_name(event.currentTarget.value)}>
          {names.map(([one]) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <button class="primary" onClick={() => set_shown(name)}>
          {T.way.show}
        </button>
        {shown && <span class="text-of">{plant!.questions[shown]?.text}</span>}
      </div>
      <div class="busy">{asks && asking.loading && <Progress share={asking.share} label={T.explorer.asking} />}</div>
      {asking.fault && <Fault refusal={asking.fault} />}
      {asks && asking.done && <Way ask={asks[0]!} answer={asking.loading ? null : (asking.done[0]?.answer ?? null)} />}
    </section>
  );
}
