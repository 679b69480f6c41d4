// The last windows of a device, newest first. One of them opens "What the cloud sees".
import { useEffect, useState } from "preact/hooks";
import type { Refusal, WindowLine } from "../api";
import { get, refusal_of, was_aborted } from "../client";
import { change } from "../store";
import { go } from "../route";
import { T } from "../texts";
import { bytes, span, whole } from "../format";
import { Fault, Table } from "./basic";

/** Windows of one answer at most; fewer than these are the last ones. */
const PAGE = 50;

export function Windows({ device, chosen, choose }: { device: string; chosen?: string | undefined; choose?: (line: WindowLine) => void }) {
  const [lines, set_lines] = useState<WindowLine[]>([]);
  const [more, set_more] = useState(true);
  const [fault, set_fault] = useState<Refusal | null>(null);
  const [before, set_before] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const query = before === null ? "" : `?before=${encodeURIComponent(before)}`;
    get<WindowLine[]>(`/api/devices/${encodeURIComponent(device)}/windows${query}`, { signal: stop.signal }).then(
      (found) => {
        set_lines((had) => (before === null ? found : [...had, ...found]));
        set_more(found.length >= PAGE);
        if (before === null && found[0] && choose && chosen === undefined) choose(found[0]);
      },
      (error) => !was_aborted(error) && set_fault(refusal_of(error)),
    );
    return () => stop.abort();
  }, [device, before]);
  const open = choose ?? ((line: WindowLine) => (change({ window: { device, stream: line.stream, number: line.number } }), go("cloud")));
  if (fault) return <Fault refusal={fault} />;
  return (
    <Table
      label={T.device.windows}
      kind="windows"
      after={more && lines.length > 0 && lines.length < 2000 && <button onClick={() => set_before(lines.at(-1)!.position)}>{T.windows.earlier}</button>}
    >
      <thead>
        <tr>
          <th scope="col">{T.windows.window}</th>
          <th scope="col">{T.windows.time}</th>
          <th scope="col" class="n">{T.rows.count}</th>
          <th scope="col" class="n">{T.rows.missing}</th>
          <th scope="col" class="n">{T.windows.bytes}</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => {
          const key = `${line.stream} ${line.number}`;
          return (
            <tr key={key} class={key === chosen ? "chosen" : undefined}>
              <td class="nowrap">
                <button class="quiet link" aria-current={key === chosen ? "true" : undefined} onClick={() => open(line)}>
                  {key}
                </button>
                {line.replaces && <small> {T.windows.replaces}</small>}
              </td>
              <td class="nowrap">
                {span(line.from, line.to)}
              </td>
              <td class="n">{whole(line.readings)}</td>
              <td class={line.missing > 0 ? "n warn" : "n"}>{whole(line.missing)}</td>
              <td class="n">{bytes(line.bytes)}</td>
            </tr>
          );
        })}
      </tbody>
    </Table>
  );
}
